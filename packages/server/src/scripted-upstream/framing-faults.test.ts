import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { chat, ChatRig, STREAMED } from "./fixtures/chat-rig.ts";
import type { Behaviour, Fault } from "./index.ts";
import { ODD_RESPONSES } from "./odd-responses.ts";

let rig: ChatRig;

beforeEach(async () => {
  rig = await ChatRig.start();
});
afterEach(() => rig.stop());

describe("heads", () => {
  it("adds headers as given, also doubled ones", async () => {
    rig.behave({ kind: "headers", add: [["content-length", "5"]] });
    expect((await rig.exchange(chat())).text.match(/content-length: /gu)).toHaveLength(2);
  });

  it.each([
    { value: "text/html", expected: ["content-type: text/html"] },
    { value: null, expected: [] },
  ])("sends the content type $value", async ({ value, expected }) => {
    rig.behave({ kind: "content-type", value });
    const { text } = await rig.exchange(chat());
    expect(text.split("\r\n").filter((line) => line.startsWith("content-type"))).toEqual(expected);
  });

  it("sends interim responses before the answer", async () => {
    rig.behave({ kind: "interim", status: 103, count: 3 });
    const { text } = await rig.exchange(chat());
    expect(text.match(/HTTP\/1\.1 103 Interim\r\n/gu)).toHaveLength(3);
    expect(text).toContain("HTTP/1.1 200 OK\r\n");
  });

  it("floods with interim responses until the client leaves", async () => {
    rig.behave({ kind: "interim", status: 102, count: Number.POSITIVE_INFINITY });
    const client = rig.open();
    client.send("/v1/chat/completions", chat());
    await client.until(() => client.received.length > 100_000);
    client.socket.destroy();
    const call = await rig.upstream.waitForCall((each) => each.ended === "client-closed");
    expect(call.bytesSent).toBeGreaterThan(100_000);
  });

  it("ends the body with the connection", async () => {
    rig.behave({ kind: "until-close" });
    const client = rig.open();
    client.send("/v1/chat/completions", STREAMED);
    await client.untilEnded();
    expect(client.text).toContain("connection: close\r\n");
    expect(client.text).not.toMatch(/content-length|transfer-encoding/u);
    expect(client.text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(rig.upstream.calls[0]?.ended).toBe("complete");
  });

  it("sends a raw head before the usual body", async () => {
    rig.behave({ kind: "raw-head", bytes: "HTTP/1.1 200\r\nx: \u0000\r\n\r\n" });
    const client = await rig.exchange(chat());
    expect(client.text.startsWith("HTTP/1.1 200\r\nx: \u0000\r\n\r\n{")).toBe(true);
  });

  it("sends trailers behind the last chunk", async () => {
    rig.behave({ kind: "trailers", fields: [["x-sum", "1"]] });
    expect((await rig.exchange()).text.endsWith("0\r\nx-sum: 1\r\n\r\n")).toBe(true);
  });

  it.each(Object.entries(ODD_RESPONSES))("sends the odd response %s byte for byte", async (name, odd) => {
    const client = rig.open();
    client.send("/v1/chat/completions", chat({ model: `scripted-head-${name}` }));
    await client.until(() => client.received.length >= odd.bytes.length);
    expect(client.text).toBe(odd.bytes);
    if (odd.afterwards === "end") await client.untilEnded();
    expect(await rig.upstream.waitForCall((call) => call.ended !== null)).toMatchObject({ ended: "complete" });
  });
});

describe("extra bytes", () => {
  it("come with the answer", async () => {
    rig.behave({ kind: "extra-bytes", bytes: "STOLEN", when: "at-once" });
    expect((await rig.exchange(chat())).text.endsWith("STOLEN")).toBe(true);
  });

  it("come later on the kept connection", async () => {
    rig.behave({ kind: "extra-bytes", bytes: "STOLEN", when: "on-release" });
    const client = await rig.exchange(chat());
    await rig.upstream.waitForCall((call) => call.ended === "complete");
    expect(client.text).not.toContain("STOLEN");
    rig.upstream.release();
    await client.until(() => client.text.endsWith("STOLEN"));
  });
});

describe("early answers", () => {
  const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n";

  function early(fault: Omit<Extract<Fault, { kind: "early" }>, "kind">, behaviour: Behaviour = {}): void {
    rig.upstream.script([{ behaviour: { ...behaviour, faults: [{ kind: "early", ...fault }] } }]);
  }

  it("come behind the head, and the connection serves the next request after the body", async () => {
    early({ afterBodyBytes: 0, afterwards: "read-on" });
    const client = rig.open();
    client.socket.write(HEAD);
    await client.until(() => client.text.includes("429 Too Many Requests"));
    rig.upstream.script(null);
    client.socket.write("x".repeat(1000));
    client.send("/v1/chat/completions", chat());
    await client.until(() => client.text.includes("200 OK"));
    expect(rig.upstream.calls.map((call) => call.connection)).toEqual([1, 1]);
  });

  it("come behind the given number of body bytes, with the given error", async () => {
    early({ afterBodyBytes: 10, afterwards: "stop-reading" }, { error: { status: 413 } });
    const client = rig.open();
    client.socket.write(`${HEAD}123456789`);
    await rig.upstream.waitForCall((call) => call.body.length === 9);
    expect(client.text).toBe("");
    client.socket.write("0");
    await client.until(() => client.text.includes("413 Content Too Large"));
    expect(rig.upstream.calls[0]?.bodyComplete).toBe(false);
  });

  it("can end the connection", async () => {
    early({ afterBodyBytes: 0, afterwards: "hang-up" });
    const client = rig.open();
    client.socket.write(HEAD);
    await client.untilEnded();
    expect(client.text).toContain("429");
  });

  it("can be asked for by the model's name", async () => {
    const client = rig.open();
    client.socket.write(`${HEAD}{"model":"scripted-error-503:early-429",`);
    await client.until(() => client.text.includes("503 Service Unavailable"));
    expect(rig.upstream.calls[0]).toMatchObject({ bodyComplete: false, model: "scripted-error-503:early-429" });
  });
});

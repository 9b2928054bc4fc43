import { gunzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { chat, ChatRig, STREAMED } from "./fixtures/chat-rig.ts";
import { bodyOf } from "./fixtures/raw-client.ts";
import type { RawClient } from "./fixtures/raw-client.ts";

let rig: ChatRig;
let delays: number[];

beforeEach(async () => {
  delays = [];
  rig = await ChatRig.start({
    delay: (milliseconds) => {
      delays.push(milliseconds);
      return Promise.resolve();
    },
  });
});
afterEach(() => rig.stop());

function dataOf(client: RawClient): string[] {
  return bodyOf(client)
    .toString("utf8")
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice("data: ".length));
}

describe("cuts", () => {
  it.each([
    { bytes: 0, by: "end" as const, seen: ["end"] },
    { bytes: 0, by: "reset" as const, seen: ["reset"] },
    { bytes: 1, by: "end" as const, seen: ["end"] },
    { bytes: 200, by: "end" as const, seen: ["end"] },
    // A busy client may poll the data and the reset together, and libuv calls that an end.
    { bytes: 900, by: "reset" as const, seen: ["reset", "end"] },
  ])("sends exactly $bytes bytes and then its $by", async ({ bytes, by, seen }) => {
    rig.behave({ kind: "cut", bytes, by });
    const client = rig.open();
    client.send("/v1/chat/completions", STREAMED);
    await client.untilEnded();
    expect(client.received.length).toBe(bytes);
    expect(seen).toContain(client.ended);
    expect(rig.upstream.calls[0]).toMatchObject({ bytesSent: bytes, ended: "cut" });
  });

  it("goes away after the given number of records", async () => {
    rig.behave({ kind: "cut-after", records: 3, by: "end" });
    const client = rig.open();
    client.send("/v1/chat/completions", STREAMED);
    await client.untilEnded();
    expect(client.text.split("data: ")).toHaveLength(4);
    expect(client.text.endsWith("\r\n0\r\n\r\n")).toBe(false);
  });
});

describe("stalls and pace", () => {
  it.each([
    { after: "request" as const, seen: "" },
    { after: "head" as const, seen: "\r\n\r\n" },
    { after: 0, seen: "\r\n\r\n" },
    { after: 2, seen: '"Hell' },
  ])("is silent after $after until it is released", async ({ after, seen }) => {
    rig.behave({ kind: "stall", after });
    const client = rig.open();
    client.send("/v1/chat/completions", STREAMED);
    await rig.upstream.waitForCall((call) => call.bodyComplete);
    await client.until(() => client.text.includes(seen));
    expect(client.text).not.toContain("[DONE]");
    expect(rig.upstream.calls[0]?.ended).toBeNull();
    rig.upstream.release();
    await client.until(() => client.text.includes("[DONE]"));
  });

  it("waits before every piece when it is slow", async () => {
    rig.behave({ kind: "slow", delayMs: 5 });
    const client = await rig.exchange();
    const records = dataOf(client).length;
    expect(delays).toEqual(Array.from({ length: records + 1 }, () => 5));
  });

  it("sends the same bytes one by one", async () => {
    const whole = await rig.exchange();
    rig.upstream.clear();
    rig.behave({ kind: "split", bytes: 1 });
    const split = await rig.exchange();
    expect(bodyOf(split).toString("utf8").replaceAll("-2", "-1")).toBe(bodyOf(whole).toString("utf8"));
  });
});

describe("bodies", () => {
  it.each([
    { what: "null" as const, expected: "null" },
    { what: "array" as const, expected: "[]" },
    { what: "empty" as const, expected: "" },
  ])("answers $what with 200", async ({ what, expected }) => {
    rig.behave({ kind: "garbage", what });
    const client = await rig.exchange(chat());
    expect(client.text).toContain("200 OK");
    expect(bodyOf(client).toString()).toBe(expected);
  });

  it("puts garbage into one record of a stream", async () => {
    rig.behave({ kind: "garbage", what: "invalid-utf8", as: "record" });
    const client = await rig.exchange();
    expect(dataOf(client)[1]).toContain("\ufffd");
    expect(dataOf(client).at(-1)).toBe("[DONE]");
  });

  it.each([
    { body: "html" as const, type: "text/html", starts: "<html>" },
    { body: "text" as const, type: "text/plain", starts: "502 Bad Gateway" },
    { body: "json" as const, type: "application/json", starts: '{"error"' },
  ])("answers a status with $body", async ({ body, type, starts }) => {
    rig.behave({ kind: "status", status: 502, body });
    const client = await rig.exchange();
    expect(client.text).toContain("HTTP/1.1 502 Bad Gateway\r\n");
    expect(client.text).toContain(`content-type: ${type}\r\n`);
    expect(bodyOf(client).toString().startsWith(starts)).toBe(true);
  });

  it("sends a megabyte of error text", async () => {
    rig.behave({ kind: "status", status: 500, body: "huge" });
    expect(bodyOf(await rig.exchange()).length).toBeGreaterThan(1_000_000);
  });

  it("codes the body with gzip, also a stream, record by record", async () => {
    const plain = bodyOf(await rig.exchange()).toString("utf8");
    rig.upstream.clear();
    rig.behave({ kind: "gzip" });
    const client = await rig.exchange();
    expect(client.text).toContain("content-encoding: gzip\r\n");
    expect(gunzipSync(bodyOf(client)).toString("utf8").replaceAll("-2", "-1")).toBe(plain);
  });

  it("sends a bomb that is a thousandth of what it unpacks to", async () => {
    rig.behave({ kind: "gzip", bombBytes: 5_000_000 });
    const body = bodyOf(await rig.exchange(chat()));
    expect(body.length).toBeLessThan(10_000);
    expect(gunzipSync(body).length).toBe(5_000_000);
  });

  it.each([
    { what: "text" as const, stream: false },
    { what: "record" as const, stream: true },
    { what: "records" as const, stream: true },
    { what: "line" as const, stream: true },
    { what: "comments" as const, stream: true },
  ])("sends an oversized $what", async ({ what, stream }) => {
    rig.behave({ kind: "oversize", what, bytes: 2_000_000 });
    const body = bodyOf(await rig.exchange(chat({ stream })));
    expect(body.length).toBeGreaterThanOrEqual(2_000_000);
    expect(body.length).toBeLessThan(2_200_000);
  });

  it("generates oversized streams only as fast as the client reads", async () => {
    rig.behave({ kind: "oversize", what: "records", bytes: 200_000_000 });
    const client = rig.open();
    client.socket.once("data", () => client.socket.pause());
    client.send("/v1/chat/completions", STREAMED);
    await rig.upstream.waitForCall((call) => call.bytesSent > 0);
    client.socket.destroy();
    const call = await rig.upstream.waitForCall((each) => each.ended === "client-closed");
    expect(call.bytesSent).toBeLessThan(20_000_000);
  });
});

describe("streams", () => {
  it.each([
    { path: "/v1/chat/completions", afterRecords: 0, before: 0 },
    { path: "/v1/chat/completions", afterRecords: 3, before: 3 },
    { path: "/v1/messages", afterRecords: 0, before: 0 },
    { path: "/v1/messages", afterRecords: 4, before: 4 },
  ])("sends an error after $before records at $path and nothing more", async ({ path, afterRecords, before }) => {
    rig.behave({ kind: "error-record", afterRecords, status: 529 });
    const client = await rig.exchange(STREAMED, path);
    const data = dataOf(client);
    expect(client.text).toContain("200 OK");
    expect(data).toHaveLength(before + 1);
    expect(JSON.parse(data.at(-1) ?? "")).toHaveProperty("error.message", "Overloaded.");
  });

  it.each([
    { name: "CRLF", fault: { lineEnd: "\r\n" } as const, expected: "\r\n\r\ndata: " },
    { name: "CR", fault: { lineEnd: "\r" } as const, expected: "\r\rdata: " },
    { name: "comments", fault: { comments: true }, expected: ": scripted comment\n\n" },
    { name: "no space", fault: { space: false }, expected: "data:{" },
    { name: "a byte order mark", fault: { bom: true }, expected: "\u00ef\u00bb\u00bfdata: " },
  ])("spells the stream with $name", async ({ fault, expected }) => {
    rig.behave({ kind: "spelling", ...fault });
    expect(bodyOf(await rig.exchange()).toString("latin1")).toContain(expected);
  });

  it.each([
    { name: "scripted-text:no-end", missing: "[DONE]" },
    { name: "scripted-text:no-finish", missing: '"finish_reason":"stop"' },
  ])("leaves out what $name says", async ({ name, missing }) => {
    expect(bodyOf(await rig.exchange({ ...STREAMED, model: name })).toString()).not.toContain(missing);
  });
});

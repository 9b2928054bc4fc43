import { connect } from "node:net";
import type { Socket } from "node:net";
import { gunzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createScriptedUpstream } from "./index.ts";
import type { Behaviour, Fault, ScriptedUpstream } from "./index.ts";
import { ODD_RESPONSES } from "./odd-responses.ts";

/** A client on a bare socket: everything it received, and how the connection ended. */
class RawClient {
  readonly socket: Socket;
  received: Buffer = Buffer.alloc(0);
  ended: "end" | "reset" | null = null;
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("data", (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
      this.#wake();
    });
    this.socket.on("end", () => this.#finish("end"));
    this.socket.on("error", () => this.#finish("reset"));
  }

  get text(): string {
    return this.received.toString("latin1");
  }

  send(path: string, body: unknown): void {
    const bytes = JSON.stringify(body);
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(bytes)}\r\n\r\n${bytes}`,
    );
  }

  async until(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      if (this.ended !== null) throw new Error(`the connection ended (${this.ended}) after: ${this.text.slice(-200)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async untilEnded(): Promise<void> {
    while (this.ended === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #finish(how: "end" | "reset"): void {
    this.ended ??= how;
    this.#wake();
  }
}

let upstream: ScriptedUpstream;
let delays: number[];
let clients: RawClient[];

beforeEach(async () => {
  delays = [];
  clients = [];
  upstream = await createScriptedUpstream({
    delay: (milliseconds) => {
      delays.push(milliseconds);
      return Promise.resolve();
    },
  });
});
afterEach(async () => {
  for (const client of clients) client.socket.destroy();
  await upstream.close();
});

function open(): RawClient {
  const client = new RawClient(upstream.port);
  clients.push(client);
  return client;
}

function behave(...faults: readonly Fault[]): void {
  upstream.script(() => ({ faults }));
}

function chat(more: object = {}): object {
  return { model: "scripted-text", messages: [{ role: "user", content: "Hi" }], ...more };
}

const STREAMED = chat({ stream: true });

/** Sends a chat request and waits for the end of its chunked or sized answer. */
async function exchange(body: object = STREAMED, path = "/v1/chat/completions"): Promise<RawClient> {
  const client = open();
  client.send(path, body);
  await upstream.waitForCall((call) => call.ended !== null);
  const sent = upstream.calls.at(-1)?.bytesSent ?? 0;
  await client.until(() => client.received.length >= sent);
  return client;
}

function bodyOf(client: RawClient): Buffer {
  const start = client.received.indexOf("\r\n\r\n") + 4;
  const body = client.received.subarray(start);
  if (!client.text.slice(0, start).includes("transfer-encoding: chunked")) return body;
  const pieces: Buffer[] = [];
  for (let position = 0; ;) {
    const lineEnd = body.indexOf("\r\n", position);
    const size = Number.parseInt(body.subarray(position, lineEnd).toString("latin1"), 16);
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    position = lineEnd + 4 + size;
  }
}

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
    behave({ kind: "cut", bytes, by });
    const client = open();
    client.send("/v1/chat/completions", STREAMED);
    await client.untilEnded();
    expect(client.received.length).toBe(bytes);
    expect(seen).toContain(client.ended);
    expect(upstream.calls[0]).toMatchObject({ bytesSent: bytes, ended: "cut" });
  });

  it("goes away after the given number of records", async () => {
    behave({ kind: "cut-after", records: 3, by: "end" });
    const client = open();
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
    behave({ kind: "stall", after });
    const client = open();
    client.send("/v1/chat/completions", STREAMED);
    await upstream.waitForCall((call) => call.bodyComplete);
    await client.until(() => client.text.includes(seen));
    expect(client.text).not.toContain("[DONE]");
    expect(upstream.calls[0]?.ended).toBeNull();
    upstream.release();
    await client.until(() => client.text.includes("[DONE]"));
  });

  it("waits before every piece when it is slow", async () => {
    behave({ kind: "slow", delayMs: 5 });
    const client = await exchange();
    const records = dataOf(client).length;
    expect(delays).toEqual(Array.from({ length: records + 1 }, () => 5));
  });

  it("sends the same bytes one by one", async () => {
    const whole = await exchange();
    upstream.clear();
    behave({ kind: "split", bytes: 1 });
    const split = await exchange();
    expect(bodyOf(split).toString("utf8").replaceAll("-2", "-1")).toBe(bodyOf(whole).toString("utf8"));
  });
});

describe("bodies", () => {
  it.each([
    { what: "null" as const, expected: "null" },
    { what: "array" as const, expected: "[]" },
    { what: "empty" as const, expected: "" },
  ])("answers $what with 200", async ({ what, expected }) => {
    behave({ kind: "garbage", what });
    const client = await exchange(chat());
    expect(client.text).toContain("200 OK");
    expect(bodyOf(client).toString()).toBe(expected);
  });

  it("puts garbage into one record of a stream", async () => {
    behave({ kind: "garbage", what: "invalid-utf8", as: "record" });
    const client = await exchange();
    expect(dataOf(client)[1]).toContain("\ufffd");
    expect(dataOf(client).at(-1)).toBe("[DONE]");
  });

  it.each([
    { body: "html" as const, type: "text/html", starts: "<html>" },
    { body: "text" as const, type: "text/plain", starts: "502 Bad Gateway" },
    { body: "json" as const, type: "application/json", starts: '{"error"' },
  ])("answers a status with $body", async ({ body, type, starts }) => {
    behave({ kind: "status", status: 502, body });
    const client = await exchange();
    expect(client.text).toContain("HTTP/1.1 502 Bad Gateway\r\n");
    expect(client.text).toContain(`content-type: ${type}\r\n`);
    expect(bodyOf(client).toString().startsWith(starts)).toBe(true);
  });

  it("sends a megabyte of error text", async () => {
    behave({ kind: "status", status: 500, body: "huge" });
    expect(bodyOf(await exchange()).length).toBeGreaterThan(1_000_000);
  });

  it("codes the body with gzip, also a stream, record by record", async () => {
    const plain = bodyOf(await exchange()).toString("utf8");
    upstream.clear();
    behave({ kind: "gzip" });
    const client = await exchange();
    expect(client.text).toContain("content-encoding: gzip\r\n");
    expect(gunzipSync(bodyOf(client)).toString("utf8").replaceAll("-2", "-1")).toBe(plain);
  });

  it("sends a bomb that is a thousandth of what it unpacks to", async () => {
    behave({ kind: "gzip", bombBytes: 5_000_000 });
    const body = bodyOf(await exchange(chat()));
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
    behave({ kind: "oversize", what, bytes: 2_000_000 });
    const body = bodyOf(await exchange(chat({ stream })));
    expect(body.length).toBeGreaterThanOrEqual(2_000_000);
    expect(body.length).toBeLessThan(2_200_000);
  });

  it("generates oversized streams only as fast as the client reads", async () => {
    behave({ kind: "oversize", what: "records", bytes: 200_000_000 });
    const client = open();
    client.socket.once("data", () => client.socket.pause());
    client.send("/v1/chat/completions", STREAMED);
    await upstream.waitForCall((call) => call.bytesSent > 0);
    client.socket.destroy();
    const call = await upstream.waitForCall((each) => each.ended === "client-closed");
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
    behave({ kind: "error-record", afterRecords, status: 529 });
    const client = await exchange(STREAMED, path);
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
    behave({ kind: "spelling", ...fault });
    expect(bodyOf(await exchange()).toString("latin1")).toContain(expected);
  });

  it.each([
    { name: "scripted-text:no-end", missing: "[DONE]" },
    { name: "scripted-text:no-finish", missing: '"finish_reason":"stop"' },
  ])("leaves out what $name says", async ({ name, missing }) => {
    expect(bodyOf(await exchange({ ...STREAMED, model: name })).toString()).not.toContain(missing);
  });
});

describe("heads", () => {
  it("adds headers as given, also doubled ones", async () => {
    behave({ kind: "headers", add: [["content-length", "5"]] });
    expect((await exchange(chat())).text.match(/content-length: /gu)).toHaveLength(2);
  });

  it.each([
    { value: "text/html", expected: ["content-type: text/html"] },
    { value: null, expected: [] },
  ])("sends the content type $value", async ({ value, expected }) => {
    behave({ kind: "content-type", value });
    const { text } = await exchange(chat());
    expect(text.split("\r\n").filter((line) => line.startsWith("content-type"))).toEqual(expected);
  });

  it("sends interim responses before the answer", async () => {
    behave({ kind: "interim", status: 103, count: 3 });
    const { text } = await exchange(chat());
    expect(text.match(/HTTP\/1\.1 103 Interim\r\n/gu)).toHaveLength(3);
    expect(text).toContain("HTTP/1.1 200 OK\r\n");
  });

  it("floods with interim responses until the client leaves", async () => {
    behave({ kind: "interim", status: 102, count: Number.POSITIVE_INFINITY });
    const client = open();
    client.send("/v1/chat/completions", chat());
    await client.until(() => client.received.length > 100_000);
    client.socket.destroy();
    const call = await upstream.waitForCall((each) => each.ended === "client-closed");
    expect(call.bytesSent).toBeGreaterThan(100_000);
  });

  it("ends the body with the connection", async () => {
    behave({ kind: "until-close" });
    const client = open();
    client.send("/v1/chat/completions", STREAMED);
    await client.untilEnded();
    expect(client.text).toContain("connection: close\r\n");
    expect(client.text).not.toMatch(/content-length|transfer-encoding/u);
    expect(client.text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(upstream.calls[0]?.ended).toBe("complete");
  });

  it("sends a raw head before the usual body", async () => {
    behave({ kind: "raw-head", bytes: "HTTP/1.1 200\r\nx: \u0000\r\n\r\n" });
    const client = await exchange(chat());
    expect(client.text.startsWith("HTTP/1.1 200\r\nx: \u0000\r\n\r\n{")).toBe(true);
  });

  it("sends trailers behind the last chunk", async () => {
    behave({ kind: "trailers", fields: [["x-sum", "1"]] });
    expect((await exchange()).text.endsWith("0\r\nx-sum: 1\r\n\r\n")).toBe(true);
  });

  it.each(Object.entries(ODD_RESPONSES))("sends the odd response %s byte for byte", async (name, odd) => {
    const client = open();
    client.send("/v1/chat/completions", chat({ model: `scripted-head-${name}` }));
    await client.until(() => client.received.length >= odd.bytes.length);
    expect(client.text).toBe(odd.bytes);
    if (odd.afterwards === "end") await client.untilEnded();
    expect(await upstream.waitForCall((call) => call.ended !== null)).toMatchObject({ ended: "complete" });
  });
});

describe("extra bytes", () => {
  it("come with the answer", async () => {
    behave({ kind: "extra-bytes", bytes: "STOLEN", when: "at-once" });
    expect((await exchange(chat())).text.endsWith("STOLEN")).toBe(true);
  });

  it("come later on the kept connection", async () => {
    behave({ kind: "extra-bytes", bytes: "STOLEN", when: "on-release" });
    const client = await exchange(chat());
    await upstream.waitForCall((call) => call.ended === "complete");
    expect(client.text).not.toContain("STOLEN");
    upstream.release();
    await client.until(() => client.text.endsWith("STOLEN"));
  });
});

describe("early answers", () => {
  const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n";

  function early(fault: Omit<Extract<Fault, { kind: "early" }>, "kind">, behaviour: Behaviour = {}): void {
    upstream.script([{ behaviour: { ...behaviour, faults: [{ kind: "early", ...fault }] } }]);
  }

  it("come behind the head, and the connection serves the next request after the body", async () => {
    early({ afterBodyBytes: 0, afterwards: "read-on" });
    const client = open();
    client.socket.write(HEAD);
    await client.until(() => client.text.includes("429 Too Many Requests"));
    upstream.script(null);
    client.socket.write("x".repeat(1000));
    client.send("/v1/chat/completions", chat());
    await client.until(() => client.text.includes("200 OK"));
    expect(upstream.calls.map((call) => call.connection)).toEqual([1, 1]);
  });

  it("come behind the given number of body bytes, with the given error", async () => {
    early({ afterBodyBytes: 10, afterwards: "stop-reading" }, { error: { status: 413 } });
    const client = open();
    client.socket.write(`${HEAD}123456789`);
    await upstream.waitForCall((call) => call.body.length === 9);
    expect(client.text).toBe("");
    client.socket.write("0");
    await client.until(() => client.text.includes("413 Content Too Large"));
    expect(upstream.calls[0]?.bodyComplete).toBe(false);
  });

  it("can end the connection", async () => {
    early({ afterBodyBytes: 0, afterwards: "hang-up" });
    const client = open();
    client.socket.write(HEAD);
    await client.untilEnded();
    expect(client.text).toContain("429");
  });

  it("can be asked for by the model's name", async () => {
    const client = open();
    client.socket.write(`${HEAD}{"model":"scripted-error-503:early-429",`);
    await client.until(() => client.text.includes("503 Service Unavailable"));
    expect(upstream.calls[0]).toMatchObject({ bodyComplete: false, model: "scripted-error-503:early-429" });
  });
});

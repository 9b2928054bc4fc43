// Requests that two parsers could read differently, over raw sockets against the built server (RFC 9112; where it allows two
// readings the request is refused). Every row: 400 or another refusal in an envelope, connection closed, nothing behind it
// processed, nothing upstream, others served meanwhile.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RawClient } from "../harness/raw-client.ts";
import { KEY, soleModel, startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { ask, DIALECT, DIALECTS, post } from "./client-dialect.ts";

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({ models: { chat: soleModel("chat", "scripted-text") } });
});
afterAll(() => gateway.close());

const BODY = DIALECT.openai.body({ model: "chat", text: "hidden" });
const HOST = "host: gateway.test\r\n";
const AUTH = `authorization: Bearer ${KEY}\r\ncontent-type: application/json\r\n`;
/** A request that would be served if anything behind the refused one were processed. */
const HIDDEN = post(DIALECT.openai, BODY).toString("latin1");
const SIZE = BODY.length.toString(16);

/** A POST whose framing is given; the body is a chat request that would be served. */
function framed(fields: string, wire: string = BODY, version: string = "HTTP/1.1"): string {
  return `POST /v1/chat/completions ${version}\r\n${HOST}${AUTH}${fields}\r\n${wire}`;
}

/** A well-framed POST with other parts. */
function parts(options: { readonly line?: string; readonly host?: string; readonly extra?: string }): string {
  const { line = "POST /v1/chat/completions HTTP/1.1", host = HOST, extra = "" } = options;
  return `${line}\r\n${host}${AUTH}${extra}content-length: ${BODY.length}\r\n\r\n${BODY}`;
}

const CHUNKED = "transfer-encoding: chunked\r\n";
const LENGTH = `content-length: ${BODY.length}\r\n`;
const WIRE = `${SIZE}\r\n${BODY}\r\n0\r\n\r\n`;

/** Chunked bodies: these reach the exchange, which must end without anything upstream. */
function chunks(wire: string): string {
  return framed(CHUNKED, wire);
}

const REFUSED: readonly (readonly [string, string])[] = [
  // Lengths and codings
  ["a length and a coding", framed(`${LENGTH}${CHUNKED}`, WIRE)],
  ["a coding and a length", framed(`${CHUNKED}${LENGTH}`, WIRE)],
  ["a length of zero and a coding", framed(`content-length: 0\r\n${CHUNKED}`, WIRE)],
  ["two equal lengths", framed(`${LENGTH}${LENGTH}`)],
  ["two different lengths", framed(`${LENGTH}content-length: 0\r\n`)],
  ["two lengths far apart", framed(`${LENGTH}${"x-filler: a\r\n".repeat(100)}content-length: 1\r\n`)],
  ["a list of lengths", framed(`content-length: ${BODY.length}, ${BODY.length}\r\n`)],
  ["a signed length", framed(`content-length: +${BODY.length}\r\n`)],
  ["a negative length", framed("content-length: -1\r\n")],
  ["a hexadecimal length", framed(`content-length: 0x${SIZE}\r\n`)],
  ["an exponential length", framed("content-length: 1e2\r\n")],
  ["a fractional length", framed(`content-length: ${BODY.length}.0\r\n`)],
  ["an empty length", framed("content-length: \r\n")],
  ["a quoted length", framed(`content-length: "${BODY.length}"\r\n`)],
  ["a length with an inner space", framed("content-length: 1 0\r\n")],
  ["a length with an underscore", framed("content-length: 1_0\r\n")],
  ["a length beyond 64 bits", framed("content-length: 18446744073709551617\r\n")],
  ["a length with a space before the colon", framed(`content-length : ${BODY.length}\r\n`)],
  ["codings identity, chunked", framed("transfer-encoding: identity, chunked\r\n", WIRE)],
  ["coding identity with a length", framed(`transfer-encoding: identity\r\n${LENGTH}`)],
  ["codings gzip, chunked", framed("transfer-encoding: gzip, chunked\r\n", WIRE)],
  ["codings chunked, gzip", framed("transfer-encoding: chunked, gzip\r\n", WIRE)],
  ["codings chunked, identity", framed("transfer-encoding: chunked, identity\r\n", WIRE)],
  ["chunked twice in a list", framed("transfer-encoding: chunked, chunked\r\n", WIRE)],
  ["chunked in two fields", framed(`${CHUNKED}${CHUNKED}`, WIRE)],
  ["chunked and another coding in two fields", framed(`${CHUNKED}transfer-encoding: x\r\n`, WIRE)],
  ["chunked in capitals", framed("transfer-encoding: CHUNKED\r\n", WIRE)],
  ["chunked with a parameter", framed("transfer-encoding: chunked;q=1\r\n", WIRE)],
  ["quoted chunked", framed('transfer-encoding: "chunked"\r\n', WIRE)],
  ["xchunked", framed("transfer-encoding: xchunked\r\n", WIRE)],
  ["an empty coding", framed(`transfer-encoding:\r\n${LENGTH}`)],
  ["a coding behind a vertical tab", framed("transfer-encoding: \u000bchunked\r\n", WIRE)],
  ["a coding behind a comma", framed("transfer-encoding: ,chunked\r\n", WIRE)],
  ["a space before the coding's colon", framed("transfer-encoding : chunked\r\n", WIRE)],
  ["a folded coding", framed("transfer-encoding:\r\n chunked\r\n", WIRE)],
  ["a coding in HTTP/1.0", framed(CHUNKED, WIRE, "HTTP/1.0")],
  ["a coding in HTTP/1.0 that is to be kept alive", framed(`connection: keep-alive\r\n${CHUNKED}`, WIRE, "HTTP/1.0")],
  ["a length and a coding in HTTP/1.0", framed(`${LENGTH}${CHUNKED}`, WIRE, "HTTP/1.0")],
  // Line ends, controls, folding
  ["LF behind the request line", framed(LENGTH).replace("HTTP/1.1\r\n", "HTTP/1.1\n")],
  ["LF behind a field", parts({ extra: "x-a: b\n" })],
  ["LF at the end of the head", framed(LENGTH).replace(`${LENGTH}\r\n`, `${LENGTH}\n`)],
  ["CR behind a field", parts({ extra: "x-a: b\rx-c: d\r\n" })],
  ["CR inside a value", parts({ extra: "x-a: b\rc\r\n" })],
  ["NUL inside a value", parts({ extra: "x-a: b\u0000c\r\n" })],
  ["NUL at the end of a value", parts({ extra: "x-a: b\u0000\r\n" })],
  ["a control inside a value", parts({ extra: "x-a: b\u0001c\r\n" })],
  ["DEL inside a value", parts({ extra: "x-a: b\u007fc\r\n" })],
  ["a vertical tab before a value", parts({ extra: "x-a:\u000bb\r\n" })],
  ["NUL inside a name", parts({ extra: "x-\u0000a: b\r\n" })],
  ["a control inside a name", parts({ extra: "x-\u0001a: b\r\n" })],
  ["a high octet inside a name", parts({ extra: "x-\u00e4: b\r\n" })],
  ["a space inside a name", parts({ extra: "x a: b\r\n" })],
  ["a space before the colon", parts({ extra: "x-a : b\r\n" })],
  ["a tab before the colon", parts({ extra: "x-a\t: b\r\n" })],
  ["a space before the first name", parts({ host: ` ${HOST}` })],
  ["an empty name", parts({ extra: ": b\r\n" })],
  ["a line without colon", parts({ extra: "nonsense\r\n" })],
  ["a folded field", parts({ extra: "x-a: b\r\n c\r\n" })],
  ["a field folded with a tab", parts({ extra: "x-a: b\r\n\tc\r\n" })],
  ["NUL in the target", parts({ line: "POST /v1/chat/completions\u0000 HTTP/1.1" })],
  ["a tab in the request line", parts({ line: "POST\t/v1/chat/completions HTTP/1.1" })],
  // Host and targets
  ["no Host", parts({ host: "" })],
  ["two Hosts", parts({ host: `${HOST}${HOST}` })],
  ["two different Hosts", parts({ host: `${HOST}Host: other.test\r\n` })],
  ["an empty Host", parts({ host: "host:\r\n" })],
  ["a Host with a path", parts({ host: "host: a/b\r\n" })],
  ["a Host with user information", parts({ host: "host: a@b\r\n" })],
  ["a list of Hosts", parts({ host: "host: a, b\r\n" })],
  ["an empty segment", parts({ line: "POST //v1/chat/completions HTTP/1.1" })],
  ["an empty segment inside", parts({ line: "POST /v1//chat/completions HTTP/1.1" })],
  ["a dot segment", parts({ line: "POST /v1/./chat/completions HTTP/1.1" })],
  ["a double dot segment", parts({ line: "POST /v1/x/../chat/completions HTTP/1.1" })],
  ["a double dot at the end", parts({ line: "POST /v1/chat/completions/.. HTTP/1.1" })],
  ["an encoded double dot", parts({ line: "POST /v1/x/%2e%2e/chat/completions HTTP/1.1" })],
  ["a half encoded double dot", parts({ line: "POST /v1/x/.%2E/chat/completions HTTP/1.1" })],
  ["an encoded NUL", parts({ line: "POST /v1/chat/completions%00 HTTP/1.1" })],
  ["a broken escape", parts({ line: "POST /v1/chat/completions%2 HTTP/1.1" })],
  ["a backslash", parts({ line: "POST /v1\\chat\\completions HTTP/1.1" })],
  ["a fragment", parts({ line: "POST /v1/chat/completions#a HTTP/1.1" })],
  ["the absolute form", parts({ line: "POST http://gateway.test/v1/chat/completions HTTP/1.1" })],
  ["the absolute form of another host", parts({ line: "POST http://169.254.169.254/v1/chat/completions HTTP/1.1" })],
  ["the authority form", parts({ line: "CONNECT gateway.test:443 HTTP/1.1" })],
  ["the asterisk form", parts({ line: "OPTIONS * HTTP/1.1" })],
  ["a target without a slash", parts({ line: "POST v1/chat/completions HTTP/1.1" })],
  ["an octet beyond ASCII in the target", parts({ line: "POST /v1/ch\u00e4t HTTP/1.1" })],
  // Versions and other protocols
  ["no version", parts({ line: "POST /v1/chat/completions" })],
  ["HTTP/1.2", parts({ line: "POST /v1/chat/completions HTTP/1.2" })],
  ["HTTP/2.0", parts({ line: "POST /v1/chat/completions HTTP/2.0" })],
  ["HTTP/0.9", parts({ line: "POST /v1/chat/completions HTTP/0.9" })],
  ["a version in lower case", parts({ line: "POST /v1/chat/completions http/1.1" })],
  ["a method in lower case", parts({ line: "post /v1/chat/completions HTTP/1.1" })],
  ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a TLS hello", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
  ["an upgrade to WebSocket", parts({ extra: "connection: upgrade\r\nupgrade: websocket\r\n" })],
  ["an unknown expectation", parts({ extra: "expect: 200-ok\r\n" })],
];

const REFUSED_BODIES: readonly (readonly [string, string])[] = [
  ["LF behind a chunk size", chunks(`${SIZE}\n${BODY}\r\n0\r\n\r\n`)],
  ["CR behind a chunk size", chunks(`${SIZE}\r${BODY}\r\n0\r\n\r\n`)],
  ["LF behind a chunk", chunks(`${SIZE}\r\n${BODY}\n0\r\n\r\n`)],
  ["nothing behind a chunk", chunks(`${SIZE}\r\n${BODY}0\r\n\r\n`)],
  ["a chunk size in text", chunks(`xyz\r\n${BODY}\r\n0\r\n\r\n`)],
  ["a negative chunk size", chunks(`-${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
  ["a signed chunk size", chunks(`+${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
  ["a chunk size with 0x", chunks(`0x${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
  ["an empty chunk size", chunks(`\r\n${BODY}\r\n0\r\n\r\n`)],
  ["a chunk size beyond 64 bits", chunks(`1${"0".repeat(16)}${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
  ["a space before a chunk size", chunks(` ${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
  ["NUL in a chunk size", chunks(`${SIZE}\u0000\r\n${BODY}\r\n0\r\n\r\n`)],
  ["NUL in a chunk extension", chunks(`${SIZE};a=\u0000\r\n${BODY}\r\n0\r\n\r\n`)],
  ["LF in a chunk extension", chunks(`${SIZE};a=b\n${BODY}\r\n0\r\n\r\n`)],
  ["CR in a chunk extension", chunks(`${SIZE};a=\rb\r\n${BODY}\r\n0\r\n\r\n`)],
  ["an endless chunk extension", chunks(`${SIZE};${"a".repeat(200_000)}\r\n${BODY}\r\n0\r\n\r\n`)],
  ["NUL in a trailer", chunks(`${SIZE}\r\n${BODY}\r\n0\r\nx-a: \u0000\r\n\r\n`)],
  ["LF in a trailer", chunks(`${SIZE}\r\n${BODY}\r\n0\r\nx-a: b\nx-c: d\r\n\r\n`)],
  ["a space before a trailer's colon", chunks(`${SIZE}\r\n${BODY}\r\n0\r\nx-a : b\r\n\r\n`)],
  ["endless trailers", chunks(`${SIZE}\r\n${BODY}\r\n0\r\n${"x-a: b\r\n".repeat(20_000)}\r\n`)],
  ["LF at the end of the trailers", chunks(`${SIZE}\r\n${BODY}\r\n0\r\n\n`)],
];

/** The row's refusal: one answer in a JSON envelope, then the connection's end. */
async function expectRefused(client: RawClient, nth: number, statuses: readonly number[]): Promise<void> {
  const answer = await client.answer(nth);
  expect(statuses).toContain(answer.status);
  expect(answer.headers["connection"]).toBe("close");
  expect(DIALECT.openai.errorOf(answer).message).not.toBe("");
  await client.untilClosed();
  expect(client.answers).toHaveLength(nth);
}

describe("a request with two readings or none is refused and its connection closed", () => {
  it.each(REFUSED)("%s, as the first request", async (_name, bytes) => {
    const before = gateway.upstream.calls.length;
    const [client, bystander] = await Promise.all([RawClient.open(gateway.url), RawClient.open(gateway.url)]);
    client.send(bytes + HIDDEN);
    bystander.send("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    await expectRefused(client, 1, [400, 417]);
    expect((await bystander.answer()).status).toBe(200);
    bystander.destroy();
    expect(gateway.upstream.calls).toHaveLength(before);
  });

  it.each(REFUSED)("%s, behind a served request on the same connection", async (_name, bytes) => {
    const before = gateway.upstream.calls.length;
    const client = await RawClient.open(gateway.url);
    client.send(HIDDEN);
    expect((await client.answer(1)).status).toBe(200);
    client.send(bytes);
    client.send(HIDDEN);
    await expectRefused(client, 2, [400, 417]);
    expect(gateway.upstream.calls).toHaveLength(before + 1);
  });

  it.each(REFUSED_BODIES)("%s, in a chunked body", async (_name, bytes) => {
    const before = gateway.upstream.calls.length;
    const client = await RawClient.open(gateway.url);
    client.send(bytes + HIDDEN);
    await expectRefused(client, 1, [400, 413, 431]);
    expect(gateway.upstream.calls).toHaveLength(before);
  });

  it.each([...REFUSED, ...REFUSED_BODIES].filter(([, bytes]) => bytes.length < 1000))(
    "%s, byte by byte",
    async (_name, bytes) => {
      const before = gateway.upstream.calls.length;
      const client = await RawClient.open(gateway.url);
      await client.trickle(bytes);
      client.send(HIDDEN);
      await expectRefused(client, 1, [400, 413, 417, 431]);
      expect(gateway.upstream.calls).toHaveLength(before);
    },
  );
});

describe("the model is taken from the body alone", () => {
  it.each([
    ["a query", "POST /v1/chat/completions?model=other HTTP/1.1"],
    ["a query with the parameter twice", "POST /v1/chat/completions?model=chat&model=other HTTP/1.1"],
  ])("not from %s", async (_name, line) => {
    const before = gateway.upstream.calls.length;
    const answer = await ask(gateway.url, parts({ line }));
    expect(answer.status).toBe(200);
    expect(gateway.upstream.calls.slice(before).map(({ target, model }) => [target, model])).toEqual([
      ["/v1/chat/completions", "scripted-text"],
    ]);
  });

  it.each([
    // A model's own path takes other methods, with any name behind it.
    ["a model in the path", "POST /v1/models/other/chat/completions HTTP/1.1", 405],
    ["an encoded route", "POST /v1/chat%2fcompletions HTTP/1.1", 404],
    ["a slash at the end", "POST /v1/chat/completions/ HTTP/1.1", 404],
    ["a route in capitals", "POST /V1/chat/completions HTTP/1.1", 404],
    ["path parameters", "POST /v1/chat/completions;a=b HTTP/1.1", 404],
  ])("nor is another path this route: %s", async (_name, line, status) => {
    const before = gateway.upstream.calls.length;
    const answer = await ask(gateway.url, parts({ line }));
    expect(answer.status).toBe(status);
    expect(gateway.upstream.calls).toHaveLength(before);
  });
});

describe("what is legal stays served", () => {
  it.each([
    ["a chunked body", chunks(WIRE)],
    ["a chunked body in single octets", chunks(`${BODY.replaceAll(/./g, "1\r\n$&\r\n")}0\r\n\r\n`)],
    ["a chunk extension", chunks(`${SIZE};a=b\r\n${BODY}\r\n0\r\n\r\n`)],
    ["a trailer", chunks(`${SIZE}\r\n${BODY}\r\n0\r\nx-a: b\r\n\r\n`)],
    ["leading zeros in a chunk size", chunks(`000${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
    ["HTTP/1.0 with a length", framed(LENGTH, BODY, "HTTP/1.0")],
    ["HTTP/1.0 without Host", parts({ line: "POST /v1/chat/completions HTTP/1.0", host: "" })],
    ["white space around a value", parts({ extra: "x-a:\t b \t\r\n" })],
    ["an octet beyond ASCII in a value", parts({ extra: "x-a: \u00e4\r\n" })],
    ["an empty line before the request", `\r\n${parts({})}`],
    ["an upgrade to another protocol", parts({ extra: "connection: upgrade, http2-settings\r\nupgrade: h2c\r\n" })],
  ])("%s", async (_name, bytes) => {
    expect((await ask(gateway.url, bytes)).status).toBe(200);
  });
});

describe.each(DIALECTS)("refusals of the front end to clients of $name", (dialect) => {
  it("wear the dialect's envelope when the path is known", async () => {
    const answer = await ask(gateway.url, post(dialect, dialect.body({ model: "chat" }), "host: b\r\n"));
    expect(answer.status).toBe(400);
    expect(dialect.errorOf(answer)).toMatchObject({
      type: "invalid_request_error",
      message: "The request must have exactly one Host field.",
    });
  });
});

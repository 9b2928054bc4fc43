import { afterEach, describe, expect, it } from "vitest";

import { answer, echo, hang, startRig } from "./fixtures/fake-engine.ts";
import type { Rig } from "./fixtures/fake-engine.ts";
import { eventually, RawClient } from "./fixtures/raw-client.ts";

let rig: Rig;
afterEach(() => rig.http.close(0));

/** A request that must never reach the engine, glued behind the one under test. */
const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
const HOST = "Host: a\r\n";
const post = (headers: string, body: string): string => `POST /v1/x HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;

describe("requests that have two readings or none", () => {
  const rows = [
    ["length and coding", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
    ["coding and length", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")],
    ["two equal lengths", post("Content-Length: 0\r\nContent-Length: 0\r\n", "")],
    ["two different lengths", post("Content-Length: 0\r\nContent-Length: 35\r\n", "")],
    ["a list of lengths", post("Content-Length: 0, 0\r\n", "")],
    ["a signed length", post("Content-Length: +0\r\n", "")],
    ["a negative length", post("Content-Length: -1\r\n", "")],
    ["a hexadecimal length", post("Content-Length: 0x0\r\n", "")],
    ["an empty length", post("Content-Length: \r\n", "")],
    ["a length beyond 64 bits", post(`Content-Length: ${"9".repeat(30)}\r\n`, "")],
    ["a length with an inner space", post("Content-Length: 0 0\r\n", "")],
    ["identity, chunked", post("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n")],
    ["identity", post("Transfer-Encoding: identity\r\n", "")],
    ["gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")],
    ["chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")],
    ["chunked twice in a list", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")],
    ["chunked in two fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
    ["chunked in capitals", post("Transfer-Encoding: Chunked\r\n", "0\r\n\r\n")],
    ["chunked with a parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")],
    ["xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")],
    ["an empty coding", post("Transfer-Encoding: \r\n", "")],
    ["a coding with a vertical tab", post("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n")],
    ["a space before the coding's colon", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")],
    ["a folded coding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")],
    ["HTTP/1.0 with a coding", `POST /v1/x HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    [
      "HTTP/1.0 with a coding, kept alive",
      `POST /v1/x HTTP/1.0\r\n${HOST}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "HTTP/1.0 with length and coding",
      `POST /v1/x HTTP/1.0\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["a request line without version", `GET /v1/x\r\n${HOST}\r\n`],
    ["a request line without version, ended by LF, with a body", `POST /v1/x\n${HOST}Content-Length: 5\r\n\r\nhello`],
    ["HTTP/2.0", `GET /v1/x HTTP/2.0\r\n${HOST}\r\n`],
    ["HTTP/1.2", `GET /v1/x HTTP/1.2\r\n${HOST}\r\n`],
    ["HTTP/11", `GET /v1/x HTTP/11\r\n${HOST}\r\n`],
    ["a lower-case protocol", `GET /v1/x http/1.1\r\n${HOST}\r\n`],
    ["CONNECT with an authority", `CONNECT a:443 HTTP/1.1\r\n${HOST}\r\n`],
    ["CONNECT with a path", `CONNECT /v1/x HTTP/1.1\r\n${HOST}\r\n`],
    ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["no Host", "GET /v1/x HTTP/1.1\r\n\r\n"],
    ["two Hosts", `GET /v1/x HTTP/1.1\r\n${HOST}${HOST}\r\n`],
    ["two different Hosts", `GET /v1/x HTTP/1.1\r\n${HOST}host: b\r\n\r\n`],
    ["two Hosts in HTTP/1.0", `GET /v1/x HTTP/1.0\r\n${HOST}${HOST}\r\n`],
    ["an empty Host", "GET /v1/x HTTP/1.1\r\nHost:\r\n\r\n"],
    ["a Host with a path", "GET /v1/x HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ["a Host with user information", "GET /v1/x HTTP/1.1\r\nHost: b@a\r\n\r\n"],
    ["a Host list", "GET /v1/x HTTP/1.1\r\nHost: a, b\r\n\r\n"],
    ["a Host with a bad port", "GET /v1/x HTTP/1.1\r\nHost: a:b\r\n\r\n"],
    ["a space before Host's colon", "GET /v1/x HTTP/1.1\r\nHost : a\r\n\r\n"],
    ["bare LF after the request line", `GET /v1/x HTTP/1.1\n${HOST}\r\n`],
    ["bare LF after a field", `GET /v1/x HTTP/1.1\r\nHost: a\nX: y\r\n\r\n`],
    ["bare CR after a field", `GET /v1/x HTTP/1.1\r\nHost: a\rX: y\r\n\r\n`],
    ["bare LF at the head's end", `GET /v1/x HTTP/1.1\r\n${HOST}\n`],
    ["bare CR inside a value", `GET /v1/x HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`],
    ["NUL in a value", `GET /v1/x HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`],
    ["NUL in a name", `GET /v1/x HTTP/1.1\r\n${HOST}X\0: a\r\n\r\n`],
    ["a control in a value", `GET /v1/x HTTP/1.1\r\n${HOST}X: a\x01b\r\n\r\n`],
    ["DEL in a value", `GET /v1/x HTTP/1.1\r\n${HOST}X: a\x7fb\r\n\r\n`],
    ["a space in a name", `GET /v1/x HTTP/1.1\r\n${HOST}X Y: a\r\n\r\n`],
    ["an empty name", `GET /v1/x HTTP/1.1\r\n${HOST}: a\r\n\r\n`],
    ["a line without colon", `GET /v1/x HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`],
    ["a folded field", `GET /v1/x HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`],
    ["a fold before the first field", `GET /v1/x HTTP/1.1\r\n ${HOST}\r\n`],
    ["a leading //", `GET //v1/x HTTP/1.1\r\n${HOST}\r\n`],
    ["an inner //", `GET /v1//x HTTP/1.1\r\n${HOST}\r\n`],
    ["a parent segment", `GET /v1/../x HTTP/1.1\r\n${HOST}\r\n`],
    ["a parent segment at the end", `GET /v1/.. HTTP/1.1\r\n${HOST}\r\n`],
    ["a dot segment", `GET /./v1/x HTTP/1.1\r\n${HOST}\r\n`],
    ["an encoded dot segment", `GET /v1/%2e%2E/x HTTP/1.1\r\n${HOST}\r\n`],
    ["a half-encoded dot segment", `GET /v1/.%2e?q HTTP/1.1\r\n${HOST}\r\n`],
    ["an encoded NUL", `GET /v1/x%00 HTTP/1.1\r\n${HOST}\r\n`],
    ["an encoded NUL in the query", `GET /v1/x?a=%00 HTTP/1.1\r\n${HOST}\r\n`],
    ["a broken escape", `GET /v1/%2 HTTP/1.1\r\n${HOST}\r\n`],
    ["a backslash", `GET /v1\\x HTTP/1.1\r\n${HOST}\r\n`],
    ["a fragment", `GET /v1/x#y HTTP/1.1\r\n${HOST}\r\n`],
    ["a non-ASCII target", `GET /v1/\xe4 HTTP/1.1\r\n${HOST}\r\n`],
    ["a tab in the target", `GET /v1\t/x HTTP/1.1\r\n${HOST}\r\n`],
    ["a NUL in the target", `GET /v1\0/x HTTP/1.1\r\n${HOST}\r\n`],
    ["a space in the target", `GET /v1 /x HTTP/1.1\r\n${HOST}\r\n`],
    ["absolute form", `GET http://a/v1/x HTTP/1.1\r\n${HOST}\r\n`],
    ["absolute form with another scheme", `GET ftp://a/v1/x HTTP/1.1\r\n${HOST}\r\n`],
    ["authority form", `GET a:80 HTTP/1.1\r\n${HOST}\r\n`],
    ["asterisk form", `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
    ["CONNECT", `CONNECT a:80 HTTP/1.1\r\n${HOST}\r\n`],
    ["an unknown method", `G@T /v1/x HTTP/1.1\r\n${HOST}\r\n`],
  ] as const;

  it.each(rows)("answers 400 to %s, closes, and never processes what follows", async (_name, input) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(input + HIDDEN);
    await client.untilClosed();
    expect(client.statuses).toEqual([400]);
    expect(client.received).toMatch(/connection: close\r\n/i);
    expect(client.received).toMatch(/\{"error":\{"code":"invalid_request".*\}$/);
    expect(rig.handled).toEqual([]);
  });

  it.each(rows)("answers 400 to %s behind a request that is served", async (_name, input) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(`GET /first HTTP/1.1\r\n${HOST}\r\n`);
    await client.until("/first 0");
    client.send(input + HIDDEN);
    await client.untilClosed();
    expect(client.statuses).toEqual([200, 400]);
    expect(rig.handled.map((seen) => seen.request.path)).toEqual(["/first"]);
  });
});

describe("bodies whose transfer coding is broken", () => {
  const chunked = (body: string): string => post("Transfer-Encoding: chunked\r\n", body);
  const rows = [
    ["bare LF after a size", chunked("5\nhello\r\n0\r\n\r\n")],
    ["bare LF after data", chunked("5\r\nhello\n0\r\n\r\n")],
    ["bare CR after a size", chunked("5\rhello\r\n0\r\n\r\n")],
    ["a signed size", chunked("+5\r\nhello\r\n0\r\n\r\n")],
    ["a 0x size", chunked("0x5\r\nhello\r\n0\r\n\r\n")],
    ["an empty size", chunked("\r\nhello\r\n0\r\n\r\n")],
    ["a size with a leading space", chunked(" 5\r\nhello\r\n0\r\n\r\n")],
    ["a size beyond 64 bits", chunked("fffffffffffffffff\r\nhello\r\n0\r\n\r\n")],
    ["a size that is too small", chunked("4\r\nhello\r\n0\r\n\r\n")],
    ["NUL in a size", chunked("5\0\r\nhello\r\n0\r\n\r\n")],
    ["an extension ended by LF", chunked("5;a\nhello\r\n0\r\n\r\n")],
    ["NUL in an extension", chunked("5;a\0b\r\nhello\r\n0\r\n\r\n")],
    ["bare CR in an extension", chunked("5;a\rb\r\nhello\r\n0\r\n\r\n")],
    ["an endless extension", chunked(`5;${"a".repeat(20_000)}\r\nhello\r\n0\r\n\r\n`)],
    ["bare LF after the last chunk", chunked("0\n\r\n")],
    ["bare LF at the end", chunked("0\r\n\n")],
    ["a trailer ended by LF", chunked("0\r\nX: y\n\r\n")],
    ["NUL in a trailer", chunked("0\r\nX: a\0\r\n\r\n")],
    ["a folded trailer", chunked("0\r\nX: a\r\n b\r\n\r\n")],
    ["a trailer that is too large", chunked(`0\r\nX: ${"a".repeat(40_000)}\r\n\r\n`)],
  ] as const;

  it.each(rows)("fails the read of a body with %s, closes, and never processes what follows", async (_name, input) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(input + HIDDEN);
    await client.untilClosed();
    expect(client.statuses).toEqual([400]);
    expect(rig.handled.map((seen) => [seen.request.path, seen.reading])).toEqual([
      ["/v1/x", { ok: false, reason: "malformed" }],
    ]);
  });
});

describe("requests that are served", () => {
  const rows = [
    ["a length", post("Content-Length: 5\r\n", "hello"), "/v1/x 5"],
    ["chunks", post("Transfer-Encoding: chunked\r\n", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), "/v1/x 5"],
    [
      "chunks with an extension and a trailer",
      post("Transfer-Encoding: chunked\r\n", "5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"),
      "/v1/x 5",
    ],
    ["no body", post("", ""), "/v1/x 0"],
    ["length 0", post("Content-Length: 0\r\n", ""), "/v1/x 0"],
    ["a Host with a port", "GET /v1/y HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", "/v1/y 0"],
    ["an IPv6 Host", "GET /v1/y HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "/v1/y 0"],
    [
      "dots inside segments",
      `GET /v1/models/gpt-4.1..x/.well HTTP/1.1\r\n${HOST}\r\n`,
      "/v1/models/gpt-4.1..x/.well 0",
    ],
    ["an encoded slash, undecoded", `GET /v1/models/a%2Fb HTTP/1.1\r\n${HOST}\r\n`, "/v1/models/a%2Fb 0"],
    ["obs-text in a value", `GET /v1/y HTTP/1.1\r\n${HOST}X: \xe4\r\n\r\n`, "/v1/y 0"],
    [
      "an offer of h2c",
      `GET /v1/y HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n`,
      "/v1/y 0",
    ],
    [
      "an offer of h2c with a body",
      post("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n", "hello"),
      "/v1/x 5",
    ],
    ["blank lines before the request", `\r\n\r\nGET /v1/y HTTP/1.1\r\n${HOST}\r\n`, "/v1/y 0"],
  ] as const;

  it.each(rows)("serves %s, whole and byte by byte, and keeps the connection", async (_name, input, expected) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(input);
    await client.until(expected);
    client.socket.setNoDelay(true);
    for (const byte of Buffer.from(input, "latin1")) client.send(Uint8Array.of(byte));
    await client.until(new RegExp(`${expected.replaceAll(".", "\\.")}[^]*${expected.replaceAll(".", "\\.")}`));
    expect(client.statuses).toEqual([200, 200]);
    expect(client.isClosed).toBe(false);
    client.socket.destroy();
  });

  it("splits path and query without decoding", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(`GET /v1beta/models/x:generate?alt=sse&a=%41?b HTTP/1.1\r\n${HOST}X-A: 1\r\nx-a: 2\r\n\r\n`);
    await client.until("/v1beta/models/x:generate 0");
    const { request } = rig.find("/v1beta/models/x:generate");
    expect(request.query).toBe("alt=sse&a=%41?b");
    expect(request.headers).toEqual(["Host", "a", "X-A", "1", "x-a", "2"]);
    expect(request.contentLength).toBeNull();
    client.socket.destroy();
  });

  it.each([
    ["without Host", "GET /old HTTP/1.0\r\n\r\n", "/old 0"],
    [
      "with a body, asking to be kept alive",
      "POST /old HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
      "/old 2",
    ],
  ])("serves HTTP/1.0 %s and closes", async (_name, input, expected) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(input + HIDDEN);
    await client.untilClosed();
    expect(client.received).toContain(expected);
    expect(client.received).not.toMatch(/transfer-encoding/i);
    expect(client.statuses).toEqual([200]);
    expect(rig.handled).toHaveLength(1);
  });
});

describe("expectations and upgrades", () => {
  it("sends 100 Continue only when the body is read", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(post("Expect: 100-continue\r\nContent-Length: 5\r\n", ""));
    await eventually("the engine has the head", () => rig.handled.length === 1);
    expect(client.received).toBe("");
    echo(rig.find("/v1/x"));
    await client.until("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    await client.until("/v1/x 5");
    client.socket.destroy();
  });

  it("sends no 100 Continue when the engine refuses at the head", async () => {
    rig = await startRig((seen) => answer(seen, 401, "no", true));
    const client = await RawClient.open(rig.port);
    client.send(post("Expect: 100-continue\r\nContent-Length: 5\r\n", "") + HIDDEN);
    await client.untilClosed();
    expect(client.received).not.toContain("100 Continue");
    expect(client.statuses).toEqual([401]);
    expect(rig.handled).toHaveLength(1);
  });

  it.each(["200-ok", "100-continue, x", "x=y"])("answers 417 to the expectation %s", async (expectation) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(post(`Expect: ${expectation}\r\nContent-Length: 5\r\n`, "hello") + HIDDEN);
    await client.untilClosed();
    expect(client.statuses).toEqual([417]);
    expect(rig.handled).toEqual([]);
  });

  it.each([
    ["GET /v1/responses", 426],
    ["GET /v1/responses?x", 426],
    ["GET /v1/other", 400],
    ["POST /v1/responses", 400],
  ])("answers a WebSocket handshake on %s with %i and closes", async (line, status) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(
      `${line} HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n${HIDDEN}`,
    );
    await client.untilClosed();
    expect(client.statuses).toEqual([status]);
    expect(rig.handled).toEqual([]);
  });
});

describe("bounds of the head", () => {
  it.each([
    ["one field at the byte bound", `X: ${"a".repeat(40_000)}\r\n`],
    ["a target over the byte bound", null],
    ["one field more than counted", "X: a\r\n".repeat(200)],
    ["a thousand tiny fields before the framing", `${"a:\r\n".repeat(3_000)}Transfer-Encoding: chunked\r\n`],
  ])("answers 431 to %s", async (_name, fields) => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(
      fields === null
        ? `GET /${"a".repeat(40_000)} HTTP/1.1\r\n${HOST}\r\n`
        : `GET /v1/x HTTP/1.1\r\n${HOST}${fields}\r\n${HIDDEN}`,
    );
    await client.untilClosed();
    expect(client.statuses).toEqual([431]);
    expect(rig.handled).toEqual([]);
  });

  it("serves a head with exactly as many fields as allowed", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(`GET /v1/x HTTP/1.1\r\n${HOST}${"X: a\r\n".repeat(199)}\r\n`);
    await client.until("/v1/x 0");
    expect(client.statuses).toEqual([200]);
    client.socket.destroy();
  });
});

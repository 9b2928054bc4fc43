// Whole responses whose framing is odd or broken, by name: status lines, lengths, codings, fields and statuses that a strict
// client must refuse or bound (RFC 9112 §4–§7, RFC 9110 §15). The body, where there is one, is a complete chat answer.
import type { Hangup } from "./faults.ts";

/** A response given byte for byte (Latin-1), and what happens to the connection behind it. */
export interface OddResponse {
  readonly bytes: string;
  readonly afterwards: Hangup | "keep";
}

const BODY =
  '{"id":"odd","object":"chat.completion","created":1790000000,"model":"odd","choices":[{"index":0,"message":{"role":"assistant",' +
  '"content":"odd","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}';
const JSON_TYPE = "content-type: application/json\r\n";
const LENGTH = `content-length: ${BODY.length}\r\n`;
const CHUNKED = "transfer-encoding: chunked\r\n";

function keep(bytes: string): OddResponse {
  return { bytes, afterwards: "keep" };
}

/** A response with a given status line (without its line end). */
function statusLine(line: string): OddResponse {
  return keep(`${line}\r\n${JSON_TYPE}${LENGTH}\r\n${BODY}`);
}

/** A correct response with extra header lines before the framing. */
function withFields(fields: string): OddResponse {
  return keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}${fields}${LENGTH}\r\n${BODY}`);
}

/** A chunked response whose body is given as it is on the wire. */
function chunked(wire: string): OddResponse {
  return keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}${CHUNKED}\r\n${wire}`);
}

/** A status with a body that is not a completion. */
function status(line: string, fields: string, body: string): OddResponse {
  return keep(`HTTP/1.1 ${line}\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`);
}

const SIZE = BODY.length.toString(16);

/** Odd responses by name. */
export const ODD_RESPONSES: Readonly<Record<string, OddResponse>> = {
  "no-reason": statusLine("HTTP/1.1 200 "),
  "no-reason-no-space": statusLine("HTTP/1.1 200"),
  "http-1-0": { bytes: `HTTP/1.0 200 OK\r\n${JSON_TYPE}\r\n${BODY}`, afterwards: "end" },
  "http-2": statusLine("HTTP/2 200 OK"),
  "http-1-2": statusLine("HTTP/1.2 200 OK"),
  "http-lower-case": statusLine("http/1.1 200 OK"),
  "status-two-digits": statusLine("HTTP/1.1 20 OK"),
  "status-four-digits": statusLine("HTTP/1.1 2000 OK"),
  "status-099": statusLine("HTTP/1.1 099 Odd"),
  "status-600": statusLine("HTTP/1.1 600 Odd"),
  "status-not-number": statusLine("HTTP/1.1 2x0 OK"),
  "status-two-spaces": statusLine("HTTP/1.1  200 OK"),
  "status-control": statusLine("HTTP/1.1 200 O\u0000K"),
  "not-http": { bytes: "SSH-2.0-scripted\r\n", afterwards: "end" },
  "bare-lf": keep(`HTTP/1.1 200 OK\n${JSON_TYPE.replace("\r", "")}${LENGTH.replace("\r", "")}\n${BODY}`),
  "leading-empty-lines": keep(`\r\n\r\nHTTP/1.1 200 OK\r\n${JSON_TYPE}${LENGTH}\r\n${BODY}`),
  "switching-protocols": keep(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n\u0081\u0005hello",
  ),
  "no-content-with-body": status("204 No Content", "", BODY),
  "reset-content-with-body": status("205 Reset Content", "", BODY),
  "not-modified-with-body": status("304 Not Modified", "", BODY),
  "redirect-301": status("301 Moved Permanently", "location: http://127.0.0.1:9/v1/elsewhere\r\n", ""),
  "redirect-307": status("307 Temporary Redirect", "location: http://127.0.0.1:9/v1/elsewhere\r\n", ""),
  "redirect-308": status("308 Permanent Redirect", "location: //127.0.0.1:9/v1/elsewhere\r\n", ""),
  "two-lengths": withFields("content-length: 5\r\n"),
  "two-equal-lengths": withFields(LENGTH),
  "length-list": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: ${BODY.length}, ${BODY.length}\r\n\r\n${BODY}`),
  "length-negative": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: -1\r\n\r\n${BODY}`),
  "length-plus": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: +${BODY.length}\r\n\r\n${BODY}`),
  "length-hex": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: 0x${SIZE}\r\n\r\n${BODY}`),
  "length-huge": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: 99999999999999999999\r\n\r\n${BODY}`),
  "length-too-long": {
    bytes: `HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: ${BODY.length + 9}\r\n\r\n${BODY}`,
    afterwards: "end",
  },
  "length-too-short": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: ${BODY.length - 9}\r\n\r\n${BODY}`),
  "length-and-coding": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}${LENGTH}${CHUNKED}\r\n${SIZE}\r\n${BODY}\r\n0\r\n\r\n`),
  "coding-gzip-chunked": keep(
    `HTTP/1.1 200 OK\r\n${JSON_TYPE}transfer-encoding: gzip, chunked\r\n\r\n${SIZE}\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  "coding-identity": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}transfer-encoding: identity\r\n\r\n${BODY}`),
  "coding-twice": keep(`HTTP/1.1 200 OK\r\n${JSON_TYPE}${CHUNKED}${CHUNKED}\r\n${SIZE}\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-size-text": chunked(`xyz\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-size-negative": chunked(`-5\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-size-0x": chunked(`0x${SIZE}\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-size-huge": chunked(`fffffffffffffffff\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-size-empty": chunked(`\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-size-lf": chunked(`${SIZE}\n${BODY}\r\n0\r\n\r\n`),
  "chunk-end-missing": chunked(`${SIZE}\r\n${BODY}0\r\n\r\n`),
  "chunk-extension": chunked(`${SIZE};a=b\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-extension-nul": chunked(`${SIZE};a=\u0000\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-extension-long": chunked(`${SIZE};${"a".repeat(100_000)}\r\n${BODY}\r\n0\r\n\r\n`),
  "chunk-last-missing": {
    bytes: `HTTP/1.1 200 OK\r\n${JSON_TYPE}${CHUNKED}\r\n${SIZE}\r\n${BODY}\r\n`,
    afterwards: "end",
  },
  "trailer-fields": chunked(`${SIZE}\r\n${BODY}\r\n0\r\nx-checksum: 1\r\n\r\n`),
  "trailer-framing": chunked(`${SIZE}\r\n${BODY}\r\n0\r\ncontent-length: 3\r\n\r\n`),
  "trailer-nul": chunked(`${SIZE}\r\n${BODY}\r\n0\r\nx-a: \u0000\r\n\r\n`),
  "trailer-bomb": chunked(`${SIZE}\r\n${BODY}\r\n0\r\n${"x-a: b\r\n".repeat(50_000)}\r\n`),
  "nul-in-name": withFields("x-\u0000a: 1\r\n"),
  "nul-in-value": withFields("x-a: \u0000\r\n"),
  "cr-in-value": withFields("x-a: b\rc\r\n"),
  "lf-in-value": withFields("x-a: b\nc: d\r\n"),
  "space-before-colon": withFields("x-a : 1\r\n"),
  "no-colon": withFields("x-a\r\n"),
  "empty-name": withFields(": 1\r\n"),
  "folded-field": withFields("x-a: 1\r\n  2\r\n"),
  "many-fields": withFields("x-a: b\r\n".repeat(5000)),
  "long-field": withFields(`x-a: ${"b".repeat(1_000_000)}\r\n`),
  "trailer-header": withFields("trailer: content-length\r\n"),
  "connection-names-length": withFields("connection: content-length\r\n"),
  "connection-close-kept": withFields("connection: close\r\n"),
  "set-cookie": withFields("set-cookie: session=1; Domain=example.test\r\n"),
};

// Turns an answer into wire bytes once, at start: a call then costs one write of ready bytes.
import type { RenderedAnswer } from "./answers.ts";

/** Wire form of an answer. */
export interface WireAnswer {
  readonly head: Buffer;
  /** Framed parts: the body itself, or one chunk per part. */
  readonly parts: readonly Buffer[];
  /** Ends the body; empty when the length says it all. */
  readonly end: Buffer;
  /** Everything above in one buffer. */
  readonly whole: Buffer;
}

/** Headers that providers send beside the framing, in a usual number, since gateways read and forward them. */
const VENDOR_HEADERS = [
  "server: mock",
  "x-request-id: req_mock0001",
  "openai-processing-ms: 1",
  "openai-version: 2020-10-01",
  "x-ratelimit-limit-requests: 10000",
  "x-ratelimit-remaining-requests: 9999",
  "strict-transport-security: max-age=31536000",
];

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Renders an answer; streams are chunked, plain bodies have a length. */
export function renderWire(answer: RenderedAnswer, status = 200, headers: readonly string[] = []): WireAnswer {
  const isStream = answer.contentType === "text/event-stream";
  const bytes = answer.parts.reduce((sum, part) => sum + part.length, 0);
  const head = Buffer.from(
    [
      `HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}`,
      ...VENDOR_HEADERS,
      ...headers,
      `content-type: ${answer.contentType}${isStream ? "; charset=utf-8" : ""}`,
      isStream ? "transfer-encoding: chunked" : `content-length: ${bytes}`,
      "\r\n",
    ].join("\r\n"),
  );
  const parts = isStream ? answer.parts.map(renderChunk) : answer.parts;
  const end = Buffer.from(isStream ? "0\r\n\r\n" : "");
  return { head, parts, end, whole: Buffer.concat([head, ...parts, end]) };
}

/** One chunk of a chunked body (RFC 9112 §7.1). */
export function renderChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

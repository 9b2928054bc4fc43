// Answers that the front end gives by itself, before or instead of the engine. Their bodies come from the engine's callback, because
// only a dialect knows the envelope its clients understand.

import { STATUS_CODES } from "node:http";

import type { HeaderList } from "@dragoman/core";

/** Codes of the front end's own refusals; a subset of the error table. */
export type RefusalCode = "invalid_request" | "route_not_found" | "body_timeout" | "internal";

/** What is refused. Where no head could be read, `path` is the empty string and `headers` are empty. */
export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  /** Says what was wrong; holds nothing of the request. */
  readonly message: string;
  readonly path: string;
  readonly headers: HeaderList;
}

/** Headers and body of a refusal; the headers say nothing about framing, which is the front end's. */
export interface EncodedRefusal {
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** Puts a refusal into the envelope of the path's dialect, or a neutral one. */
export type EncodeRefusal = (refusal: Refusal) => EncodedRefusal;

/** An error of node:http's parser or connection checks. */
interface ParserError extends Error {
  readonly code?: string;
  /** A fixed sentence of the parser, without input. */
  readonly reason?: string;
}

/** What a `clientError` means for the client; null = the connection itself failed and nobody is there to be answered. */
export function refusalOfParserError(error: ParserError): Refusal | null {
  const code = error.code ?? "";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return { status: 408, code: "body_timeout", message: "The request did not arrive in time.", path: "", headers: [] };
  if (code === "HPE_HEADER_OVERFLOW")
    return { status: 431, code: "invalid_request", message: "The request's head is too large.", path: "", headers: [] };
  if (!code.startsWith("HPE_")) return null;
  const reason = error.reason === undefined || error.reason === "" ? "" : ` (${error.reason})`;
  return {
    status: 400,
    code: "invalid_request",
    message: `The request is not valid HTTP/1.1${reason}.`,
    path: "",
    headers: [],
  };
}

/** A whole answer as bytes, for connections whose request never became one; says `connection: close`. */
export function encodeRawAnswer(status: number, encoded: EncodedRefusal, date: string): Buffer {
  const { headers, body } = encoded;
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  head += `date: ${date}\r\ncontent-length: ${body.byteLength}\r\nconnection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

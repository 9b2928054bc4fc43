// Reads the syntax of one request head: where it ends, its request line and its fields. Strict on purpose (RFC 9112 §2.2, §3, §5):
// CRLF only, one space between the parts of the request line, no folded lines, no space before a colon, no controls. What the fields
// mean for framing is checked elsewhere, by the same code for every front end.

import { METHODS } from "node:http";

import type { HeaderList } from "@dragoman/core";

import type { RequestHead } from "../http/strict-request.ts";
import { CR, IS_FIELD_TEXT, LF } from "../wire/octets.ts";

/** What a scan has found so far. */
export type HeadVerdict = "incomplete" | "complete" | "malformed";

const REQUEST_LINE = /^([A-Z-]+) ([^ ]+) HTTP\/(\d)\.(\d)$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What node:http knows; the parser of the other front end refuses the rest as well. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

const SPACE_CODE = 0x20;
const TAB_CODE = 0x09;

/** Finds the end of a head in growing input; looks at each byte once, however the input is cut. */
export class HeadScan {
  /** Bytes from the head's start that were looked at; behind a complete head, its length. */
  length: number = 0;

  /** Forgets the last head. */
  begin(): void {
    this.length = 0;
  }

  /** Looks on in `bytes`, whose head starts at `start`. Octets that no head may hold are noticed before the head is complete. */
  scan(bytes: Uint8Array, start: number): HeadVerdict {
    const end = bytes.length;
    let at = start + this.length;
    for (; at < end; at += 1) {
      const octet = bytes[at] as number;
      if (IS_FIELD_TEXT[octet] === 1) continue;
      if (octet !== CR) return "malformed";
      if (at + 1 >= end) break;
      if (bytes[at + 1] !== LF) return "malformed";
      if (at + 2 >= end) break;
      if (bytes[at + 2] === CR) {
        if (at + 3 >= end) break;
        if (bytes[at + 3] !== LF) return "malformed";
        this.length = at + 4 - start;
        return "complete";
      }
      at += 1;
    }
    this.length = at - start;
    return "incomplete";
  }
}

/** Offset behind the empty lines before a request line, which RFC 9112 §2.2 asks servers to pass over. */
export function skipEmptyLines(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === CR && bytes[at + 1] === LF) at += 2;
  return at;
}

/** What a client's head says about the connection behind its exchange. */
export type Continuation = "kept" | "closed" | "closed-if-followed";

const CLOSE_OPTION = /(?:^|[ \t,])close(?:$|[ \t,])/i;
const UPGRADE_OPTION = /(?:^|[ \t,])upgrade(?:$|[ \t,])/i;

/**
 * Whether the connection ends with this exchange (RFC 9112 §9.6). An expectation without a body counts too: what the client will send
 * after it is not known, and node:http closes there as well. Behind a wish to upgrade, which is never granted, node:http drops what
 * came in the same read: two readings, so what follows before the answer ends the connection.
 */
export function readContinuation(headers: HeaderList, hasBody: boolean): Continuation {
  let continuation: Continuation = "kept";
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    if (name.length === 10 && name.toLowerCase() === "connection") {
      const options = headers[index + 1] as string;
      if (CLOSE_OPTION.test(options)) return "closed";
      if (UPGRADE_OPTION.test(options)) continuation = "closed-if-followed";
    } else if (name.length === 6 && !hasBody && name.toLowerCase() === "expect") return "closed";
  }
  return continuation;
}

/** Takes a complete head apart; `text` is latin1, without the CRLF CRLF at its end. Null = it is malformed. */
export function parseRequestHead(text: string): RequestHead | null {
  const lineEnd = text.indexOf("\r\n");
  const line = REQUEST_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd));
  if (line === null) return null;
  const method = line[1] as string;
  if (!KNOWN_METHODS.has(method)) return null;
  const headers = lineEnd < 0 ? [] : parseFields(text, lineEnd + 2);
  if (headers === null) return null;
  return { method, target: line[2] as string, versionMajor: Number(line[3]), versionMinor: Number(line[4]), headers };
}

function parseFields(text: string, start: number): string[] | null {
  const headers: string[] = [];
  for (let at = start; at < text.length;) {
    const found = text.indexOf("\r\n", at);
    const lineEnd = found < 0 ? text.length : found;
    const colon = text.indexOf(":", at);
    if (colon < 0 || colon > lineEnd) return null;
    const name = text.slice(at, colon);
    // Also refuses a folded line and a space before the colon (RFC 9112 §5.1, §5.2).
    if (!TOKEN.test(name)) return null;
    if (isFramingName(name) && text.slice(colon, lineEnd).includes("\t")) return null;
    headers.push(name, trimmed(text, colon + 1, lineEnd));
    at = lineEnd + 2;
  }
  return headers;
}

/**
 * Fields where a tab is refused: legal white space, but llhttp takes `chunked` with a tab behind it for another coding. Two readings,
 * so neither.
 */
function isFramingName(name: string): boolean {
  if (name.length === 14) return name.toLowerCase() === "content-length";
  return name.length === 17 && name.toLowerCase() === "transfer-encoding";
}

/** Without the optional white space around a value (RFC 9110 §5.5), which is SP and HTAB only: `trim` would take more. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE_CODE || code === TAB_CODE;
}

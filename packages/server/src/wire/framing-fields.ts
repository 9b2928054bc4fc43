// What the fields of a response head say about the length of the body and the life of the connection (RFC 9112 §6, §9). Invariant:
// whatever leaves room for a second reading is a fault, never a choice.

import { SPACE, TAB } from "./octets.ts";

/** How the body of an answer ends. */
export type BodyFraming = "none" | "length" | "chunked" | "until-close";

const MAX_LENGTH_DIGITS = 15;
/** A hop that obeys such a list drops the field, or takes it from the trailers, and frames anew (RFC 9110 §6.5.1, §7.6.1). */
const FRAMING_NAME = /(?:^|[ \t,])(?:content-length|transfer-encoding)(?:$|[ \t,])/i;
/** A kept socket is given up this long before the server said it would close it. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** Collects the facts of one head field by field; `conclude` makes the framing of them. */
export class FramingFields {
  framing: BodyFraming = "none";
  /** Declared length, -1 when there is none. */
  contentLength: number = -1;
  /** Whether the server keeps the connection open afterwards, as far as the head tells. */
  isPersistent: boolean = true;
  /** How long the server keeps an idle connection, from `keep-alive: timeout=`; infinite when it did not say. */
  keepAliveMs: number = Number.POSITIVE_INFINITY;
  #isChunked = false;
  #isEncoded = false;

  /** Forgets the last head. */
  begin(): void {
    this.framing = "none";
    this.contentLength = -1;
    this.isPersistent = true;
    this.keepAliveMs = Number.POSITIVE_INFINITY;
    this.#isChunked = false;
    this.#isEncoded = false;
  }

  /** Reads one field; returns the fault or null. The length of the name tells most fields apart at once. */
  note(source: Buffer, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): string | null {
    switch (nameEnd - nameStart) {
      case 7:
        if (!equalsIgnoringCase(source, nameStart, nameEnd, "trailer")) return null;
        return FRAMING_NAME.test(textOf(source, valueStart, valueEnd)) ? "a framing field announced as trailer" : null;
      case 10:
        if (equalsIgnoringCase(source, nameStart, nameEnd, "connection")) {
          const options = textOf(source, valueStart, valueEnd);
          if (FRAMING_NAME.test(options)) return "a framing field among the connection's options";
          if (/(?:^|[ \t,])close(?:$|[ \t,])/i.test(options)) this.isPersistent = false;
        } else if (equalsIgnoringCase(source, nameStart, nameEnd, "keep-alive")) {
          const match = /(?:^|[ \t,])timeout=(\d{1,6})(?:$|[ \t,])/i.exec(textOf(source, valueStart, valueEnd));
          if (match !== null) this.keepAliveMs = Number(match[1]) * 1000 - KEEP_ALIVE_MARGIN_MS;
        }
        return null;
      case 14:
        if (!equalsIgnoringCase(source, nameStart, nameEnd, "content-length")) return null;
        return hasTabBehind(source, valueEnd) ? "a malformed length" : this.#noteLength(source, valueStart, valueEnd);
      case 16:
        if (equalsIgnoringCase(source, nameStart, nameEnd, "content-encoding") && valueEnd > valueStart) {
          if (!equalsIgnoringCase(source, valueStart, valueEnd, "identity")) this.#isEncoded = true;
        }
        return null;
      case 17:
        if (!equalsIgnoringCase(source, nameStart, nameEnd, "transfer-encoding")) return null;
        if (this.#isChunked) return "two transfer codings";
        if (hasTabBehind(source, valueEnd)) return "a transfer coding other than chunked";
        this.#isChunked = true;
        return equalsIgnoringCase(source, valueStart, valueEnd, "chunked")
          ? null
          : "a transfer coding other than chunked";
      default:
        return null;
    }
  }

  #noteLength(source: Buffer, start: number, end: number): string | null {
    if (this.contentLength >= 0) return "two lengths";
    if (end === start || end - start > MAX_LENGTH_DIGITS) return "a malformed length";
    let length = 0;
    for (let at = start; at < end; at += 1) {
      const digit = (source[at] as number) - 0x30;
      if (digit < 0 || digit > 9) return "a malformed length";
      length = length * 10 + digit;
    }
    this.contentLength = length;
    return null;
  }

  /** Decides the framing by RFC 9112 §6.3; returns the fault or null. */
  conclude(status: number, isVersion10: boolean): string | null {
    const fault = this.#framingFault(status, isVersion10);
    if (fault !== null || status < 200) return fault;
    if (isVersion10) this.isPersistent = false;
    if (status === 204 || status === 304 || this.contentLength === 0) this.framing = "none";
    else if (this.#isChunked) this.framing = "chunked";
    else if (this.contentLength > 0) this.framing = "length";
    else {
      this.framing = "until-close";
      this.isPersistent = false;
    }
    return null;
  }

  #framingFault(status: number, isVersion10: boolean): string | null {
    const hasLength = this.contentLength >= 0;
    if (this.#isChunked && hasLength) return "both a length and a transfer coding";
    if (this.#isChunked && isVersion10) return "a transfer coding in HTTP/1.0";
    if (status < 200) {
      if (status === 101) return "an unasked 101";
      if (isVersion10) return "an interim answer in HTTP/1.0";
      // RFC 9110 §8.6 and RFC 9112 §6.1: neither field in a 1xx.
      return this.#isChunked || hasLength ? "an interim answer with a body" : null;
    }
    // A 304 may repeat the length of what it stands for, but nobody asked conditionally.
    if (status === 204 || status === 304) {
      if (this.#isChunked || this.contentLength > 0) return `a ${status} with a body`;
    }
    return this.#isEncoded ? "an encoded answer" : null;
  }
}

/** Legal white space, but llhttp takes `chunked` with a tab behind it for another coding: two readings, so neither. */
function hasTabBehind(source: Buffer, valueEnd: number): boolean {
  let at = valueEnd;
  while (source[at] === SPACE) at += 1;
  return source[at] === TAB;
}

/** Whether a trailer field is one that must not frame anything (RFC 9110 §6.5.1). */
export function isFramingName(source: Buffer, start: number, end: number): boolean {
  return (
    equalsIgnoringCase(source, start, end, "content-length") ||
    equalsIgnoringCase(source, start, end, "transfer-encoding")
  );
}

function textOf(source: Buffer, start: number, end: number): string {
  return source.toString("latin1", start, end);
}

/** `lower` consists of lower-case letters and hyphens; the bytes are known to be field text, in which no other octet folds to those. */
function equalsIgnoringCase(source: Buffer, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false;
  for (let index = 0; index < lower.length; index += 1) {
    if (((source[start + index] as number) | 0x20) !== lower.charCodeAt(index)) return false;
  }
  return true;
}

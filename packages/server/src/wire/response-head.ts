// Reads a response head, or a trailer section, byte by byte from any cut of the input, and decides the framing of what follows.
// Strict on purpose (RFC 9112 §2.2, §4, §5): CRLF only, no folded lines, no space before the colon, one length at most, no coding
// but chunked. Invariant: verdict and content depend on the bytes alone, never on how they were cut.

import { COLON, CR, IS_FIELD_TEXT, IS_TOKEN, LF, SPACE, TAB } from "./octets.ts";

/** Bounds of one head. */
export interface HeadLimits {
  readonly maxHeadBytes: number;
  readonly maxHeaderCount: number;
}

/** How the body of an answer ends. */
export type BodyFraming = "none" | "length" | "chunked" | "until-close";

const INCOMPLETE = -1;
const FAILED = -2;
const KEPT_CARRY_BYTES = 4 * 1024;
const MAX_LENGTH_DIGITS = 15;
/** A kept socket is given up this long before the server said it would close it. */
const KEEP_ALIVE_MARGIN_MS = 1000;
const VERSION_PREFIX = Buffer.from("HTTP/1.", "latin1");

/** One head at a time; `begin` makes it ready for the next. */
export class ResponseHeadReader {
  /** What broke the rules, or null. Sticky until `begin`. */
  failure: string | null = null;
  /** Whether the section's final empty line was read. */
  isComplete: boolean = false;
  status: number = 0;
  headers: string[] = [];
  framing: BodyFraming = "none";
  contentLength: number = -1;
  /** Whether the server keeps the connection open afterwards, as far as the head tells. */
  isPersistent: boolean = true;
  /** How long the server keeps an idle connection, from `keep-alive: timeout=`; infinite when it did not say. */
  keepAliveMs: number = Number.POSITIVE_INFINITY;

  readonly #limits: HeadLimits;
  /** Offsets of names and values from the start of the head: nameStart, nameEnd, valueStart, valueEnd per field. */
  readonly #marks: number[] = [];
  #count = 0;
  #isTrailer = false;
  #isStatusRead = false;
  #isVersion10 = false;
  #isChunked = false;
  #isEncoded = false;
  /** Bytes of an unfinished head, copied because the read buffer is reused. */
  #carry: Buffer = Buffer.alloc(0);
  #carried = 0;
  #lineStart = 0;
  #searched = 0;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
  }

  /** Forgets the last section. */
  begin(section: "head" | "trailer"): void {
    this.failure = null;
    this.isComplete = false;
    this.status = 0;
    this.framing = "none";
    this.contentLength = -1;
    if (section === "head") {
      this.headers = [];
      this.isPersistent = true;
      this.keepAliveMs = Number.POSITIVE_INFINITY;
    }
    this.#count = 0;
    this.#isTrailer = section === "trailer";
    this.#isStatusRead = this.#isTrailer;
    this.#isVersion10 = false;
    this.#isChunked = false;
    this.#isEncoded = false;
    if (this.#carry.length > KEPT_CARRY_BYTES) this.#carry = Buffer.alloc(0);
    this.#carried = 0;
    this.#lineStart = 0;
    this.#searched = 0;
  }

  /** Reads on; returns the offset behind the last byte that belongs to the section (`end` while it is unfinished). */
  feed(bytes: Buffer, start: number, end: number): number {
    const carried = this.#carried;
    const { maxHeadBytes } = this.#limits;
    let source = bytes;
    let base = start;
    let limit = Math.min(end, start + maxHeadBytes + 1);
    if (carried > 0) {
      limit = this.#append(bytes, start, Math.min(end, start + maxHeadBytes + 1 - carried));
      source = this.#carry;
      base = 0;
    }
    const sectionEnd = this.#scan(source, base, limit);
    if (sectionEnd === FAILED) return end;
    if (sectionEnd === INCOMPLETE) {
      if (limit - base > maxHeadBytes) this.#fail(`a head of more than ${maxHeadBytes} bytes`);
      else if (carried === 0) this.#append(bytes, start, limit);
      return end;
    }
    const length = sectionEnd - base;
    if (length > maxHeadBytes) {
      this.#fail(`a head of more than ${maxHeadBytes} bytes`);
      return end;
    }
    this.isComplete = true;
    if (!this.#isTrailer) this.#conclude(source, base);
    return start + length - carried;
  }

  #append(bytes: Buffer, start: number, end: number): number {
    const length = this.#carried + end - start;
    if (this.#carry.length < length) {
      const grown = Buffer.allocUnsafe(Math.max(1024, length, 2 * this.#carry.length));
      this.#carry.copy(grown, 0, 0, this.#carried);
      this.#carry = grown;
    }
    bytes.copy(this.#carry, this.#carried, start, end);
    this.#carried = length;
    return length;
  }

  #fail(reason: string): typeof FAILED {
    this.failure = reason;
    return FAILED;
  }

  /** Line by line; an unfinished field is looked at again only once its LF is there, which keeps drip-fed heads linear. */
  #scan(source: Buffer, base: number, limit: number): number {
    if (this.#isStatusRead && this.#searched > this.#lineStart) {
      let at = base + this.#searched;
      while (at < limit && source[at] !== LF) at += 1;
      if (at >= limit) {
        this.#searched = limit - base;
        return INCOMPLETE;
      }
    }
    let line = base + this.#lineStart;
    for (;;) {
      let next: number;
      if (!this.#isStatusRead) next = this.#statusLine(source, line, limit);
      else if (line < limit && source[line] === CR) {
        if (line + 1 < limit) return source[line + 1] === LF ? line + 2 : this.#fail("a CR without LF");
        next = INCOMPLETE;
      } else next = this.#fieldLine(source, base, line, limit);
      if (next === FAILED) return FAILED;
      if (next === INCOMPLETE) {
        this.#lineStart = line - base;
        this.#searched = limit - base;
        return INCOMPLETE;
      }
      line = next;
    }
  }

  /** RFC 9112 §4. The SP before an empty reason may be missing, as many servers leave it out. */
  #statusLine(source: Buffer, line: number, limit: number): number {
    const known = Math.min(limit - line, VERSION_PREFIX.length);
    for (let index = 0; index < known; index += 1) {
      if (source[line + index] !== VERSION_PREFIX[index]) return this.#fail("an answer that is not HTTP/1");
    }
    if (limit - line < 13) {
      for (let at = line; at < limit; at += 1) if (source[at] === LF) return this.#fail("a malformed status line");
      return INCOMPLETE;
    }
    const minor = source[line + 7];
    if ((minor !== 0x30 && minor !== 0x31) || source[line + 8] !== SPACE) {
      return this.#fail("an HTTP version other than 1.1 and 1.0");
    }
    let status = 0;
    for (let at = line + 9; at < line + 12; at += 1) {
      const digit = (source[at] as number) - 0x30;
      if (digit < 0 || digit > 9) return this.#fail("a malformed status code");
      status = status * 10 + digit;
    }
    // RFC 9110 §15: values outside 100..599 are invalid.
    if (status < 100 || status > 599) return this.#fail("a status code outside 100 to 599");
    let at = line + 12;
    if (source[at] === SPACE) while (at < limit && IS_FIELD_TEXT[source[at] as number] === 1) at += 1;
    const next = this.#lineEnd(source, at, limit, "a malformed status line");
    if (next < 0) return next;
    this.status = status;
    this.#isVersion10 = minor === 0x30;
    this.#isStatusRead = true;
    return next;
  }

  #lineEnd(source: Buffer, at: number, limit: number, reason: string): number {
    if (at >= limit) return INCOMPLETE;
    if (source[at] !== CR) return this.#fail(reason);
    if (at + 1 >= limit) return INCOMPLETE;
    return source[at + 1] === LF ? at + 2 : this.#fail("a CR without LF");
  }

  #fieldLine(source: Buffer, base: number, line: number, limit: number): number {
    let at = line;
    while (at < limit && IS_TOKEN[source[at] as number] === 1) at += 1;
    if (at >= limit) return INCOMPLETE;
    if (source[at] !== COLON || at === line) return this.#fail("a malformed field name");
    const nameEnd = at;
    at += 1;
    while (at < limit && (source[at] === SPACE || source[at] === TAB)) at += 1;
    const valueStart = at;
    while (at < limit && IS_FIELD_TEXT[source[at] as number] === 1) at += 1;
    const next = this.#lineEnd(source, at, limit, "a control character in a field value");
    if (next < 0) return next;
    let valueEnd = at;
    while (valueEnd > valueStart && (source[valueEnd - 1] === SPACE || source[valueEnd - 1] === TAB)) valueEnd -= 1;
    const mark = this.#count * 4;
    this.#count += 1;
    if (this.#count > this.#limits.maxHeaderCount) {
      return this.#fail(`more than ${this.#limits.maxHeaderCount} fields`);
    }
    if (this.#isTrailer) return next;
    this.#marks[mark] = line - base;
    this.#marks[mark + 1] = nameEnd - base;
    this.#marks[mark + 2] = valueStart - base;
    this.#marks[mark + 3] = valueEnd - base;
    return this.#note(source, line, nameEnd, valueStart, valueEnd) ? next : FAILED;
  }

  /** Reads the fields that decide framing and persistence; the length of the name tells most others apart at once. */
  #note(source: Buffer, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): boolean {
    switch (nameEnd - nameStart) {
      case 10:
        if (equalsIgnoringCase(source, nameStart, nameEnd, "connection")) {
          if (/(?:^|[ \t,])close(?:$|[ \t,])/i.test(source.toString("latin1", valueStart, valueEnd))) this.isPersistent = false;
        } else if (equalsIgnoringCase(source, nameStart, nameEnd, "keep-alive")) {
          const seconds = /(?:^|[ \t,])timeout=(\d{1,6})(?:$|[ \t,])/i.exec(source.toString("latin1", valueStart, valueEnd))?.[1];
          if (seconds !== undefined) this.keepAliveMs = Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS;
        }
        return true;
      case 14:
        return !equalsIgnoringCase(source, nameStart, nameEnd, "content-length") || this.#noteLength(source, valueStart, valueEnd);
      case 16:
        if (equalsIgnoringCase(source, nameStart, nameEnd, "content-encoding") && valueEnd > valueStart) {
          if (!equalsIgnoringCase(source, valueStart, valueEnd, "identity")) this.#isEncoded = true;
        }
        return true;
      case 17:
        if (equalsIgnoringCase(source, nameStart, nameEnd, "transfer-encoding")) {
          if (this.#isChunked) this.#fail("two transfer codings");
          else if (!equalsIgnoringCase(source, valueStart, valueEnd, "chunked")) this.#fail("a transfer coding other than chunked");
          this.#isChunked = true;
        }
        return this.failure === null;
      default:
        return true;
    }
  }

  #noteLength(source: Buffer, start: number, end: number): boolean {
    if (this.contentLength >= 0) this.#fail("two lengths");
    else if (end === start || end - start > MAX_LENGTH_DIGITS) this.#fail("a malformed length");
    let length = 0;
    for (let at = start; at < end; at += 1) {
      const digit = (source[at] as number) - 0x30;
      if (digit < 0 || digit > 9) this.#fail("a malformed length");
      length = length * 10 + digit;
    }
    this.contentLength = length;
    return this.failure === null;
  }

  /** RFC 9112 §6.3, with every case refused that leaves room for a second reading. */
  #conclude(source: Buffer, base: number): void {
    const hasLength = this.contentLength >= 0;
    this.failure = this.#framingFault(hasLength);
    if (this.failure !== null || this.status < 200) return;
    if (this.#isVersion10) this.isPersistent = false;
    if (this.status === 204 || this.status === 304 || this.contentLength === 0) this.framing = "none";
    else if (this.#isChunked) this.framing = "chunked";
    else if (hasLength) this.framing = "length";
    else {
      this.framing = "until-close";
      this.isPersistent = false;
    }
    this.#slice(source, base);
  }

  #framingFault(hasLength: boolean): string | null {
    const { status } = this;
    if (this.#isChunked && hasLength) return "both a length and a transfer coding";
    if (this.#isChunked && this.#isVersion10) return "a transfer coding in HTTP/1.0";
    if (status < 200) {
      if (status === 101) return "an unasked 101";
      if (this.#isVersion10) return "an interim answer in HTTP/1.0";
      // RFC 9110 §8.6 and RFC 9112 §6.1: neither field in a 1xx.
      return this.#isChunked || hasLength ? "an interim answer with a body" : null;
    }
    // A 304 may repeat the length of what it stands for, but nobody asked conditionally.
    if (status === 204 || status === 304) {
      if (this.#isChunked || this.contentLength > 0) return `a ${status} with a body`;
    }
    return this.#isEncoded ? "an encoded answer" : null;
  }

  #slice(source: Buffer, base: number): void {
    const headers: string[] = [];
    const marks = this.#marks;
    if (this.#count > 0) {
      const first = marks[0] as number;
      const text = source.toString("latin1", base + first, base + (marks[this.#count * 4 - 1] as number));
      for (let mark = 0; mark < this.#count * 4; mark += 2) {
        headers.push(text.slice((marks[mark] as number) - first, (marks[mark + 1] as number) - first));
      }
    }
    this.headers = headers;
  }
}

/** `lower` consists of lower-case letters and hyphens; the bytes are known to be field text, in which no other octet folds to those. */
function equalsIgnoringCase(source: Buffer, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false;
  for (let index = 0; index < lower.length; index += 1) {
    if (((source[start + index] as number) | 0x20) !== lower.charCodeAt(index)) return false;
  }
  return true;
}

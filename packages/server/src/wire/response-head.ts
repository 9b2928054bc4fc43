// Reads the syntax of a response head, or of a trailer section, from any cut of the input. Strict on purpose (RFC 9112 §2.2, §4,
// §5): CRLF only, no folded lines, no space before the colon, no controls. Invariants: verdict and content depend on the bytes
// alone, never on how they were cut; a byte is looked at once, so drip-fed heads cost linear time.

import { FramingFields, isFramingName } from "./framing-fields.ts";
import { COLON, CR, IS_FIELD_TEXT, IS_TOKEN, LF, SPACE, TAB } from "./octets.ts";

/** Bounds of one head. */
export interface HeadLimits {
  readonly maxHeadBytes: number;
  readonly maxHeaderCount: number;
}

const INCOMPLETE = -1;
const FAILED = -2;
const KEPT_CARRY_BYTES = 4 * 1024;
const VERSION_PREFIX = "HTTP/1.";

/** One head at a time; `begin` makes it ready for the next. */
export class ResponseHeadReader {
  /** What broke the rules, or null. Sticky until `begin`. */
  failure: string | null = null;
  /** Whether the section's final empty line was read. */
  isComplete: boolean = false;
  status: number = 0;
  headers: string[] = [];
  /** What the fields say about the body and the connection. */
  readonly fields: FramingFields = new FramingFields();

  readonly #limits: HeadLimits;
  /** Offsets of names and values from the start of the head: nameStart, nameEnd, valueStart, valueEnd per field. */
  readonly #marks: number[] = [];
  #count = 0;
  #isTrailer = false;
  #isStatusRead = false;
  #isVersion10 = false;
  /** Bytes of an unfinished head, copied because the read buffer is reused. */
  #carry: Buffer = Buffer.alloc(0);
  #carried = 0;
  /** Where the unfinished line starts, and how far it was read. */
  #lineStart = 0;
  #at = 0;
  #nameEnd = -1;
  #valueStart = -1;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
  }

  /** Forgets the last section. */
  begin(section: "head" | "trailer"): void {
    this.failure = null;
    this.isComplete = false;
    if (section === "head") {
      this.status = 0;
      this.headers = [];
      this.fields.begin();
    }
    this.#count = 0;
    this.#isTrailer = section === "trailer";
    this.#isStatusRead = this.#isTrailer;
    if (this.#carry.length > KEPT_CARRY_BYTES) this.#carry = Buffer.alloc(0);
    this.#carried = 0;
    this.#startLine(0);
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
    if (!this.#isTrailer) {
      this.failure = this.fields.conclude(this.status, this.#isVersion10);
      if (this.failure === null && this.status >= 200) this.#slice(source, base);
    }
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

  #startLine(offset: number): void {
    this.#lineStart = offset;
    this.#at = offset;
    this.#nameEnd = -1;
    this.#valueStart = -1;
  }

  #scan(source: Buffer, base: number, limit: number): number {
    for (;;) {
      const line = base + this.#lineStart;
      let next: number;
      if (!this.#isStatusRead) next = this.#statusLine(source, base, line, limit);
      else if (line < limit && source[line] === CR) {
        if (line + 1 >= limit) return INCOMPLETE;
        return source[line + 1] === LF ? line + 2 : this.#fail("a CR without LF");
      } else next = this.#fieldLine(source, base, line, limit);
      if (next < 0) return next;
      this.#startLine(next - base);
    }
  }

  /** RFC 9112 §4. The SP before an empty reason may be missing, as many servers leave it out. */
  #statusLine(source: Buffer, base: number, line: number, limit: number): number {
    for (let index = 0; index < 12 && line + index < limit; index += 1) {
      const fault = statusLineFault(index, source[line + index] as number);
      if (fault !== null) return this.#fail(fault);
    }
    if (limit - line <= 12) return INCOMPLETE;
    const status = Number(source.toString("latin1", line + 9, line + 12));
    // RFC 9110 §15: values outside 100..599 are invalid.
    if (status < 100 || status > 599) return this.#fail("a status code outside 100 to 599");
    let at = Math.max(line + 12, base + this.#at);
    if (source[line + 12] === SPACE) while (at < limit && IS_FIELD_TEXT[source[at] as number] === 1) at += 1;
    this.#at = at - base;
    const next = this.#lineEnd(source, at, limit, "a malformed status line");
    if (next < 0) return next;
    this.status = status;
    this.#isVersion10 = source[line + 7] === 0x30;
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
    let at = base + this.#at;
    if (this.#nameEnd < 0) {
      while (at < limit && IS_TOKEN[source[at] as number] === 1) at += 1;
      if (at >= limit) return this.#stopAt(at - base);
      if (source[at] !== COLON || at === line) return this.#fail("a malformed field name");
      this.#nameEnd = at - base;
      at += 1;
    }
    if (this.#valueStart < 0) {
      while (at < limit && (source[at] === SPACE || source[at] === TAB)) at += 1;
      if (at >= limit) return this.#stopAt(at - base);
      this.#valueStart = at - base;
    }
    while (at < limit && IS_FIELD_TEXT[source[at] as number] === 1) at += 1;
    this.#at = at - base;
    const next = this.#lineEnd(source, at, limit, "a control character in a field value");
    if (next < 0) return next;
    let valueEnd = at;
    const valueStart = base + this.#valueStart;
    while (valueEnd > valueStart && (source[valueEnd - 1] === SPACE || source[valueEnd - 1] === TAB)) valueEnd -= 1;
    return this.#endField(source, base, line, valueEnd) ? next : FAILED;
  }

  #stopAt(offset: number): typeof INCOMPLETE {
    this.#at = offset;
    return INCOMPLETE;
  }

  #endField(source: Buffer, base: number, line: number, valueEnd: number): boolean {
    const { maxHeaderCount } = this.#limits;
    const mark = this.#count * 4;
    this.#count += 1;
    if (this.#count > maxHeaderCount) this.#fail(`more than ${maxHeaderCount} fields`);
    if (this.#isTrailer && isFramingName(source, line, base + this.#nameEnd)) this.#fail("a framing field");
    if (this.#isTrailer || this.failure !== null) return this.failure === null;
    this.#marks[mark] = line - base;
    this.#marks[mark + 1] = this.#nameEnd;
    this.#marks[mark + 2] = this.#valueStart;
    this.#marks[mark + 3] = valueEnd - base;
    this.failure = this.fields.note(source, line, base + this.#nameEnd, base + this.#valueStart, valueEnd);
    return this.failure === null;
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

function statusLineFault(index: number, octet: number): string | null {
  if (index < 7) return octet === VERSION_PREFIX.charCodeAt(index) ? null : "no HTTP/1 status line";
  if (index < 9) {
    const isVersion = index === 8 ? octet === SPACE : octet === 0x30 || octet === 0x31;
    return isVersion ? null : "an HTTP version other than 1.1 and 1.0";
  }
  return octet >= 0x30 && octet <= 0x39 ? null : "a malformed status code";
}

// Finds one member of a JSON object that passes by in chunks, without keeping the rest. Knows strings and nesting exactly and the
// grammar inside only loosely: the text is forwarded whatever it says, and the value found is parsed by who wants it.

import { SpillBuffer } from "./spill-buffer.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Deeper texts count as broken; a reader of JSON would refuse them as well. */
const MAX_DEPTH = 1024;
/** A UTF-16 code unit takes at most the six bytes of `\uXXXX` (RFC 8259 §7). */
const MAX_BYTES_PER_UNIT = 6;

/** What matters below the outermost value: quotes and brackets. Read per byte of large answers, hence a table. */
const IS_NESTING: Uint8Array = new Uint8Array(256);
for (const byte of [QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE]) IS_NESTING[byte] = 1;

/** What a {@link MemberFinder} looks for. */
export interface MemberFinderOptions {
  /** The name, decoded. */
  readonly name: string;
  /** Longest value that is kept, in bytes. */
  readonly maxBytes: number;
}

/** What a {@link MemberFinder} found. */
export interface FoundMember {
  /** One value was closed, and only white space followed it. */
  readonly complete: boolean;
  /** The raw bytes of the member's last occurrence; null when there was none, or it is longer than the bound. */
  readonly value: Uint8Array | null;
}

/** Where the text is, outside of strings. `after` = the outermost value is closed; `broken` = nothing can be said any more. */
type Phase = "before" | "inside" | "scalar" | "after" | "broken";

/** What the outermost object expects next. */
type Slot = "name" | "colon" | "value";

/** What the current string or value of the outermost object is captured for. */
type Capture = "none" | "name" | "value";

/** Looks for one member of the outermost object. Names in nested objects do not count; the last occurrence wins. */
export class MemberFinder {
  readonly #name: string;
  readonly #nameBytes: Uint8Array;
  readonly #maxBytes: number;
  readonly #captured = new SpillBuffer();
  /** Open containers, outermost first: true for an object. */
  readonly #isObject: boolean[] = [];
  #phase: Phase = "before";
  #isInString = false;
  #isEscaped = false;
  #slot: Slot = "name";
  #isMatch = false;
  #capture: Capture = "none";
  #captureStart = 0;
  #isOverlong = false;
  #value: Uint8Array | null = null;

  constructor(options: MemberFinderOptions) {
    this.#name = options.name;
    this.#nameBytes = Buffer.from(options.name, "utf8");
    this.#maxBytes = options.maxBytes;
  }

  /** Reads the next chunk, which need stay unchanged only during the call. Linear in its bytes. */
  push(chunk: Uint8Array): void {
    this.#captureStart = 0;
    for (let at = 0; at < chunk.length && this.#phase !== "broken"; at++) {
      if (this.#isInString) at = this.#readString(chunk, at);
      else if (this.#isObject.length > 1) at = this.#readNested(chunk, at);
      else this.#readByte(chunk, at);
    }
    this.#keep(chunk, chunk.length);
  }

  /** The text ended. */
  finish(): FoundMember {
    // A number has no end of its own, so an outermost one ends with the text.
    const complete = this.#phase === "after" || this.#phase === "scalar";
    return { complete: complete && !this.#isInString, value: this.#value };
  }

  /** Reads on in a string until it or the chunk ends; returns the last offset read. */
  #readString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#endString(chunk, at);
        return at;
      }
    }
    return chunk.length;
  }

  /** Reads on below the outermost value to the next quote or bracket; returns the last offset read. */
  #readNested(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (IS_NESTING[chunk[at] as number] === 0) continue;
      this.#readByte(chunk, at);
      return at;
    }
    return chunk.length;
  }

  #readByte(chunk: Uint8Array, at: number): void {
    const byte = chunk[at] as number;
    if (isWhiteSpace(byte)) {
      if (this.#phase === "scalar") this.#phase = "after";
      this.#endScalar(chunk, at);
      return;
    }
    if (this.#phase === "after") {
      this.#phase = "broken";
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#beginString(at);
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#open(byte === OPEN_BRACE, at);
        return;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#close(byte === CLOSE_BRACE, chunk, at);
        return;
      case COMMA:
        this.#endMember(chunk, at);
        return;
      case COLON:
        if (this.#isOutermostObject() && this.#slot === "colon") this.#slot = "value";
        return;
      default:
        this.#beginScalar(at);
    }
  }

  #beginString(at: number): void {
    this.#isInString = true;
    if (this.#phase === "before") this.#phase = "inside";
    if (!this.#isOutermostObject()) return;
    if (this.#slot === "name") this.#beginCapture("name", at);
    else if (this.#isValueStart()) this.#beginCapture("value", at);
  }

  #endString(chunk: Uint8Array, at: number): void {
    this.#isInString = false;
    if (this.#isObject.length === 0) {
      this.#phase = "after";
    } else if (this.#isObject.length === 1 && this.#capture !== "none") {
      const wasName = this.#capture === "name";
      this.#endCapture(chunk, at + 1);
      if (wasName) this.#slot = "colon";
    }
  }

  #open(isObject: boolean, at: number): void {
    if (this.#phase === "scalar" || this.#isObject.length === MAX_DEPTH) {
      this.#phase = "broken";
      return;
    }
    this.#phase = "inside";
    if (this.#isValueStart()) this.#beginCapture("value", at);
    this.#isObject.push(isObject);
  }

  #close(isObject: boolean, chunk: Uint8Array, at: number): void {
    if (this.#isObject.length === 1) this.#endScalar(chunk, at);
    if (this.#isObject.pop() !== isObject) {
      this.#phase = "broken";
      return;
    }
    if (this.#isObject.length === 0) this.#phase = "after";
    else if (this.#isObject.length === 1 && this.#capture === "value") this.#endCapture(chunk, at + 1);
  }

  #endMember(chunk: Uint8Array, at: number): void {
    if (this.#isObject.length === 0) {
      this.#phase = "broken";
      return;
    }
    if (!this.#isOutermostObject()) return;
    this.#endScalar(chunk, at);
    this.#slot = "name";
    this.#isMatch = false;
  }

  #beginScalar(at: number): void {
    if (this.#phase === "before") this.#phase = "scalar";
    if (this.#isValueStart()) this.#beginCapture("value", at);
  }

  /** Ends a number or literal of the outermost object; strings and containers end by themselves. */
  #endScalar(chunk: Uint8Array, at: number): void {
    if (this.#capture === "value" && this.#isObject.length === 1) this.#endCapture(chunk, at);
  }

  #isOutermostObject(): boolean {
    return this.#isObject.length === 1 && this.#isObject[0] === true;
  }

  /** Whether what begins here is the value of the member looked for. */
  #isValueStart(): boolean {
    return this.#isMatch && this.#capture === "none" && this.#slot === "value" && this.#isOutermostObject();
  }

  #beginCapture(capture: Capture, at: number): void {
    this.#capture = capture;
    this.#captureStart = at;
    this.#isOverlong = false;
    this.#captured.clear();
  }

  /** Keeps the bytes of this chunk that belong to the capture, as far as they fit its bound. */
  #keep(chunk: Uint8Array, end: number): void {
    if (this.#capture === "none" || this.#isOverlong) return;
    const maxBytes = this.#capture === "value" ? this.#maxBytes : this.#name.length * MAX_BYTES_PER_UNIT + 2;
    if (this.#captured.length + end - this.#captureStart > maxBytes) {
      this.#isOverlong = true;
      this.#captured.clear();
      return;
    }
    this.#captured.append(chunk, this.#captureStart, end);
  }

  #endCapture(chunk: Uint8Array, end: number): void {
    this.#keep(chunk, end);
    const bytes = this.#captured.bytes.subarray(0, this.#captured.length);
    if (this.#capture === "name") {
      this.#isMatch = !this.#isOverlong && this.#isName(bytes);
    } else {
      this.#value = this.#isOverlong ? null : Uint8Array.from(bytes);
      // One value a member: what else stands before the comma is not JSON and not looked at.
      this.#isMatch = false;
    }
    this.#capture = "none";
  }

  /** Whether a string token is the name looked for, however it is spelled. */
  #isName(token: Uint8Array): boolean {
    const inside = token.subarray(1, -1);
    if (!inside.includes(BACKSLASH)) return Buffer.compare(inside, this.#nameBytes) === 0;
    try {
      return JSON.parse(Buffer.from(token).toString("utf8")) === this.#name;
    } catch {
      // A token with a bad escape is no name at all; the text around it is judged elsewhere.
      return false;
    }
  }
}

/** RFC 8259 §2. */
function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

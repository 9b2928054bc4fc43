// The framing bytes of a chunked body (RFC 9112 §7.1): sizes, extensions and the line ends around the data, from any cut of the
// input. The data itself is the caller's to deliver. Strict: CRLF only, at most eight digits, no white space, extensions as plain
// `;name` or `;name=token` within a bound and without effect.

import { CR, EQUALS, HEX_VALUE, IS_TOKEN, LF, SEMICOLON } from "./octets.ts";

/** Most digits of a chunk size. */
const MAX_SIZE_DIGITS = 8;
/** Most bytes of one chunk's extensions. */
const MAX_CHUNK_EXTENSION_BYTES = 256;

const SIZE = 0;
const EXTENSION_NAME = 1;
const EXTENSION_VALUE = 2;
const SIZE_LF = 3;
const DATA = 4;
const DATA_LF = 5;

/** Reads framing up to the next data or to the last chunk. */
export class ChunkFraming {
  /** What broke the rules, or null. Sticky until `begin`. */
  failure: string | null = null;
  /** Data bytes of the current chunk that the caller still has to take. */
  remaining: number = 0;
  /** Whether the size line of the last chunk was read; a trailer section follows. */
  isLast: boolean = false;

  #state = SIZE;
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;
  #partBytes = 0;

  /** Forgets the last body. */
  begin(): void {
    this.failure = null;
    this.remaining = 0;
    this.isLast = false;
    this.#state = SIZE;
    this.#startSize();
  }

  #startSize(): void {
    this.#size = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
    this.#partBytes = 0;
  }

  /** Reads on while `remaining` is 0; returns the offset behind the framing bytes. */
  feed(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const octet = bytes[at] as number;
      at += 1;
      switch (this.#state) {
        case SIZE:
          this.#readSize(octet);
          break;
        case EXTENSION_NAME:
        case EXTENSION_VALUE:
          this.#readExtension(octet);
          break;
        case SIZE_LF:
          if (octet !== LF) this.failure = "a chunk size line without CRLF";
          else if (this.#size === 0) this.isLast = true;
          else this.remaining = this.#size;
          this.#state = DATA;
          if (this.failure === null) return at;
          break;
        case DATA:
          if (octet !== CR) this.failure = "chunk data longer than its size";
          this.#state = DATA_LF;
          break;
        default:
          if (octet !== LF) this.failure = "chunk data without CRLF";
          this.#state = SIZE;
          this.#startSize();
      }
      if (this.failure !== null) return end;
    }
    return at;
  }

  #readSize(octet: number): void {
    const value = HEX_VALUE[octet] as number;
    if (value < 16) {
      this.#digits += 1;
      if (this.#digits > MAX_SIZE_DIGITS) this.failure = "a chunk size of more than eight digits";
      this.#size = this.#size * 16 + value;
    } else if (this.#digits === 0) this.failure = "a malformed chunk size";
    else if (octet === CR) this.#state = SIZE_LF;
    else if (octet === SEMICOLON) this.#state = EXTENSION_NAME;
    else this.failure = "a malformed chunk size";
  }

  #readExtension(octet: number): void {
    this.#extensionBytes += 1;
    if (this.#extensionBytes > MAX_CHUNK_EXTENSION_BYTES) {
      this.failure = "a chunk extension beyond its bound";
      return;
    }
    if (IS_TOKEN[octet] === 1) {
      this.#partBytes += 1;
      return;
    }
    if (this.#partBytes === 0) this.failure = "a malformed chunk extension";
    else if (octet === CR) this.#state = SIZE_LF;
    else if (octet === SEMICOLON) this.#state = EXTENSION_NAME;
    else if (octet === EQUALS && this.#state === EXTENSION_NAME) this.#state = EXTENSION_VALUE;
    else this.failure = "a malformed chunk extension";
    this.#partBytes = 0;
  }
}

// Output as a list of byte segments: own glue plus slices of source buffers, so that large values go from the client's body to the
// provider without a copy. Glue is written into bytes that nobody else holds, though small chunks share a slab of Node's: a buffer of
// its own costs 0.5 µs more (Node 24; 2 µs on Node 20). Slices keep the identity of their source.

import { encodeString } from "./json-string.ts";
import type { ByteSlice } from "./tape.ts";

/** Bytes in pieces, in order. Pieces that are slices live as long as the buffer they were cut from. */
export interface Segments {
  readonly parts: readonly Uint8Array[];
  /** Sum of the pieces' lengths. */
  readonly byteLength: number;
}

/**
 * Slices shorter than this are copied into the glue. Ten slices written to a null device took 3.2 µs
 * kept at any size, and copied 2.7 µs at 256 bytes, 3.5 at 512, 5.8 at 1024 (bundled, Node 20, busy 2-core virtual machine;
 * `segments.bench.ts` compares the same two ways). The kernel's cost per piece on a real socket is not in it.
 */
export const COALESCE_BELOW_BYTES = 512;

const FIRST_CHUNK_BYTES = 1024;
const MAX_CHUNK_BYTES = 65_536;
/** Texts and slices up to this length are written byte by byte, without a call into the engine's encoder. */
const SHORT_TEXT = 24;
const QUOTE = 0x22;

/** Options of a {@link SegmentWriter}. */
export interface SegmentWriterOptions {
  /** Slices shorter than this are copied; default {@link COALESCE_BELOW_BYTES}. */
  readonly coalesceBelowBytes?: number;
  /** Size of the first glue chunk; default 1024. */
  readonly firstChunkBytes?: number;
}

/** Writes JSON piece by piece. It checks nothing: what is written must add up to valid JSON. One writer makes one output. */
export class SegmentWriter {
  readonly #coalesceBelowBytes: number;
  readonly #parts: Uint8Array[];
  #chunk: Buffer;
  /** Where the glue begins that is in the chunk but not yet in the parts. */
  #mark: number;
  #at: number;
  #byteLength: number;

  constructor(options?: SegmentWriterOptions) {
    this.#coalesceBelowBytes = options?.coalesceBelowBytes ?? COALESCE_BELOW_BYTES;
    this.#parts = [];
    this.#chunk = Buffer.allocUnsafe(options?.firstChunkBytes ?? FIRST_CHUNK_BYTES);
    this.#mark = 0;
    this.#at = 0;
    this.#byteLength = 0;
  }

  /** Writes text as it is, in UTF-8: punctuation, names, ready JSON. */
  glue(text: string): this {
    if (text.length <= SHORT_TEXT) {
      this.#reserve(text.length * 3);
      if (this.#writeAscii(text)) return this;
    }
    // UTF-8 takes at most 3 bytes a code unit; beyond a chunk's size the exact length is worth counting.
    const most = text.length * 3;
    this.#reserve(most <= FIRST_CHUNK_BYTES ? most : Buffer.byteLength(text));
    this.#at += this.#chunk.write(text, this.#at, "utf8");
    return this;
  }

  /** Writes a string as a quoted token. */
  string(value: string): this {
    return this.glue(encodeString(value));
  }

  /** Writes a string token: given the inside of one, between quotes; given a string, encoded. */
  token(text: ByteSlice | string): this {
    if (typeof text === "string") return this.string(text);
    this.#byte(QUOTE);
    this.raw(text);
    this.#byte(QUOTE);
    return this;
  }

  /** Writes the inside of a string token without quotes: to build one token from pieces. */
  inside(text: ByteSlice | string): this {
    return typeof text === "string" ? this.glue(encodeString(text).slice(1, -1)) : this.raw(text);
  }

  /** Writes a slice as it is. */
  raw(slice: ByteSlice): this {
    const { bytes, start, end } = slice;
    if (end - start < this.#coalesceBelowBytes) this.#copy(bytes, start, end);
    else this.#push(bytes.subarray(start, end));
    return this;
  }

  /** Writes bytes as they are; the array must not change until the output was consumed. */
  bytes(bytes: Uint8Array): this {
    if (bytes.length < this.#coalesceBelowBytes) this.#copy(bytes, 0, bytes.length);
    else this.#push(bytes);
    return this;
  }

  /** Writes a finite number in its shortest JSON form; anything else is written as null, as JSON.stringify does. */
  number(value: number): this {
    return this.glue(JSON.stringify(value));
  }

  /** The output. The writer must not be used after. */
  finish(): Segments {
    this.#flush();
    return { parts: this.#parts, byteLength: this.#byteLength };
  }

  #writeAscii(text: string): boolean {
    const chunk = this.#chunk;
    const at = this.#at;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return false;
      chunk[at + i] = unit;
    }
    this.#at = at + text.length;
    return true;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#chunk[this.#at++] = byte;
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length);
    const chunk = this.#chunk;
    let at = this.#at;
    if (length <= SHORT_TEXT) for (let i = start; i < end; i++) chunk[at++] = bytes[i] as number;
    else chunk.set(bytes.subarray(start, end), at);
    this.#at += length;
  }

  #push(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#flush();
    this.#parts.push(part);
    this.#byteLength += part.length;
  }

  #flush(): void {
    if (this.#at === this.#mark) return;
    const { buffer, byteOffset } = this.#chunk;
    this.#parts.push(new Uint8Array(buffer, byteOffset + this.#mark, this.#at - this.#mark));
    this.#byteLength += this.#at - this.#mark;
    this.#mark = this.#at;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#chunk.length) return;
    this.#flush();
    const next = Math.min(this.#chunk.length * 2, MAX_CHUNK_BYTES);
    this.#chunk = Buffer.allocUnsafe(Math.max(next, length));
    this.#mark = 0;
    this.#at = 0;
  }
}

/** Joins the pieces into one fresh array: for tests and small things. */
export function concat(segments: Segments): Uint8Array {
  const out = new Uint8Array(segments.byteLength);
  let at = 0;
  for (const part of segments.parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * Lines on their way to a file, in one buffer: `CRC32 SP JSON LF`. Invariants: bytes leave in the order in which they came, each once;
 * what a write did not take stays, and the next write goes on with exactly the byte after the last one taken.
 */
import { crc32 } from "node:zlib";

/** Bytes of a line around its JSON: eight digits, a space and a line feed. */
export const LINE_OVERHEAD = 10;

const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew past this is given back when it is empty. */
const KEPT_BYTES = 1024 * 1024;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const DIGITS: Uint8Array = Buffer.from("0123456789abcdef");

/** What `write` does for this encoding, without its search for it. Every Node has it, its types do not. */
interface LineBytes extends Buffer {
  latin1Write(text: string, offset: number, length: number): number;
}

/** Takes `bytes[start, end)` or a first part of it, and tells how many it took. */
export type ByteTaker = (bytes: Uint8Array, start: number, end: number) => number;

export class LineBuffer {
  #bytes: LineBytes = allocate(INITIAL_BYTES);
  #start = 0;
  #end = 0;

  /** Bytes that no write has taken. */
  get byteLength(): number {
    return this.#end - this.#start;
  }

  /** Adds a line. Its JSON is ASCII without line feeds. */
  push(json: string): void {
    const length = json.length;
    this.#reserve(length + LINE_OVERHEAD);
    const from = this.#end;
    const jsonAt = from + 9;
    const after = jsonAt + length;
    const bytes = this.#bytes;
    bytes.latin1Write(json, jsonAt, length);
    writeHex(bytes, from, crc32(bytes.subarray(jsonAt, after)));
    bytes[jsonAt - 1] = SPACE;
    bytes[after] = LINE_FEED;
    this.#end = after + 1;
  }

  /** Hands everything to `take`, in as many parts as it wants. What it throws is thrown, after what it took is gone. */
  drain(take: ByteTaker): void {
    while (this.#start < this.#end) this.#start += take(this.#bytes, this.#start, this.#end);
    this.#start = 0;
    this.#end = 0;
    if (this.#bytes.byteLength > KEPT_BYTES) this.#bytes = allocate(INITIAL_BYTES);
  }

  #reserve(length: number): void {
    if (this.#end + length <= this.#bytes.byteLength) return;
    const needed = this.byteLength + length;
    const target =
      needed <= this.#bytes.byteLength / 2 ? this.#bytes : allocate(Math.max(needed, this.#bytes.byteLength * 2));
    this.#bytes.copy(target, 0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    this.#bytes = target;
  }
}

function allocate(length: number): LineBytes {
  return Buffer.allocUnsafe(length) as LineBytes;
}

function writeHex(bytes: Uint8Array, at: number, value: number): void {
  for (let digit = 0; digit < 8; digit += 1) bytes[at + digit] = DIGITS[(value >>> (28 - digit * 4)) & 15] as number;
}

// A growable byte buffer for what does not lie in one chunk. Grows by doubling, so appending is amortised linear; counts the bytes
// it copies, so that tests can hold the cost against the input.

const FIRST_CAPACITY = 1024;
/** Above this the memory is given up when the buffer is emptied: one large record must not stay allocated behind a quiet stream. */
const KEPT_CAPACITY = 64 * 1024;
/** Below this a loop beats the call of `TypedArray.prototype.set`. */
const LOOP_BYTES = 16;

const EMPTY = new Uint8Array(0);

/** Bytes that are appended to and emptied as a whole. */
export class SpillBuffer {
  #bytes: Uint8Array = EMPTY;
  #length = 0;
  #copiedBytes = 0;

  /** The memory; only the first `length` bytes mean something, and `append` may move them to another buffer. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes copied since the start, by appending and by growing. */
  get copiedBytes(): number {
    return this.#copiedBytes;
  }

  /** Copies `source[start, end)` to the end. `source` may be this buffer's own memory. */
  append(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.#reserve(count);
    const at = this.#length;
    if (count <= LOOP_BYTES) {
      for (let i = 0; i < count; i++) this.#bytes[at + i] = source[start + i] as number;
    } else {
      this.#bytes.set(source.subarray(start, end), at);
    }
    this.#length += count;
    this.#copiedBytes += count;
  }

  appendByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
    this.#copiedBytes++;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > KEPT_CAPACITY) this.#bytes = EMPTY;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2, FIRST_CAPACITY));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#copiedBytes += this.#length;
    this.#bytes = grown;
  }
}

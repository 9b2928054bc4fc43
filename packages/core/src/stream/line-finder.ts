// Finds line ends in a chunk, looking at every byte a bounded number of times whatever the lines are like.

const LF = 0x0a;
const CR = 0x0d;
/** Most lines are shorter than the call of `indexOf` is worth. */
const LOOP_BYTES = 48;

/**
 * Finds LF and CR. Remembers where the next of each lies, because a chunk with only one of the two would otherwise be searched to
 * its end for the other at every line.
 */
export class LineFinder {
  #nextLf = -1;
  #nextCr = -1;
  #examinedBytes = 0;

  /** Bytes looked at since the start. */
  get examinedBytes(): number {
    return this.#examinedBytes;
  }

  /** To be called before the first search in other bytes. */
  reset(): void {
    this.#nextLf = -1;
    this.#nextCr = -1;
  }

  /** Offset of the first LF or CR at or after `from`, or `bytes.length`. */
  find(bytes: Uint8Array, from: number): number {
    const near = Math.min(from + LOOP_BYTES, bytes.length);
    for (let at = from; at < near; at++) {
      const byte = bytes[at];
      if (byte === LF || byte === CR) {
        this.#examinedBytes += at - from + 1;
        return at;
      }
    }
    this.#examinedBytes += near - from;
    if (near === bytes.length) return near;
    if (this.#nextLf < near) this.#nextLf = this.#search(bytes, LF, near);
    if (this.#nextCr < near) this.#nextCr = this.#search(bytes, CR, near);
    return Math.min(this.#nextLf, this.#nextCr);
  }

  #search(bytes: Uint8Array, byte: number, from: number): number {
    const found = bytes.indexOf(byte, from);
    const at = found === -1 ? bytes.length : found;
    this.#examinedBytes += at - from;
    return at;
  }
}

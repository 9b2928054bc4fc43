// Event names as strings. A stream repeats few names, so the last one is compared as bytes before anything is decoded.

/** Longer names are not remembered between records. */
const MAX_REMEMBERED_BYTES = 128;

/** Decodes the event names of one stream. */
export class EventNames {
  readonly #lastBytes: Uint8Array = new Uint8Array(MAX_REMEMBERED_BYTES);
  #lastLength = 0;
  #last = "";

  /** The name in `bytes[start, end)`; the same string object when it is the last one again. */
  decode(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return "";
    if (length === this.#lastLength && this.#isLast(bytes, start)) return this.#last;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, length);
    const name = view.toString("utf8");
    if (length > MAX_REMEMBERED_BYTES) return name;
    this.#lastBytes.set(view);
    this.#lastLength = length;
    this.#last = name;
    return name;
  }

  #isLast(bytes: Uint8Array, start: number): boolean {
    for (let i = 0; i < this.#lastLength; i++) {
      if (bytes[start + i] !== this.#lastBytes[i]) return false;
    }
    return true;
  }
}

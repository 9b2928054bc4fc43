/** Gathers chunks whose memory is about to be reused. */

/** Owned copies of chunks, joined on demand. */
export class ChunkList {
  #chunks: Buffer[] = [];
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Copies a chunk. */
  add(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk));
    this.#byteLength += chunk.byteLength;
  }

  /** Everything added so far in one buffer; the list is empty afterwards. */
  take(): Buffer {
    const joined =
      this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#byteLength);
    this.#chunks = [];
    this.#byteLength = 0;
    return joined;
  }
}

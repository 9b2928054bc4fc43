/**
 * How many tokens a stream has brought so far, for accounts of streams that end without usage. An estimate by bytes: no tokenizer
 * runs here. A delta is at least one token; what it has beyond that counts four bytes a token.
 */

/** Bytes of text per token: English is about four, code and other scripts fewer. */
const BYTES_PER_TOKEN = 4;

/** What a record has around its text, at most. The smallest record seen tells it better, where several were seen. */
const LARGEST_ENVELOPE_BYTES = 400;

/** Adds up the deltas of one stream, as whole records or as texts. */
export class ContentEstimate {
  #records = 0;
  #recordBytes = 0;
  #smallestRecord = LARGEST_ENVELOPE_BYTES;
  #textTokens = 0;

  /** A record of a forwarded stream that carries content, with all that is around its text. */
  addRecord(byteLength: number): void {
    this.#records += 1;
    this.#recordBytes += byteLength;
    if (byteLength < this.#smallestRecord) this.#smallestRecord = byteLength;
  }

  /** A delta that is text and nothing else. */
  addText(byteLength: number): void {
    this.#textTokens += Math.max(Math.ceil(byteLength / BYTES_PER_TOKEN), 1);
  }

  /** Tokens so far. */
  get tokens(): number {
    const beyond = this.#recordBytes - this.#records * this.#smallestRecord;
    return this.#textTokens + this.#records + Math.floor(beyond / BYTES_PER_TOKEN);
  }
}

// Reads newline-delimited JSON as bytes: one record a line. A line that lies in one chunk is delivered as a range of that chunk;
// one that straddles chunks is gathered. Invariants: as for event streams, however the bytes are cut the records are the same, and
// what is held is one line.

import type { FramedRecord, ReaderState, RecordReader, RecordReaderOptions } from "./record.ts";
import { MutableRecord, NO_BYTES } from "./record.ts";
import { SpillBuffer } from "./spill-buffer.ts";

const LF = 0x0a;
const CR = 0x0d;

/**
 * Cuts newline-delimited JSON into records. Lines end with LF; a CR before it is part of the terminator, and empty lines are
 * dropped. A last line without LF is delivered; its raw bytes get one.
 */
export class LineReader implements RecordReader {
  readonly #maxRecordBytes: number;
  readonly #onRecord: (record: FramedRecord) => void;
  readonly #record = new MutableRecord();
  /** The line that began in an earlier chunk; empty when none did. */
  readonly #spill = new SpillBuffer();
  #state: ReaderState = "open";
  #examinedBytes = 0;

  constructor(options: RecordReaderOptions) {
    this.#maxRecordBytes = options.maxRecordBytes;
    this.#onRecord = options.onRecord;
  }

  /** Bytes examined and copied so far: what reading has cost. At most a small multiple of the bytes pushed. */
  get workBytes(): number {
    return this.#examinedBytes + this.#spill.copiedBytes;
  }

  /** See {@link RecordReader.push}. */
  push(chunk: Uint8Array): boolean {
    if (this.#state !== "open") return this.#state === "stopped";
    this.#examinedBytes += chunk.length;
    let at = 0;
    while (at < chunk.length && this.#isOpen()) {
      const lineEnd = chunk.indexOf(LF, at);
      if (lineEnd === -1) {
        if (this.#checkBound(this.#spill.length + chunk.length - at)) this.#spill.append(chunk, at, chunk.length);
        break;
      }
      if (this.#checkBound(this.#spill.length + lineEnd + 1 - at)) this.#endLine(chunk, at, lineEnd + 1);
      at = lineEnd + 1;
    }
    return this.#isOpen() || this.#isStopped();
  }

  /** See {@link RecordReader.end}. */
  end(): void {
    if (this.#state !== "open") return;
    if (this.#spill.length > 0) {
      this.#spill.appendByte(LF);
      this.#deliver(this.#spill.bytes, 0, this.#spill.length);
    }
    this.#state = "stopped";
  }

  /** See {@link RecordReader.stop}. May be called from the callback. */
  stop(): void {
    // During a callback the spill holds the record that is being looked at; it is emptied after it.
    if (this.#state === "open") this.#spill.clear();
    if (this.#state !== "over-bound") this.#state = "stopped";
  }

  // Methods, because calls change the state behind the compiler's narrowing.
  #isOpen(): boolean {
    return this.#state === "open";
  }

  #isStopped(): boolean {
    return this.#state === "stopped";
  }

  #endLine(chunk: Uint8Array, start: number, end: number): void {
    if (this.#spill.length === 0) {
      this.#deliver(chunk, start, end);
      return;
    }
    this.#spill.append(chunk, start, end);
    this.#deliver(this.#spill.bytes, 0, this.#spill.length);
  }

  /** Delivers the line `[start, end)`, whose last byte is LF. */
  #deliver(bytes: Uint8Array, start: number, end: number): void {
    const dataEnd = end - 2 >= start && bytes[end - 2] === CR ? end - 2 : end - 1;
    if (dataEnd === start) {
      this.#spill.clear();
      return;
    }
    const record = this.#record;
    record.bytes = bytes;
    record.rawStart = start;
    record.rawEnd = end;
    record.dataStart = start;
    record.dataEnd = dataEnd;
    record.hasData = true;
    this.#state = "delivering";
    try {
      this.#onRecord(record);
    } finally {
      record.bytes = NO_BYTES;
      this.#spill.clear();
    }
    // The callback may have stopped the reader; when it throws, this line is not reached.
    if (!this.#isStopped()) this.#state = "open";
  }

  /** Kills the reader when a line has more bytes than it may. */
  #checkBound(recordBytes: number): boolean {
    if (recordBytes <= this.#maxRecordBytes) return true;
    this.#state = "over-bound";
    this.#spill.clear();
    return false;
  }
}

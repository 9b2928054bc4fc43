// Reads an event stream as bytes (WHATWG HTML, event stream interpretation). A record that lies in one chunk is delivered as ranges
// of that chunk; one that straddles chunks is gathered in a buffer of the reader. Invariants: however the bytes are cut, the records
// are the same, raw bytes included; every byte is examined and copied a bounded number of times; what is held is one record.

import { EventNames } from "./event-names.ts";
import { LineFinder } from "./line-finder.ts";
import type { FramedRecord, ReaderState, RecordReader, RecordReaderOptions } from "./record.ts";
import { MutableRecord, NO_BYTES } from "./record.ts";
import { SpillBuffer } from "./spill-buffer.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;

const BOM: Uint8Array = Uint8Array.of(0xef, 0xbb, 0xbf);
const DATA: Uint8Array = Buffer.from("data", "latin1");
const EVENT: Uint8Array = Buffer.from("event", "latin1");

/** How the last line before a blank one ended. */
type LineEnd = "none" | "lf" | "crlf" | "cr";

/**
 * Cuts an event stream into records.
 *
 * - A blank line ends a record, nothing else does; blank lines without a record before them are dropped.
 * - `data` lines are joined with LF, the last `event` line names the record, other fields and comments are ignored. Records
 *   without a `data` line are delivered with `hasData` false.
 * - Raw bytes are those of the stream, without byte order mark, and end with a blank line in the style of the record: the LF of
 *   a CRLF that is still to come is put there at once, so that a record never waits for the chunk behind it.
 * - A record that the end of the stream leaves open is delivered; its raw bytes get what is missing to end with two LF.
 */
export class SseReader implements RecordReader {
  readonly #maxRecordBytes: number;
  readonly #onRecord: (record: FramedRecord) => void;
  readonly #record = new MutableRecord();
  readonly #names = new EventNames();
  readonly #lines = new LineFinder();
  /** The record that began in an earlier chunk; empty when none did. */
  readonly #spill = new SpillBuffer();
  #state: ReaderState = "open";
  /** Bytes of the byte order mark seen; its length once that is decided. */
  #bomBytes = 0;
  /** The last chunk ended with a CR that ended a line: an LF at the start of the next one belongs to it. */
  #mayFollowLf = false;

  // The record being read. Offsets count from its start, so that they hold wherever it lies.
  #lineStart = 0;
  #lastEnd: LineEnd = "none";
  #dataLines = 0;
  #dataStart = 0;
  #dataEnd = 0;
  #nameStart = 0;
  #nameEnd = 0;

  #joinedBytes = 0;

  constructor(options: RecordReaderOptions) {
    this.#maxRecordBytes = options.maxRecordBytes;
    this.#onRecord = options.onRecord;
  }

  /** Bytes examined and copied so far: what reading has cost. At most a small multiple of the bytes pushed. */
  get workBytes(): number {
    return this.#lines.examinedBytes + this.#spill.copiedBytes + this.#joinedBytes;
  }

  /** See {@link RecordReader.push}. */
  push(chunk: Uint8Array): boolean {
    if (this.#state !== "open") return this.#state === "stopped";
    this.#lines.reset();
    let at = this.#bomBytes < BOM.length ? this.#skipByteOrderMark(chunk) : 0;
    if (this.#mayFollowLf && at < chunk.length) at = this.#completeLineEnd(chunk, at);
    while (at < chunk.length && this.#isOpen()) {
      at = this.#spill.length > 0 ? this.#continueRecord(chunk, at) : this.#readRecords(chunk, at);
    }
    return this.#isOpen() || this.#isStopped();
  }

  /** See {@link RecordReader.end}. */
  end(): void {
    if (this.#state !== "open") return;
    if (this.#bomBytes < BOM.length) this.#spill.append(BOM, 0, this.#bomBytes);
    if (this.#spill.length > 0) this.#endOpenRecord();
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

  #skipByteOrderMark(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && this.#bomBytes < BOM.length) {
      if (chunk[at] !== BOM[this.#bomBytes]) {
        // What looked like the mark was content.
        this.#spill.append(BOM, 0, this.#bomBytes);
        this.#bomBytes = BOM.length;
        return at;
      }
      at++;
      this.#bomBytes++;
    }
    return at;
  }

  #completeLineEnd(chunk: Uint8Array, at: number): number {
    this.#mayFollowLf = false;
    if (chunk[at] !== LF) return at;
    if (this.#spill.length > 0) {
      this.#spill.appendByte(LF);
      this.#lineStart = this.#spill.length;
      this.#lastEnd = "crlf";
      this.#checkBound(this.#spill.length);
    }
    return at + 1;
  }

  /** Reads records that begin in this chunk. One loop over lines: splitting it would cost a call and a result object per line. */
  #readRecords(chunk: Uint8Array, from: number): number {
    let start = from;
    let at = from;
    while (at < chunk.length) {
      const lineEnd = this.#lines.find(chunk, at);
      if (lineEnd === chunk.length) break;
      const next = this.#lineAfter(chunk, lineEnd);
      if (lineEnd > at) {
        this.#readField(chunk, at, lineEnd, start);
        this.#lastEnd = lineEndOf(chunk, lineEnd, next);
      } else if (at > start) {
        this.#endRecord(chunk, start, lineEnd, next);
        if (!this.#isOpen()) return chunk.length;
        start = next;
      } else {
        start = next;
      }
      at = next;
    }
    if (start < chunk.length && this.#checkBound(chunk.length - start)) {
      this.#spill.append(chunk, start, chunk.length);
      this.#lineStart = at - start;
    }
    return chunk.length;
  }

  /** Ends a record of this chunk at the blank line that begins at `blankStart`. */
  #endRecord(chunk: Uint8Array, start: number, blankStart: number, next: number): void {
    const isLf = chunk[blankStart] === LF;
    if (isLf || next === blankStart + 2 || this.#lastEnd === "cr") {
      const end = this.#lastEnd === "cr" ? blankStart + 1 : next;
      if (this.#checkBound(end - start)) this.#deliver(chunk, start, end);
      return;
    }
    if (!this.#checkBound(blankStart - start + 2)) return;
    this.#spill.append(chunk, start, blankStart);
    this.#endSpilledRecord(CR);
  }

  /** Reads one line of the record in the spill. */
  #continueRecord(chunk: Uint8Array, at: number): number {
    const lineEnd = this.#lines.find(chunk, at);
    if (!this.#checkBound(this.#spill.length + lineEnd - at)) return chunk.length;
    this.#spill.append(chunk, at, lineEnd);
    if (lineEnd === chunk.length) return lineEnd;
    const next = this.#lineAfter(chunk, lineEnd);
    if (this.#spill.length === this.#lineStart) {
      this.#endSpilledRecord(chunk[lineEnd] as number);
      return next;
    }
    this.#readField(this.#spill.bytes, this.#lineStart, this.#spill.length, 0);
    this.#lastEnd = lineEndOf(chunk, lineEnd, next);
    this.#spill.append(chunk, lineEnd, next);
    this.#lineStart = this.#spill.length;
    this.#checkBound(this.#spill.length);
    return next;
  }

  /** Ends the record in the spill, of which only the blank line is missing; that begins with `byte`. */
  #endSpilledRecord(byte: number): void {
    this.#spill.appendByte(byte);
    // CR CR is complete; after another line end the LF comes next, or costs nothing when it does not.
    if (byte === CR && this.#lastEnd !== "cr") this.#spill.appendByte(LF);
    if (this.#checkBound(this.#spill.length)) this.#deliver(this.#spill.bytes, 0, this.#spill.length);
  }

  #endOpenRecord(): void {
    if (this.#lineStart < this.#spill.length) {
      this.#readField(this.#spill.bytes, this.#lineStart, this.#spill.length, 0);
      this.#lastEnd = "none";
    }
    if (this.#lastEnd === "none" || this.#lastEnd === "cr") this.#spill.appendByte(LF);
    this.#spill.appendByte(LF);
    this.#deliver(this.#spill.bytes, 0, this.#spill.length);
  }

  /** Offset after the line end at `lineEnd`, which may continue in the next chunk. */
  #lineAfter(chunk: Uint8Array, lineEnd: number): number {
    const next = lineEnd + 1;
    if (chunk[lineEnd] === LF) return next;
    if (next === chunk.length) this.#mayFollowLf = true;
    return chunk[next] === LF ? next + 1 : next;
  }

  #readField(bytes: Uint8Array, at: number, end: number, base: number): void {
    if (bytes[at] === DATA[0]) {
      const value = valueOf(DATA, bytes, at, end);
      if (value === -1) return;
      this.#dataLines++;
      this.#dataStart = value - base;
      this.#dataEnd = end - base;
    } else if (bytes[at] === EVENT[0]) {
      const value = valueOf(EVENT, bytes, at, end);
      if (value === -1) return;
      this.#nameStart = value - base;
      this.#nameEnd = end - base;
    }
  }

  #deliver(bytes: Uint8Array, start: number, end: number): void {
    const record = this.#record;
    record.bytes = bytes;
    record.rawStart = start;
    record.rawEnd = end;
    record.dataStart = start + this.#dataStart;
    record.dataEnd = start + this.#dataEnd;
    record.event = this.#names.decode(bytes, start + this.#nameStart, start + this.#nameEnd);
    record.hasData = this.#dataLines > 0;
    if (this.#dataLines > 1) this.#joinData(bytes, start, end);
    this.#forgetRecord();
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

  /** Lays the record and, behind it, its joined data into the spill. Walks the lines again, so that no list of them is kept. */
  #joinData(bytes: Uint8Array, start: number, end: number): void {
    const record = this.#record;
    if (this.#spill.length === 0) this.#spill.append(bytes, start, end);
    record.rawStart = 0;
    record.rawEnd = this.#spill.length;
    record.dataStart = this.#spill.length;
    const lines = new LineFinder();
    const raw = bytes.subarray(start, end);
    let isFirst = true;
    for (let at = 0; at < raw.length;) {
      const lineEnd = lines.find(raw, at);
      const value = valueOf(DATA, raw, at, lineEnd);
      if (value !== -1) {
        if (!isFirst) this.#spill.appendByte(LF);
        isFirst = false;
        this.#spill.append(raw, value, lineEnd);
      }
      at = lineEnd + 1;
    }
    record.dataEnd = this.#spill.length;
    record.bytes = this.#spill.bytes;
    this.#joinedBytes += lines.examinedBytes;
  }

  #forgetRecord(): void {
    this.#lineStart = 0;
    this.#lastEnd = "none";
    this.#dataLines = 0;
    this.#dataStart = 0;
    this.#dataEnd = 0;
    this.#nameStart = 0;
    this.#nameEnd = 0;
  }

  /** Kills the reader when a record has more bytes than it may. */
  #checkBound(recordBytes: number): boolean {
    if (recordBytes <= this.#maxRecordBytes) return true;
    this.#state = "over-bound";
    this.#spill.clear();
    return false;
  }
}

function lineEndOf(bytes: Uint8Array, lineEnd: number, next: number): LineEnd {
  if (bytes[lineEnd] === LF) return "lf";
  return next === lineEnd + 2 ? "crlf" : "cr";
}

/** Offset of a field's value in the line `[at, end)`, one leading space removed, or -1 when the line has another field. */
function valueOf(name: Uint8Array, bytes: Uint8Array, at: number, end: number): number {
  const afterName = at + name.length;
  if (afterName > end || !startsWith(name, bytes, at)) return -1;
  if (afterName === end) return end;
  if (bytes[afterName] !== COLON) return -1;
  const value = afterName + 1;
  return value < end && bytes[value] === SPACE ? value + 1 : value;
}

function startsWith(prefix: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < prefix.length; i++) {
    if (bytes[at + i] !== prefix[i]) return false;
  }
  return true;
}

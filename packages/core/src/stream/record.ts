// What record readers hand out. A record is a view into memory that its reader reuses: it is valid only inside the callback.

import type { StreamRecord } from "../dialect/index.ts";

/**
 * One framed record. `bytes` holds both ranges: `[dataStart, dataEnd)` is the payload, `[rawStart, rawEnd)` the whole record with
 * its terminator, fit to be forwarded as it is. One object serves all records of a reader; who keeps bytes copies them.
 */
export interface FramedRecord extends StreamRecord {
  readonly rawStart: number;
  readonly rawEnd: number;
  /** False for a record of comments and other fields only. It has no payload and is no event; it may be forwarded as a sign of life. */
  readonly hasData: boolean;
}

/** What a record points to outside its callback. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/** The one record object of a reader; fixed shape, written before every callback. */
export class MutableRecord implements FramedRecord {
  bytes: Uint8Array;
  dataStart: number;
  dataEnd: number;
  event: string;
  rawStart: number;
  rawEnd: number;
  hasData: boolean;

  constructor() {
    this.bytes = NO_BYTES;
    this.dataStart = 0;
    this.dataEnd = 0;
    this.event = "";
    this.rawStart = 0;
    this.rawEnd = 0;
    this.hasData = false;
  }
}

/** What a record reader is told. */
export interface RecordReaderOptions {
  /** Bytes of one record with comments, line ends and terminator. */
  readonly maxRecordBytes: number;
  /** Called for every record, synchronously. What it throws comes out of `push` or `end` and stops the reader. */
  readonly onRecord: (record: FramedRecord) => void;
}

/** Cuts a byte stream into records. */
export interface RecordReader {
  /**
   * Reads a chunk, which need stay unchanged only during the call. False when a record is over its bound or an earlier callback
   * threw: the reader is then dead. Not to be called from inside the callback.
   */
  push(chunk: Uint8Array): boolean;
  /** The stream ended: delivers what is pending as a record, with its terminator completed. */
  end(): void;
  /** No more records; what else arrives is ignored. */
  stop(): void;
}

/** Where a reader is. A callback that throws leaves it `delivering` for good, which refuses everything after it. */
export type ReaderState = "open" | "delivering" | "stopped" | "over-bound";

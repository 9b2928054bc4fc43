/**
 * Forwards a stream of the client's own dialect: records go out as the bytes they came in, an observer watches for content,
 * usage, errors and the end. Neighbouring records of one read are copied once and written together.
 */
import { RecordFlag, type StreamDecoder, type StreamObserver } from "../dialect/index.ts";
import { createRecordReader, type FramedRecord, type RecordReader } from "../stream/index.ts";
import type { AnswerOutlet, AnswerReader, ReaderOptions } from "./answer-reader.ts";
import { ContentEstimate } from "./content-estimate.ts";
import { brokenAnswer } from "./failures.ts";
import { maskSecrets } from "./mask-secrets.ts";

export class ForwardStreamReader implements AnswerReader {
  readonly #outlet: AnswerOutlet;
  readonly #observer: StreamObserver;
  readonly #records: RecordReader;
  /** Decodes beside the forwarding where hooks look on; null where none does. */
  readonly #tapDecoder: StreamDecoder | null;
  readonly #terminator: Uint8Array | null;
  readonly #secrets: readonly (string | null)[];
  readonly #content = new ContentEstimate();
  #chunk: Uint8Array | null = null;
  /** The run of records of the current chunk that were not copied yet. */
  #runStart = -1;
  #runEnd = -1;
  #isDone = false;

  constructor(options: ReaderOptions) {
    this.#outlet = options.outlet;
    this.#terminator = options.client.streamTerminator ?? null;
    this.#secrets = options.secrets;
    this.#observer = options.provider.createStreamObserver(options.decodeContext, options.head);
    const { taps } = options;
    this.#tapDecoder =
      taps === null
        ? null
        : options.provider.createStreamDecoder(options.decodeContext, (event) => void taps.pass(event));
    this.#records = createRecordReader(options.provider.framing, {
      maxRecordBytes: options.limits.maxRecordBytes,
      onRecord: (record) => this.#onRecord(record),
    });
  }

  get isStopped(): boolean {
    return this.#observer.isStopped && !this.#isDone;
  }

  data(chunk: Uint8Array): void {
    if (this.#isDone) return;
    this.#chunk = chunk;
    let isWithinBounds: boolean;
    try {
      isWithinBounds = this.#records.push(chunk);
      this.#flushRun();
    } finally {
      this.#chunk = null;
      // An attempt may be ended from outside at any time, and by a hook that throws; what is known by then belongs into its account.
      this.#note();
    }
    if (!isWithinBounds && !this.#isDone)
      this.#fail(brokenAnswer("A record of the provider's stream is larger than allowed."));
  }

  end(): void {
    if (this.#isDone) return;
    this.#records.end();
    this.#flushRun();
    if (this.#isDone) return;
    const error = this.#observer.finish();
    if (error !== null) {
      this.#fail(error);
      return;
    }
    // The answer is whole although its last record is missing: the client still has to get one.
    this.#tapDecoder?.finish();
    if (this.#terminator !== null) this.#outlet.write(this.#terminator);
    this.#complete();
  }

  #onRecord(record: FramedRecord): void {
    if (this.#isDone || !record.hasData) return;
    const flags = this.#observer.observe(record);
    this.#tapDecoder?.push(record);
    if ((flags & RecordFlag.error) !== 0) {
      this.#onErrorRecord(record, flags);
      return;
    }
    if ((flags & RecordFlag.forward) !== 0) this.#forward(record);
    if ((flags & RecordFlag.content) !== 0) {
      this.#outlet.hasContent = true;
      if ((flags & RecordFlag.output) !== 0) {
        this.#content.addRecord(record.rawEnd - record.rawStart);
        this.#outlet.contentTokens = this.#content.tokens;
      }
      if (!this.#outlet.isCommitted) {
        this.#flushRun();
        this.#outlet.commit();
      }
    }
    if ((flags & RecordFlag.end) !== 0) {
      this.#flushRun();
      this.#complete();
    }
  }

  #onErrorRecord(record: FramedRecord, flags: number): void {
    const error = this.#observer.error ?? brokenAnswer("The provider's stream carried an error.");
    // After the commit the client hears the upstream's own words, once; before it the attempt has failed and nothing is shown.
    const isShown = this.#outlet.isCommitted && (flags & RecordFlag.forward) !== 0;
    this.#flushRun();
    if (isShown) this.#outlet.write(this.#maskRecord(record));
    this.#isDone = true;
    this.#note();
    this.#outlet.fail(error, isShown);
  }

  /** Providers echo keys in errors, also in those that come inside a stream. */
  #maskRecord(record: FramedRecord): Uint8Array {
    const text = Buffer.from(record.bytes.buffer, record.bytes.byteOffset, record.bytes.byteLength).toString(
      "utf8",
      record.rawStart,
      record.rawEnd,
    );
    return Buffer.from(maskSecrets(text, this.#secrets), "utf8");
  }

  #forward(record: FramedRecord): void {
    if (record.bytes === this.#chunk) {
      if (record.rawStart === this.#runEnd) {
        this.#runEnd = record.rawEnd;
        return;
      }
      this.#flushRun();
      this.#runStart = record.rawStart;
      this.#runEnd = record.rawEnd;
      return;
    }
    this.#flushRun();
    this.#outlet.write(copyRange(record.bytes, record.rawStart, record.rawEnd));
  }

  #flushRun(): void {
    if (this.#runStart < 0 || this.#chunk === null) return;
    const bytes = copyRange(this.#chunk, this.#runStart, this.#runEnd);
    this.#runStart = -1;
    this.#runEnd = -1;
    this.#outlet.write(bytes);
  }

  #note(): void {
    this.#outlet.usage = this.#observer.usage;
    this.#outlet.stopWord = this.#observer.stopWord;
  }

  #complete(): void {
    this.#isDone = true;
    this.#note();
    this.#outlet.complete();
  }

  #fail(error: Parameters<AnswerOutlet["fail"]>[0]): void {
    this.#isDone = true;
    this.#note();
    this.#outlet.fail(error, false);
  }
}

const copyRange = (bytes: Uint8Array, start: number, end: number): Uint8Array => {
  const copy = Buffer.allocUnsafe(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
};

/** Translates a stream record by record: provider decoder → neutral events → client encoder. What one read brings is written at once. */
import type { StreamDecoder, StreamEncoder } from "../dialect/index.ts";
import { isContentBearing, textLength, type NeutralError, type StreamEvent } from "../ir/index.ts";
import { createRecordReader, type RecordReader } from "../stream/index.ts";
import type { EventTaps } from "./event-taps.ts";
import type { AnswerOutlet, AnswerReader, ReaderOptions } from "./answer-reader.ts";
import { ContentEstimate } from "./content-estimate.ts";
import { brokenAnswer } from "./failures.ts";

export class TranslateStreamReader implements AnswerReader {
  readonly #outlet: AnswerOutlet;
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  readonly #records: RecordReader;
  readonly #taps: EventTaps | null;
  readonly #content = new ContentEstimate();
  #outbox: Uint8Array[] = [];
  #isDone = false;

  constructor(options: ReaderOptions) {
    this.#outlet = options.outlet;
    this.#taps = options.taps;
    this.#encoder = options.client.createStreamEncoder(options.answerContext, (bytes) => {
      this.#outbox.push(bytes);
    });
    this.#decoder = options.provider.createStreamDecoder(options.decodeContext, (event) => this.#onEvent(event));
    this.#records = createRecordReader(options.provider.framing, {
      maxRecordBytes: options.limits.maxRecordBytes,
      onRecord: (record) => {
        if (record.hasData && !this.#isDone) this.#decoder.push(record);
      },
    });
  }

  get isStopped(): boolean {
    return this.#decoder.isStopped && !this.#isDone;
  }

  data(chunk: Uint8Array): void {
    if (this.#isDone) return;
    const isWithinBounds = this.#records.push(chunk);
    if (!isWithinBounds && !this.#isDone)
      this.#fail(brokenAnswer("A record of the provider's stream is larger than allowed."));
    this.#flush();
  }

  end(): void {
    if (this.#isDone) return;
    this.#records.end();
    if (!this.#isDone) this.#decoder.finish();
    if (!this.#isDone) this.#fail(brokenAnswer("The provider's answer ended early."));
    this.#flush();
  }

  #onEvent(event: StreamEvent): void {
    if (this.#isDone) return;
    switch (event.type) {
      case "error":
        this.#fail(event.error);
        return;
      case "start":
        if (event.usage !== undefined) this.#outlet.usage = event.usage;
        break;
      case "usage":
        this.#outlet.usage = event.usage;
        break;
      case "stop":
        this.#outlet.stopWord = event.stop.raw;
        if (event.stop.reason === "error" || event.stop.reason === "malformed-tool-call") {
          this.#fail(event.stop.error ?? brokenAnswer("The model made a call that cannot be used."));
          return;
        }
        break;
      default:
        break;
    }
    if (this.#taps === null) this.#encode(event);
    else for (const passed of this.#taps.pass(event)) if (!this.#isDone) this.#encode(passed);
  }

  #encode(event: StreamEvent): void {
    const refusal = this.#encoder.encode(event);
    if (refusal !== null) {
      this.#fail(refusal);
      return;
    }
    if (isContentBearing(event)) {
      this.#outlet.hasContent = true;
      if ("text" in event) this.#content.addText(textLength(event.text));
      this.#outlet.contentTokens = this.#content.tokens;
      if (!this.#outlet.isCommitted) {
        this.#flush();
        this.#outlet.commit();
      }
    }
    if (event.type === "end") {
      this.#isDone = true;
      this.#flush();
      this.#outlet.complete();
    }
  }

  #fail(error: NeutralError): void {
    this.#isDone = true;
    if (this.#outlet.isCommitted) this.#encoder.fail(error);
    else this.#outbox = [];
    this.#flush();
    this.#outlet.fail(error, this.#outlet.isCommitted);
  }

  /** The attempt ended from outside (timeout, lost connection): tells the client in its own dialect. */
  breakOff(error: NeutralError): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#encoder.fail(error);
    this.#flush();
  }

  #flush(): void {
    const { length } = this.#outbox;
    if (length === 0) return;
    const bytes = length === 1 ? (this.#outbox[0] as Uint8Array) : Buffer.concat(this.#outbox);
    this.#outbox = [];
    this.#outlet.write(bytes);
  }
}

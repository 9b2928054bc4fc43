/**
 * A stream observer made of a stream decoder: for dialects that write none of their own. It decodes what it watches, so it costs what
 * a translation costs. States: running → ended; after the end nothing counts.
 */
import { isContentBearing, type NeutralError, type StreamEvent, type Usage } from "../ir/index.ts";
import { RecordFlag, type StreamDecoder, type StreamObserver, type StreamRecord } from "./provider-dialect.ts";

/** Watches a stream through a decoder of the same dialect. */
export class DerivedObserver implements StreamObserver {
  readonly #decoder: StreamDecoder;
  #flags: number;
  #isEnded: boolean;
  usage: Usage | null;
  stopWord: string | null;
  error: NeutralError | null;

  constructor(createDecoder: (emit: (event: StreamEvent) => void) => StreamDecoder) {
    this.#flags = 0;
    this.#isEnded = false;
    this.usage = null;
    this.stopWord = null;
    this.error = null;
    this.#decoder = createDecoder((event) => this.#note(event));
  }

  get isStopped(): boolean {
    return this.#decoder.isStopped && !this.#isEnded;
  }

  observe(record: StreamRecord): number {
    if (this.#isEnded) return 0;
    this.#flags = RecordFlag.forward;
    this.#decoder.push(record);
    return this.#flags;
  }

  finish(): NeutralError | null {
    if (!this.#isEnded) this.#decoder.finish();
    return this.error;
  }

  #note(event: StreamEvent): void {
    if (isContentBearing(event))
      this.#flags |= event.type === "stop" ? RecordFlag.content : RecordFlag.content | RecordFlag.output;
    if (event.type === "start") this.usage = event.usage ?? this.usage;
    else if (event.type === "usage") this.usage = event.usage;
    else if (event.type === "stop") this.stopWord ??= event.stop.raw;
    else if (event.type === "end") {
      this.#isEnded = true;
      this.#flags |= RecordFlag.end;
    } else if (event.type === "error") {
      this.error = event.error;
      this.#isEnded = true;
      // The gateway tells its client in its own record: a decoder's error may be no record of the upstream at all.
      this.#flags = RecordFlag.error;
    }
  }
}

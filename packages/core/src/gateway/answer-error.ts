/** Reads an upstream's error answer up to a bound and has its dialect classify it. */
import type { DecodeContext, HeaderList, ProviderDialect } from "../dialect/index.ts";
import type { NeutralError } from "../ir/index.ts";
import type { AnswerReader } from "./answer-reader.ts";
import { ChunkList } from "./chunk-list.ts";

/** An error answer as it came, for forwarding its wording. */
export interface ErrorAnswer {
  readonly error: NeutralError;
  readonly status: number;
  readonly body: Uint8Array;
  readonly isWhole: boolean;
}

export interface ErrorReaderOptions {
  readonly status: number;
  readonly headers: HeaderList;
  readonly provider: ProviderDialect;
  readonly context: DecodeContext;
  readonly maxBytes: number;
  readonly nowMs: number;
  readonly onError: (answer: ErrorAnswer) => void;
}

export class ErrorReader implements AnswerReader {
  readonly isStopped = false;
  readonly #options: ErrorReaderOptions;
  readonly #chunks: ChunkList = new ChunkList();
  #isDone = false;

  constructor(options: ErrorReaderOptions) {
    this.#options = options;
  }

  data(chunk: Uint8Array): void {
    if (this.#isDone) return;
    const room = this.#options.maxBytes - this.#chunks.byteLength;
    this.#chunks.add(chunk.byteLength > room ? chunk.subarray(0, room) : chunk);
    if (chunk.byteLength > room) this.#classify(false);
  }

  end(): void {
    if (!this.#isDone) this.#classify(true);
  }

  #classify(isWhole: boolean): void {
    this.#isDone = true;
    const { status, headers, provider, context, nowMs, onError } = this.#options;
    const body = this.#chunks.take();
    const error = provider.classifyError({ status, headers, body, nowMs }, context);
    onError({ error, status, body, isWhole });
  }
}

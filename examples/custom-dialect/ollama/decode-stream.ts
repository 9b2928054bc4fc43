/**
 * Reads a stream of `/api/chat`, one JSON object a line. At most one text-like part is open at a time; calls come whole. States: running
 * → ended. Only a line with `done: true` ends an answer: a body that stops before it is an error.
 */
import { ABSENT, Scanner } from "@dragoman/core";
import type {
  DecodeContext,
  Document,
  NeutralError,
  NodeIndex,
  PartHead,
  StreamDecoder,
  StreamEvent,
  StreamRecord,
} from "@dragoman/core";

import { hasText, protocolError, readCalls, readStop, textOf } from "./answer.ts";
import { classifyMessage } from "./classify-error.ts";
import { decodeUsage } from "./decode-response.ts";

const CANDIDATE = 0;

/** Decoder of one stream. Events reference the record's bytes and live as long as the call that delivers them. */
export class OllamaStreamDecoder implements StreamDecoder {
  readonly #context: DecodeContext;
  readonly #emit: (event: StreamEvent) => void;
  readonly #scanner = new Scanner({ duplicates: "last-wins" });
  /** Number of the next part. */
  #next = 0;
  /** What kind of part is open; it has the number before the next one. */
  #open: "text" | "reasoning" | null = null;
  #createdAt: string | null = null;
  #calls = 0;
  #isEnded = false;

  constructor(context: DecodeContext, emit: (event: StreamEvent) => void) {
    this.#context = context;
    this.#emit = emit;
  }

  /** Counts come with the last line, so there is nothing to wait for. */
  get isStopped(): boolean {
    return false;
  }

  push({ bytes, dataStart, dataEnd }: StreamRecord): void {
    if (this.#isEnded) return;
    const document = this.#scanner.scan(bytes, dataStart, dataEnd);
    if (document === null || !document.isObject(document.root)) {
      this.#fail(protocolError("A line of the provider's stream is no JSON object."));
      return;
    }
    const error = textOf(document, document.member(document.root, "error"));
    if (error !== undefined) this.#fail(classifyMessage(error));
    else this.#line(document);
  }

  finish(): void {
    if (!this.#isEnded) this.#fail(protocolError("The provider's answer ended early."));
  }

  #line(document: Document): void {
    const { root } = document;
    if (this.#createdAt === null) this.#start(document);
    const message = document.member(root, "message");
    this.#delta(document, document.member(message, "thinking"), "reasoning");
    this.#delta(document, document.member(message, "content"), "text");
    for (const call of readCalls(document, message, this.#createdAt ?? "", this.#calls)) {
      const value: StreamEvent & { readonly type: "arguments-delta" } = {
        type: "arguments-delta",
        candidate: CANDIDATE,
        part: this.#next,
        text: call.value === ABSENT ? "{}" : document.raw(call.value),
        encoded: false,
      };
      this.#begin({ type: "tool-call", id: call.id, name: document.text(call.name), kind: "function" });
      this.#emit(value);
      this.#emit({ type: "part-end", candidate: CANDIDATE, part: value.part });
      this.#calls += 1;
    }
    if (document.boolean(document.member(root, "done"))) this.#done(document);
  }

  #start(document: Document): void {
    this.#createdAt = textOf(document, document.member(document.root, "created_at")) ?? "";
    const model = textOf(document, document.member(document.root, "model")) ?? this.#context.upstreamModel;
    this.#emit({ type: "start", model });
  }

  #delta(document: Document, node: NodeIndex, kind: "text" | "reasoning"): void {
    if (!hasText(document, node)) return;
    if (this.#open !== kind) {
      this.#begin(kind === "text" ? { type: "text" } : { type: "reasoning", form: "raw" });
      this.#open = kind;
    }
    const at = { candidate: CANDIDATE, part: this.#next - 1, text: document.text(node) };
    this.#emit(kind === "text" ? { type: "text-delta", ...at } : { type: "reasoning-delta", ...at });
  }

  #begin(head: PartHead): void {
    this.#close();
    this.#emit({ type: "part-start", candidate: CANDIDATE, part: this.#next, head });
    this.#next += 1;
  }

  #close(): void {
    if (this.#open !== null) this.#emit({ type: "part-end", candidate: CANDIDATE, part: this.#next - 1 });
    this.#open = null;
  }

  #done(document: Document): void {
    this.#close();
    this.#isEnded = true;
    this.#emit({ type: "stop", candidate: CANDIDATE, stop: readStop(document, this.#calls > 0) });
    const usage = decodeUsage(document, true);
    if (usage !== null) this.#emit({ type: "usage", usage });
    this.#emit({ type: "end" });
  }

  #fail(error: NeutralError): void {
    this.#isEnded = true;
    this.#emit({ type: "error", error });
  }
}

// One HTTP/1.1 answer from any cut of its bytes: interim heads, head, body by its framing, trailers. Invariants: the receiver sees
// the same status, fields and body bytes for every cut; nothing is delivered while the receiver is halted; after `isDone` or
// `failure` no byte is consumed any more.

import { ChunkFraming } from "./chunk-framing.ts";
import { ResponseHeadReader } from "./response-head.ts";
import type { HeadLimits } from "./response-head.ts";

/** Bounds of one answer's framing. */
export interface ParserLimits extends HeadLimits {
  readonly maxInformational: number;
}

/** Gets the parts of one answer. */
export interface ResponseReceiver {
  /** Read after each delivery; true stops the parser behind the part it has just delivered. */
  readonly isHalted: boolean;
  receiveHead(status: number, headers: readonly string[]): void;
  /** A view of the fed bytes, valid during the call. */
  receiveData(chunk: Uint8Array): void;
}

type ParserState = "head" | "length" | "chunked" | "trailer" | "until-close" | "done" | "failed";

/** Reads one answer after another from one connection; `begin` starts the next. */
export class ResponseParser {
  /** What broke the rules, or null. */
  failure: string | null = null;

  readonly #limits: ParserLimits;
  readonly #receiver: ResponseReceiver;
  readonly #head: ResponseHeadReader;
  readonly #chunks: ChunkFraming = new ChunkFraming();
  #state: ParserState = "head";
  #remaining = 0;
  #informational = 0;

  constructor(limits: ParserLimits, receiver: ResponseReceiver) {
    this.#limits = limits;
    this.#receiver = receiver;
    this.#head = new ResponseHeadReader(limits);
    this.#head.begin("head");
  }

  /** Forgets the last answer. */
  begin(): void {
    this.failure = null;
    this.#head.begin("head");
    this.#state = "head";
    this.#remaining = 0;
    this.#informational = 0;
  }

  /** Whether the whole answer was read. */
  get isDone(): boolean {
    return this.#state === "done";
  }

  /** Whether the server keeps the connection open after this answer. */
  get isPersistent(): boolean {
    return this.#head.fields.isPersistent;
  }

  /** How long the server keeps the connection when idle, as far as it said so. */
  get keepAliveMs(): number {
    return this.#head.fields.keepAliveMs;
  }

  /** A clean end of the input. True when that completes the answer (RFC 9112 §6.3 rule 8). */
  finish(): boolean {
    if (this.#state === "until-close") this.#state = "done";
    return this.#state === "done";
  }

  /**
   * Reads on and delivers; returns the offset of the first byte that was not consumed. That is `end`, unless the answer is done,
   * it failed, or the receiver is halted.
   */
  feed(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      switch (this.#state) {
        case "head":
          at = this.#feedHead(bytes, at, end);
          break;
        case "length":
        case "until-close":
          at = this.#feedData(bytes, at, end);
          break;
        case "chunked":
          at = this.#feedChunked(bytes, at, end);
          break;
        case "trailer":
          at = this.#head.feed(bytes, at, end);
          if (this.#head.failure !== null) this.#fail(`in the trailer, ${this.#head.failure}`);
          else if (this.#head.isComplete) this.#state = "done";
          break;
        case "done":
        case "failed":
          return at;
      }
      if (this.#receiver.isHalted) return at;
    }
    return at;
  }

  #fail(reason: string): void {
    this.failure = reason;
    this.#state = "failed";
  }

  #feedHead(bytes: Buffer, start: number, end: number): number {
    const head = this.#head;
    const at = head.feed(bytes, start, end);
    if (head.failure !== null) {
      this.#fail(head.failure);
      return at;
    }
    if (!head.isComplete) return at;
    if (head.status < 200) {
      this.#informational += 1;
      if (this.#informational > this.#limits.maxInformational) {
        this.#fail(`more than ${this.#limits.maxInformational} interim answers`);
      } else head.begin("head");
      return at;
    }
    const { status, headers } = head;
    this.#startBody();
    this.#receiver.receiveHead(status, headers);
    return at;
  }

  #startBody(): void {
    const head = this.#head;
    switch (head.fields.framing) {
      case "none":
        this.#state = "done";
        break;
      case "length":
        this.#state = "length";
        this.#remaining = head.fields.contentLength;
        break;
      case "chunked":
        this.#state = "chunked";
        this.#chunks.begin();
        break;
      case "until-close":
        this.#state = "until-close";
        this.#remaining = Number.POSITIVE_INFINITY;
        break;
    }
  }

  #feedData(bytes: Buffer, start: number, end: number): number {
    const next = Math.min(end, start + this.#remaining);
    this.#remaining -= next - start;
    if (this.#remaining === 0) this.#state = "done";
    this.#receiver.receiveData(bytes.subarray(start, next));
    return next;
  }

  #feedChunked(bytes: Buffer, start: number, end: number): number {
    const chunks = this.#chunks;
    if (chunks.remaining > 0) {
      const next = Math.min(end, start + chunks.remaining);
      chunks.remaining -= next - start;
      this.#receiver.receiveData(bytes.subarray(start, next));
      return next;
    }
    const at = chunks.feed(bytes, start, end);
    if (chunks.failure !== null) this.#fail(chunks.failure);
    else if (chunks.isLast) {
      this.#head.begin("trailer");
      this.#state = "trailer";
    }
    return at;
  }
}

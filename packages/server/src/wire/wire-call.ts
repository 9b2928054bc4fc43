// One upstream call, independent of the connection that carries it: a call survives its first connection when that was stale.
// Invariants: at most one of onEnd and onFailure, none of them and no data after `cancel`; onSent at most once and never after the
// last event; onReleased exactly once; no sink method runs inside a method of this class that the engine calls.

import type { UpstreamCall, UpstreamRequest, UpstreamSink } from "@dragoman/core";

import type { FailureKind } from "./failure.ts";

/** What a call needs of the connection that carries it. */
export interface CallCarrier {
  pauseReading(): void;
  resumeReading(): void;
  abandon(): void;
}

const NO_BODY: readonly Uint8Array[] = [];

/** State of one call. */
export class WireCall implements UpstreamCall {
  readonly sink: UpstreamSink;
  readonly origin: UpstreamRequest["origin"];
  readonly head: string;
  readonly bodyLength: number;
  readonly connectTimeoutMs: number;
  body: readonly Uint8Array[];
  carrier: CallCarrier | null = null;
  /** The last event was delivered, or the call was cancelled. */
  isOver: boolean = false;
  isPaused: boolean = false;
  /** Every byte of the request is with the kernel, on the connection that carries the call now. */
  isSent: boolean = false;
  /** Whether any byte of an answer arrived. */
  hasResponse: boolean = false;
  /** Whether the call was moved from a stale connection to a fresh one. */
  isResent: boolean = false;
  #isSentSignalled = false;
  #isReleased = false;

  constructor(request: UpstreamRequest, head: string, sink: UpstreamSink) {
    this.sink = sink;
    this.origin = request.origin;
    this.head = head;
    this.body = request.body;
    this.bodyLength = request.bodyLength;
    this.connectTimeoutMs = request.connectTimeoutMs;
  }

  pause(): void {
    if (this.isOver || this.isPaused) return;
    this.isPaused = true;
    this.carrier?.pauseReading();
  }

  resume(): void {
    if (this.isOver || !this.isPaused) return;
    this.isPaused = false;
    this.carrier?.resumeReading();
  }

  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.carrier?.abandon();
  }

  /** Every write was confirmed. */
  markSent(): void {
    this.isSent = true;
    if (this.isOver || this.#isSentSignalled) return;
    this.#isSentSignalled = true;
    this.sink.onSent();
  }

  /** No connection holds the body any more, and none will. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.body = NO_BODY;
    this.sink.onReleased();
  }

  /** Ends the call with a failure, unless it is over. */
  fail(kind: FailureKind, detail: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.sink.onFailure({ kind, detail, hasResponse: this.hasResponse });
  }
}

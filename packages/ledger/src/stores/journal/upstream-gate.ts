/**
 * Lets upstream calls out only when the lines of their turn are written. Invariants: no call reaches the inner client before a flush
 * that came after its `send` has succeeded; calls go out in the order in which they came; a sink that was never handed on is released
 * exactly once, and no sink method runs inside `send`, `pause`, `resume` or `cancel`.
 */
import type {
  Logger,
  UpstreamCall,
  UpstreamClient,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamSink,
} from "@dragoman/core";

import { failureFields } from "./disk-guard.ts";
import type { TurnEnd } from "./turn-end.ts";

/** Parts of a gate. */
export interface GateParts {
  readonly inner: UpstreamClient;
  /** Writes the lines so far; false = they could not be written. Never throws. */
  readonly flush: () => boolean;
  readonly turnEnd: TurnEnd;
  readonly logger: Logger;
}

const NOT_WRITTEN: UpstreamFailure = {
  kind: "connect",
  detail: "The call was not sent, because the journal could not be written.",
  hasResponse: false,
};
const NOT_SENT: UpstreamFailure = { kind: "connect", detail: "The call could not be sent.", hasResponse: false };

export class UpstreamGate implements UpstreamClient {
  readonly #parts: GateParts;
  readonly #onTurnEnd: () => void;
  #waiting: GatedCall[] = [];

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#onTurnEnd = () => this.#release();
  }

  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall {
    const call = new GatedCall(request, sink);
    this.#waiting.push(call);
    if (this.#waiting.length === 1) this.#parts.turnEnd(this.#onTurnEnd);
    return call;
  }

  /** Calls that wait go out first: closing is up to the inner client. */
  close(): Promise<void> {
    if (this.#waiting.length > 0) this.#release();
    return this.#parts.inner.close();
  }

  #release(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    if (calls.length === 0) return;
    const isWritten = this.#parts.flush();
    for (const call of calls) {
      if (isWritten) this.#sendOn(call);
      else call.fail(NOT_WRITTEN);
    }
  }

  #sendOn(call: GatedCall): void {
    try {
      call.sendOn(this.#parts.inner);
    } catch (thrown) {
      // The port's promise: what throws was not sent, and reports nothing.
      this.#parts.logger.error(failureFields(thrown), "An upstream call could not be sent.");
      call.fail(NOT_SENT);
    }
  }
}

class GatedCall implements UpstreamCall {
  readonly #request: UpstreamRequest;
  readonly #sink: UpstreamSink;
  #inner: UpstreamCall | null = null;
  #isPaused = false;
  #isCancelled = false;

  constructor(request: UpstreamRequest, sink: UpstreamSink) {
    this.#request = request;
    this.#sink = sink;
  }

  pause(): void {
    this.#isPaused = true;
    this.#inner?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#inner?.resume();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#inner?.cancel();
  }

  /** Hands the call on, unless it was cancelled. */
  sendOn(client: UpstreamClient): void {
    if (this.#isCancelled) {
      this.#sink.onReleased();
      return;
    }
    const inner = client.send(this.#request, this.#sink);
    this.#inner = inner;
    // A client may have reported from inside `send`, and been told to stop.
    if (this.#isCancelled) inner.cancel();
    else if (this.#isPaused) inner.pause();
  }

  /** Ends a call that was never sent. */
  fail(failure: UpstreamFailure): void {
    if (!this.#isCancelled) this.#sink.onFailure(failure);
    this.#sink.onReleased();
  }
}

/**
 * Upstreams that play their scripts and hold the engine to the transport's contract: a request's bytes stay as they were until
 * they are released, nothing is delivered after a cancel, chunks are overwritten as soon as the call returns.
 */
import type { HeaderList, UpstreamCall, UpstreamClient, UpstreamRequest, UpstreamSink } from "../../src/index.ts";
import { findHeader } from "../../src/index.ts";
import type { SeededRandom } from "../../../../tests/random/seeded-random.ts";
import { ALPHA, BETA, inputOf } from "./tiny-dialect.ts";
import { drawScript, type Step, type UpstreamScript } from "./upstream-script.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** One call as the simulation remembers it. */
export interface SentCall {
  readonly input: string;
  readonly host: string;
  readonly headers: HeaderList;
  readonly script: UpstreamScript;
  readonly sentAtMs: number;
  isReleased: boolean;
  isCancelled: boolean;
  /** Nothing can be delivered any more. */
  isOver: boolean;
}

export interface FaultyUpstreamOptions {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  /** Called before a call starts; reports what is wrong with sending now. */
  readonly onSend: (call: SentCall) => void;
  readonly onViolation: (message: string) => void;
}

export class FaultyUpstream implements UpstreamClient {
  readonly calls: SentCall[] = [];
  isClosed = false;
  readonly #options: FaultyUpstreamOptions;

  constructor(options: FaultyUpstreamOptions) {
    this.#options = options;
  }

  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall {
    const { random, clock, onSend, onViolation } = this.#options;
    const words = request.path.startsWith("/alpha/") ? ALPHA : BETA;
    const body = Buffer.concat(request.body);
    if (body.byteLength !== request.bodyLength) onViolation("the announced length is not that of the body");
    const script = drawScript(random, {
      words,
      isStream: findHeader(request.headers, "accept") === "text/event-stream",
      isCount: request.path.endsWith("/count"),
      mark: `c${this.calls.length}`,
    });
    const record: SentCall = {
      input: inputOf(body),
      host: request.origin.host,
      headers: request.headers,
      script,
      sentAtMs: clock.elapsedMs,
      isReleased: false,
      isCancelled: false,
      isOver: false,
    };
    this.calls.push(record);
    onSend(record);
    const call = new ScriptedCall({ ...this.#options, record, request, sink, body });
    call.start();
    return call;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

interface ScriptedCallOptions extends FaultyUpstreamOptions {
  readonly record: SentCall;
  readonly request: UpstreamRequest;
  readonly sink: UpstreamSink;
  /** The body as it was when the call was made. */
  readonly body: Buffer;
}

class ScriptedCall implements UpstreamCall {
  readonly #options: ScriptedCallOptions;
  #next = 0;
  #isPaused = false;
  #isWaiting = false;

  constructor(options: ScriptedCallOptions) {
    this.#options = options;
  }

  start(): void {
    // A transport may report what is due at once from inside `send`.
    if (this.#options.random.chance(0.2)) {
      while (this.#step()?.afterMs === 0 && this.#canPlay()) this.#play();
    }
    this.#wait();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#wait();
  }

  cancel(): void {
    const { record, clock, random } = this.#options;
    record.isCancelled = true;
    this.#finish(random.chance(0.5) ? 0 : random.integer(400), clock);
  }

  #step(): Step | undefined {
    return this.#options.record.script.steps[this.#next];
  }

  #canPlay(): boolean {
    return !this.#options.record.isOver && !this.#isPaused;
  }

  #wait(): void {
    const step = this.#step();
    if (step === undefined || this.#isWaiting || !this.#canPlay()) return;
    this.#isWaiting = true;
    this.#options.clock.schedule(step.afterMs, () => {
      this.#isWaiting = false;
      if (!this.#canPlay()) return;
      this.#play();
      this.#wait();
    });
  }

  #play(): void {
    const step = this.#step() as Step;
    this.#next += 1;
    const { sink, clock } = this.#options;
    const { event } = step;
    switch (event.type) {
      case "sent":
        sink.onSent();
        if (this.#options.random.chance(0.7)) this.#release();
        return;
      case "head":
        sink.onHead(event.status, event.headers);
        return;
      case "data":
        this.#deliver(event.bytes);
        return;
      case "end":
        this.#finish(0, clock);
        sink.onEnd();
        return;
      case "failure":
        this.#finish(0, clock);
        sink.onFailure(event.failure);
        return;
    }
  }

  /** What was read at once comes in one go, even when the first half of it has led to a pause. */
  #deliver(bytes: Uint8Array): void {
    const { random, record, sink } = this.#options;
    const middle = random.chance(0.3) ? random.integer(bytes.byteLength) : 0;
    for (const piece of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
      if (record.isOver || piece.byteLength === 0) continue;
      const lent = Uint8Array.from(piece);
      sink.onData(lent);
      lent.fill(0xdb);
    }
  }

  #finish(releaseAfterMs: number, clock: VirtualClock): void {
    const { record } = this.#options;
    if (record.isOver) return;
    record.isOver = true;
    clock.schedule(releaseAfterMs, () => this.#release());
  }

  #release(): void {
    const { record, request, body, sink, onViolation } = this.#options;
    if (record.isReleased) return;
    if (!body.equals(Buffer.concat(request.body)))
      onViolation(`the body of ${record.input} changed before its call had released it`);
    record.isReleased = true;
    sink.onReleased();
  }
}

// An upstream client without sockets: tests play the upstream call by call. Chunks come in one buffer that is overwritten after each
// call, as the real client's may be.
import type {
  HeaderList,
  UpstreamCall,
  UpstreamClient,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamSink,
} from "@dragoman/core";

const POISON = 0xdb;

/** One call of the engine, played by the test. */
export class FakeCall implements UpstreamCall {
  readonly request: UpstreamRequest;
  isPaused = false;
  isCancelled = false;
  isOver = false;
  isReleased = false;
  readonly #sink: UpstreamSink;

  constructor(request: UpstreamRequest, sink: UpstreamSink) {
    this.request = request;
    this.#sink = sink;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isCancelled = true;
    queueMicrotask(() => this.#release());
  }

  /** The request was sent whole. */
  sent(): this {
    if (!this.isOver) this.#sink.onSent();
    return this;
  }

  head(status = 200, headers: HeaderList = ["content-type", "text/event-stream"]): this {
    if (!this.isOver) this.#sink.onHead(status, headers);
    return this;
  }

  data(text: string): this {
    if (this.isOver) return this;
    const chunk = Buffer.from(text, "utf8");
    this.#sink.onData(chunk);
    chunk.fill(POISON);
    return this;
  }

  /** The answer ended as it should. */
  end(): this {
    if (this.isOver) return this;
    this.isOver = true;
    this.#sink.onEnd();
    this.#release();
    return this;
  }

  fail(kind: UpstreamFailure["kind"] = "reset"): this {
    if (this.isOver) return this;
    this.isOver = true;
    this.#sink.onFailure({ kind, detail: "played by the test", hasResponse: true });
    this.#release();
    return this;
  }

  get bodyText(): string {
    return Buffer.concat(this.request.body).toString("utf8");
  }

  #release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.#sink.onReleased();
  }
}

export class FakeUpstream implements UpstreamClient {
  readonly calls: FakeCall[] = [];

  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall {
    const call = new FakeCall(request, sink);
    this.calls.push(call);
    return call;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The n-th call, from 0; throws when the engine has not made it. */
  call(index: number): FakeCall {
    const call = this.calls[index];
    if (call === undefined) throw new Error(`the engine made ${this.calls.length} call(s), not ${index + 1}`);
    return call;
  }
}

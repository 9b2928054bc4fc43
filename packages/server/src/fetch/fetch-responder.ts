// The way back to a caller that holds a WHATWG `Response`. States: idle → held → streaming → ended, or gone from anywhere before
// ended. What the caller has not read yet is bounded: beyond it the engine is told to wait, and so is the upstream.

import type { HeaderList, Responder } from "@dragoman/core";
import { GatewayError } from "@dragoman/core";

import { pairsOf } from "./header-pairs.ts";

/** Bytes of a streamed body that may wait for its reader. */
const BUFFER_BYTES = 65_536;

/** One answer as a `Response`. Aborting the signal, or cancelling the body, counts as the client's leaving. */
export class FetchResponder implements Responder {
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  /** Resolves with the head; rejects with the signal's reason, or with a `TypeError` as `fetch` does when there is no answer. */
  readonly response: Promise<Response>;
  readonly #signal: AbortSignal | null;
  readonly #onAbort: () => void;
  #resolve: (response: Response) => void = ignore;
  #reject: (reason: unknown) => void = ignore;
  #state: "idle" | "held" | "streaming" | "ended" | "gone" = "idle";
  #status = 0;
  #headers: HeaderList = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isFull = false;
  /** Set when the body is broken and its reader still has to get what came before. */
  #failure: TypeError | null = null;
  #onLeft: (() => void) | null = null;

  constructor(signal: AbortSignal | null) {
    this.#signal = signal;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#onAbort = () => this.#leave(signal?.reason);
    signal?.addEventListener("abort", this.#onAbort);
  }

  /** Calls back when the client leaves, before the engine hears of it; for the read of its body. */
  set onLeft(callback: () => void) {
    this.#onLeft = callback;
  }

  /** Whether the client left before the answer ended, or was told that it is broken. */
  get isGone(): boolean {
    return this.#state === "gone";
  }

  head(status: number, headers: HeaderList): void {
    if (this.#state === "gone") return;
    if (this.#state !== "idle") throw new GatewayError("state_violation", "An answer's head is written once.");
    this.#state = "held";
    this.#status = status;
    this.#headers = headers;
    queueMicrotask(() => this.#open());
  }

  write(bytes: Uint8Array): boolean {
    if (this.#state === "gone") return true;
    this.#open();
    if (this.#state !== "streaming") throw new GatewayError("state_violation", "Body bytes come between head and end.");
    if (bytes.byteLength > 0) this.#controller?.enqueue(plainBytes(bytes));
    this.#isFull = (this.#controller?.desiredSize ?? 1) <= 0;
    return !this.#isFull;
  }

  /** There is no connection to close: an unread body is simply left. */
  end(bytes: Uint8Array | null, _closeConnection: boolean): void {
    if (this.#state === "gone") return;
    if (this.#state !== "held" && this.#state !== "streaming")
      throw new GatewayError("state_violation", "An answer ends once, after its head.");
    if (this.#state === "held") this.#respond(bytes === null ? null : plainBytes(bytes), bytes?.byteLength ?? 0);
    else {
      if (bytes !== null && bytes.byteLength > 0) this.#controller?.enqueue(plainBytes(bytes));
      this.#controller?.close();
    }
    this.#finish("ended");
  }

  abort(): void {
    if (this.#state === "gone" || this.#state === "ended") return;
    const cause = new GatewayError("internal", "The gateway broke the answer off.");
    if (this.#controller === null) this.#reject(new TypeError("fetch failed", { cause }));
    else this.#failure = new TypeError("terminated", { cause });
    this.#finish("gone");
    this.#failWhenRead();
  }

  #open(): void {
    if (this.#state !== "held") return;
    this.#state = "streaming";
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#leave(null),
      },
      { highWaterMark: BUFFER_BYTES, size: ({ byteLength }) => byteLength },
    );
    this.#respond(body, null);
  }

  #respond(body: ReadableStream<Uint8Array> | Uint8Array | null, byteLength: number | null): void {
    const headers = pairsOf(this.#headers);
    if (byteLength !== null && byteLength > 0) headers.push(["content-length", String(byteLength)]);
    this.#resolve(new Response(body, { status: this.#status, headers }));
  }

  #pull(): void {
    this.#failWhenRead();
    if (!this.#isFull) return;
    this.#isFull = false;
    this.onDrain?.();
  }

  /** Breaks the body once nothing waits in it: an error throws away what does. */
  #failWhenRead(): void {
    const controller = this.#controller;
    if (this.#failure === null || controller === null || controller.desiredSize !== BUFFER_BYTES) return;
    controller.error(this.#failure);
    this.#failure = null;
  }

  /** The client left: by its signal, with a reason, or by cancelling the body. */
  #leave(reason: unknown): void {
    if (this.#state === "ended" || this.#state === "gone") return;
    const { onGone } = this;
    if (this.#controller === null) this.#reject(reason);
    else if (reason !== null) this.#controller.error(reason);
    this.#finish("gone");
    this.#onLeft?.();
    onGone?.();
  }

  #finish(state: "ended" | "gone"): void {
    this.#state = state;
    this.onDrain = null;
    this.onGone = null;
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** A `Buffer` has other methods than the `Uint8Array` that readers of a body expect. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
}

function ignore(): void {
  // Replaced in the constructor: a promise's executor runs at once.
}

// Carries bytes from a producer to a client's connection that may be slower. Invariants: bytes leave in the order they came, each
// once; the producer hears of pressure in strict alternation, high first; a producer that stops when told so leaves at most the
// high water mark and the one piece that reached it waiting.

import { GatewayError } from "../errors/index.ts";
import { ByteQueue } from "./byte-queue.ts";

/** Small pieces that waited go out together up to this size: a write costs more than a copy of this much. */
const MAX_BATCH_BYTES = 64 * 1024;

/** The two ends of a {@link Relay} and its marks. */
export interface RelayOptions {
  /** Hands bytes to the connection, which owns them from then on. False when it took them but has no room for more until `drained`. */
  readonly write: (bytes: Uint8Array) => boolean;
  /** Waiting bytes at which the producer is asked to stop. */
  readonly highWaterBytes: number;
  /** Waiting bytes at which it may go on. */
  readonly lowWaterBytes: number;
  /** Tells the producer to stop (true) or to go on (false). It may push from inside the call. */
  readonly onPressure: (isHigh: boolean) => void;
}

/** A bounded way from one producer to one connection. States: `flowing` ⇄ `blocked` (the connection is full) → `discarded`. */
export class Relay {
  readonly #write: (bytes: Uint8Array) => boolean;
  readonly #onPressure: (isHigh: boolean) => void;
  readonly #queue: ByteQueue;
  #state: "flowing" | "blocked" | "discarded" = "flowing";
  #isDraining = false;
  #isHigh = false;
  #whenEmpty: (() => void) | null = null;
  #pushedBytes = 0;

  constructor(options: RelayOptions) {
    this.#write = options.write;
    this.#onPressure = options.onPressure;
    // The producer is stopped, its bytes are never refused: what it had already read when it was told still has to go somewhere.
    this.#queue = new ByteQueue({
      maxBytes: Number.MAX_SAFE_INTEGER,
      highWaterBytes: options.highWaterBytes,
      lowWaterBytes: options.lowWaterBytes,
    });
  }

  /** Bytes taken from the producer so far, without those pushed after `discard`. */
  get pushedBytes(): number {
    return this.#pushedBytes;
  }

  /** Bytes that the connection was not given yet. */
  get waitingBytes(): number {
    return this.#queue.byteLength;
  }

  /** Takes bytes; they must not be changed afterwards. Ignored after `discard`. */
  push(bytes: Uint8Array): void {
    if (this.#state === "discarded" || bytes.length === 0) return;
    this.#pushedBytes += bytes.length;
    if (this.#state === "flowing" && this.#queue.count === 0) {
      this.#give(bytes);
      return;
    }
    this.#queue.push(bytes);
    if (this.#queue.isHigh) this.#tellPressure(true);
  }

  /** The connection has room again. */
  drained(): void {
    if (this.#state === "discarded") return;
    this.#state = "flowing";
    // A connection may report room from inside `write`: the loop below goes on then, a loop in the loop would eat up the stack.
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (this.#isFlowing() && this.#queue.count > 0) this.#give(this.#takeBatch());
    } finally {
      this.#isDraining = false;
    }
    if (this.#queue.isLow) this.#tellPressure(false);
    this.#checkEmpty();
  }

  /**
   * Calls back once when the connection was given everything, at once when it already was; never after `discard`. One callback may
   * wait at a time, a second one is a `state_violation`.
   */
  whenEmpty(callback: () => void): void {
    if (this.#whenEmpty !== null)
      throw new GatewayError("state_violation", "A callback already waits for this relay to be empty.");
    this.#whenEmpty = callback;
    this.#checkEmpty();
  }

  /** The connection is gone: drops what waits and forgets the callback. The producer is let go on; it may outlive its client. */
  discard(): void {
    if (this.#state === "discarded") return;
    this.#state = "discarded";
    this.#queue.clear();
    this.#whenEmpty = null;
    this.#tellPressure(false);
  }

  // A method, because calls change the state behind the compiler's narrowing.
  #isFlowing(): boolean {
    return this.#state === "flowing";
  }

  #give(bytes: Uint8Array): void {
    // Blocked before the call, so that a `drained` or `discard` from inside it is not overwritten by its result.
    this.#state = "blocked";
    const hasRoom = this.#write(bytes);
    if (hasRoom && this.#state === "blocked") this.#state = "flowing";
  }

  /** The next bytes to write: one piece as it is, or several small ones copied together. */
  #takeBatch(): Uint8Array {
    // The cast holds because the caller checked that a piece waits.
    const first = this.#queue.shift() as Uint8Array;
    const second = this.#queue.peek();
    if (second === null || first.length + second.length > MAX_BATCH_BYTES) return first;
    const batch = Buffer.allocUnsafe(Math.min(MAX_BATCH_BYTES, first.length + this.#queue.byteLength));
    batch.set(first);
    let length = first.length;
    for (
      let next = this.#queue.peek();
      next !== null && length + next.length <= batch.length;
      next = this.#queue.peek()
    ) {
      batch.set(next, length);
      length += next.length;
      this.#queue.shift();
    }
    return batch.subarray(0, length);
  }

  #tellPressure(isHigh: boolean): void {
    if (this.#isHigh === isHigh) return;
    this.#isHigh = isHigh;
    this.#onPressure(isHigh);
  }

  #checkEmpty(): void {
    if (this.#queue.count > 0 || this.#state === "discarded") return;
    const callback = this.#whenEmpty;
    this.#whenEmpty = null;
    callback?.();
  }
}

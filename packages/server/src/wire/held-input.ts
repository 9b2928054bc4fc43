// What a paused call has not been given yet: copies of bytes that were already read, then the end or the failure behind them.
// Bounded by one read buffer for plain sockets and by one decrypted read for TLS, since the socket stops reading at the pause.

import type { FailureKind } from "./failure.ts";

/** Input that waits for a resume, in order. */
export class HeldInput {
  /** A failure that comes after the bytes. */
  failure: { readonly kind: FailureKind; readonly detail: string } | null = null;
  /** The peer ended its side, after the bytes. */
  hasEnd: boolean = false;
  /** A delivery is due; new input queues up behind it. */
  isFlushScheduled: boolean = false;
  readonly #chunks: Buffer[] = [];

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Copies bytes that were read after the pause. */
  append(bytes: Buffer, start: number, end: number): void {
    this.#chunks.push(Buffer.from(bytes.subarray(start, end)));
  }

  /** Keeps the rest of what was being delivered when the pause came; it is the oldest. Copied unless it was held before. */
  putBack(rest: Buffer, isBorrowed: boolean): void {
    this.#chunks.unshift(isBorrowed ? Buffer.from(rest) : rest);
  }

  /** The oldest bytes. Only while not empty. */
  take(): Buffer {
    return this.#chunks.shift() as Buffer;
  }

  /** True when the caller has to arrange the delivery. */
  scheduleFlush(): boolean {
    if (this.isFlushScheduled) return false;
    this.isFlushScheduled = true;
    return true;
  }
}

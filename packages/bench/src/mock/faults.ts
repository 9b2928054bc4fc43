// Faults on demand: the next calls that match are answered wrongly in a stated way, then the mock is healthy again.

/** What goes wrong. */
export type FaultKind =
  /** Answer with `status` instead of 200. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  /** Close the connection before any byte of the answer. */
  | { readonly kind: "close" }
  /** Wait `delayMs` on top of the latency script. */
  | { readonly kind: "delay"; readonly delayMs: number }
  /** Never answer. */
  | { readonly kind: "hang" }
  /** Promise the whole body and close after half of it; for streams after `parts` parts. */
  | { readonly kind: "truncate"; readonly parts?: number }
  /** Reset the connection (RST) after `parts` parts of a stream, or half a plain body. */
  | { readonly kind: "reset"; readonly parts?: number }
  /** End a stream properly framed but without its terminator event. */
  | { readonly kind: "no-terminator" }
  /** Send an error event inside a stream after `parts` parts, then end it. */
  | { readonly kind: "error-event"; readonly parts?: number }
  /** A body that is not JSON, status 200. */
  | { readonly kind: "garbage" };

/** A fault and how many of the next calls it hits. A mock of several processes counts in each of them. */
export interface Fault {
  readonly fault: FaultKind;
  /** How many calls it hits; absent means until cleared. */
  readonly count?: number;
  /** Hits every n-th call only; absent means each. */
  readonly every?: number;
}

/** Armed faults of one mock process. */
export class FaultPlan {
  #armed: { readonly fault: FaultKind; remaining: number; readonly every: number; calls: number }[] = [];

  arm(faults: readonly Fault[]): void {
    this.#armed = faults.map(({ fault, count, every }) => ({
      fault,
      remaining: count ?? Number.POSITIVE_INFINITY,
      every: Math.max(1, every ?? 1),
      calls: 0,
    }));
  }

  /** The fault of the next call, if any. Call once per call. */
  next(): FaultKind | undefined {
    if (this.#armed.length === 0) return undefined;
    for (const armed of this.#armed) {
      armed.calls += 1;
      if (armed.calls % armed.every !== 0) continue;
      armed.remaining -= 1;
      if (armed.remaining <= 0) this.#armed = this.#armed.filter((each) => each !== armed);
      return armed.fault;
    }
    return undefined;
  }
}

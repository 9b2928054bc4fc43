// A clock that tests move by hand. Timers fire in the order of their times, and what they set off has run when `advance` resolves.
import { setImmediate as turn } from "node:timers/promises";

import type { Clock, Timer } from "@dragoman/core";

interface Armed {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Lets promises and immediates that are due run, also those that they set off. */
async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await turn();
}

export class FakeClock implements Clock {
  readonly #armed = new Set<Armed>();
  #nowMs = 0;

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#armed.size;
  }

  nowMs(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const armed: Armed = { atMs: this.#nowMs + delayMs, callback };
    this.#armed.add(armed);
    return { cancel: () => this.#armed.delete(armed) };
  }

  /** Moves time on and runs every timer on the way at its own time. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await settle();
    for (let next = this.#takeDue(untilMs); next !== null; next = this.#takeDue(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
      await settle();
    }
    this.#nowMs = untilMs;
  }

  #takeDue(untilMs: number): Armed | null {
    let first: Armed | null = null;
    for (const armed of this.#armed)
      if (armed.atMs <= untilMs && (first === null || armed.atMs < first.atMs)) first = armed;
    if (first !== null) this.#armed.delete(first);
    return first;
  }
}

/** A clock of this process that counts its timers. */
export class CountingClock implements Clock {
  readonly #inner: Clock;
  #pending = 0;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  get pendingTimers(): number {
    return this.#pending;
  }

  nowMs(): number {
    return this.#inner.nowMs();
  }

  monotonicMs(): number {
    return this.#inner.monotonicMs();
  }

  schedule(delayMs: number, callback: () => void): Timer {
    let isPending = true;
    this.#pending += 1;
    const finish = (): boolean => {
      if (!isPending) return false;
      isPending = false;
      this.#pending -= 1;
      return true;
    };
    const timer = this.#inner.schedule(delayMs, () => {
      if (finish()) callback();
    });
    return {
      cancel: () => {
        timer.cancel();
        finish();
      },
    };
  }
}

/** What the last byte of an answer waits for, by durability. */
import type { Clock } from "@dragoman/core";

import type { TurnEnd } from "./turn-end.ts";

type Settle = (isKept: boolean) => void;

/**
 * Waits until the lines survive a loss of power. Group commit: all seals that were asked for before a sync begins share it, and at most
 * one sync runs.
 */
export class SyncSeal {
  readonly #sync: () => Promise<boolean>;
  readonly #turnEnd: TurnEnd;
  #waiting: Settle[] = [];
  #isRunning = false;

  /** `sync` writes everything so far and makes it durable. It never rejects. */
  constructor(sync: () => Promise<boolean>, turnEnd: TurnEnd) {
    this.#sync = sync;
    this.#turnEnd = turnEnd;
  }

  readonly seal = (): Promise<boolean> =>
    new Promise((settle) => {
      this.#waiting.push(settle);
      if (this.#isRunning) return;
      this.#isRunning = true;
      this.#turnEnd(() => void this.#run());
    });

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const isKept = await this.#sync();
      for (const settle of group) settle(isKept);
    }
    this.#isRunning = false;
  }
}

/** What a seal of a store works with. */
export interface StoreSealParts {
  readonly clock: Pick<Clock, "schedule">;
  /** The longest wait: a client should not hang on a database. */
  readonly timeoutMs: number;
  /** Writes everything so far; the position up to which the store has to be, or null when the lines could not be written. */
  readonly write: () => number | null;
  /** Up to where the store has booked. */
  readonly booked: () => number;
}

interface Wait {
  readonly position: number;
  readonly settle: Settle;
}

/** Waits until the store has booked the lines. Positions only grow, so those who wait are in order. */
export class StoreSeal {
  readonly #parts: StoreSealParts;
  #waiting: Wait[] = [];

  constructor(parts: StoreSealParts) {
    this.#parts = parts;
  }

  readonly seal = (): Promise<boolean> => {
    const { clock, timeoutMs, write, booked } = this.#parts;
    const position = write();
    if (position === null) return Promise.resolve(false);
    if (booked() >= position) return Promise.resolve(true);
    return new Promise((settle) => {
      const timer = clock.schedule(timeoutMs, () => {
        this.#waiting = this.#waiting.filter((each) => each !== wait);
        settle(false);
      });
      const wait: Wait = {
        position,
        settle: (isKept) => {
          timer.cancel();
          settle(isKept);
        },
      };
      this.#waiting.push(wait);
    });
  };

  /** The store has booked more. */
  advance(): void {
    const booked = this.#parts.booked();
    const done = this.#waiting.filter(({ position }) => position <= booked);
    if (done.length === 0) return;
    this.#waiting = this.#waiting.slice(done.length);
    for (const { settle } of done) settle(true);
  }

  /** Nothing more will be booked. */
  end(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { settle } of waiting) settle(false);
  }
}

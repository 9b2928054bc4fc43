/**
 * Time as a discrete event loop: nothing waits, the next timer is simply the next thing that happens. Between two timers all
 * promise jobs run. Timers of the engine are counted apart from those of its surroundings, so that a forgotten one shows.
 */
import type { Clock, Timer } from "../../src/index.ts";

interface Entry {
  readonly atMs: number;
  readonly isEngine: boolean;
  readonly callback: () => void;
  isPending: boolean;
}

/** Wall-clock time at which every simulation begins. */
const START_MS = 1_800_000_000_000;

export class VirtualClock {
  readonly #entries: Entry[] = [];
  #enginePending = 0;
  #elapsedMs = 0;

  /** The clock that the engine gets. */
  readonly engine: Clock = {
    nowMs: () => START_MS + Math.floor(this.#elapsedMs),
    monotonicMs: () => this.#elapsedMs,
    schedule: (delayMs, callback) => this.#add(delayMs, callback, true),
  };

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Timers of the engine that neither fired nor were cancelled. */
  get enginePending(): number {
    return this.#enginePending;
  }

  /** Schedules something of the engine's surroundings. */
  schedule(delayMs: number, callback: () => void): Timer {
    return this.#add(delayMs, callback, false);
  }

  /** Runs timers in order until `isOver` or no timer is left; false when `maxMs` of virtual time did not suffice. */
  async run(isOver: () => boolean, maxMs: number): Promise<boolean> {
    const endMs = this.#elapsedMs + maxMs;
    await settle();
    while (!isOver()) {
      const entry = this.#entries.shift();
      if (entry === undefined) return isOver();
      if (!entry.isPending) continue;
      if (entry.atMs > endMs) {
        this.#entries.unshift(entry);
        return false;
      }
      this.#elapsedMs = entry.atMs;
      this.#end(entry);
      entry.callback();
      await settle();
    }
    return true;
  }

  #add(delayMs: number, callback: () => void, isEngine: boolean): Timer {
    if (!(delayMs >= 0 && delayMs < Number.POSITIVE_INFINITY))
      throw new RangeError(`A timer cannot wait ${delayMs} ms.`);
    const entry: Entry = { atMs: this.#elapsedMs + delayMs, isEngine, callback, isPending: true };
    this.#entries.splice(this.#positionOf(entry), 0, entry);
    if (isEngine) this.#enginePending += 1;
    return { cancel: () => this.#end(entry) };
  }

  #end(entry: Entry): void {
    if (!entry.isPending) return;
    entry.isPending = false;
    if (entry.isEngine) this.#enginePending -= 1;
  }

  #positionOf(entry: Entry): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle] as Entry).atMs <= entry.atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Lets every promise job run that is due. */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

// The writes of one turn of the event loop leave together. A write to a peer that sleeps has to wake it, which on a virtual machine costs
// more than the write; right behind another write the peer is still awake. Nothing waits longer than the turn, nor for more than a few
// others, so that a busy loop does not hold back its first answers. docs/performance.md has the figures.

/** Something with bytes that are ready to leave. */
export interface TurnWriter {
  /** Hands its bytes to the kernel. Must not throw. */
  flushTurn(): void;
}

/** So many writers share a batch: fewer save less, more save no more (4, 8, 16, 32, 64 and 1,000 were measured). */
const MAX_WAITING = 32;

/** Gathers writers and flushes them in the order of their `add`. */
export class TurnWrites {
  #waiting: TurnWriter[] = [];
  #isScheduled = false;
  readonly #flush: () => void = () => this.#flushWaiting();
  readonly #endTurn: () => void = () => {
    this.#isScheduled = false;
    this.#flushWaiting();
  };

  /** Flushes the writer at the end of this turn at the latest, and never before the caller has returned. */
  add(writer: TurnWriter): void {
    const count = this.#waiting.push(writer);
    if (count === MAX_WAITING) process.nextTick(this.#flush);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Runs once all sockets that were readable in this turn have had their say.
    setImmediate(this.#endTurn);
  }

  #flushWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const writer of waiting) writer.flushTurn();
  }
}

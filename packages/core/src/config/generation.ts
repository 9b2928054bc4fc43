/**
 * The current snapshot and the older ones that requests still use. Generations only grow; a replaced snapshot is reported as
 * retired exactly once, when its last request has let go of it.
 */
import { GatewayError } from "../errors/index.ts";
import type { Snapshot } from "./snapshot.ts";

interface Slot {
  readonly snapshot: Snapshot;
  inFlight: number;
}

/** Holds the generations of one gateway. */
export class GenerationHolder {
  readonly #onRetired: ((snapshot: Snapshot) => void) | null;
  readonly #replaced = new Map<Snapshot, Slot>();
  #current: Slot;

  /** `onRetired` is called with each replaced snapshot that nobody uses any more; within `swap` or `release`. */
  constructor(first: Snapshot, onRetired: ((snapshot: Snapshot) => void) | null = null) {
    this.#current = { snapshot: first, inFlight: 0 };
    this.#onRetired = onRetired;
  }

  /** The current snapshot, for a look that does not outlive the caller's turn. */
  current(): Snapshot {
    return this.#current.snapshot;
  }

  /** The current snapshot for a request. It must be released once. */
  acquire(): Snapshot {
    this.#current.inFlight += 1;
    return this.#current.snapshot;
  }

  /** Lets go of an acquired snapshot. Throws `state_violation` when it was not acquired. */
  release(snapshot: Snapshot): void {
    const slot = this.#slotOf(snapshot);
    if (slot === undefined || slot.inFlight === 0)
      throw new GatewayError("state_violation", "A snapshot was released that nobody had acquired.");
    slot.inFlight -= 1;
    if (slot !== this.#current && slot.inFlight === 0) this.#retire(slot);
  }

  /** Makes a snapshot the current one. Throws `state_violation` when its generation is not above the current one's. */
  swap(next: Snapshot): void {
    const previous = this.#current;
    if (next.generation <= previous.snapshot.generation)
      throw new GatewayError(
        "state_violation",
        `Generation ${next.generation} cannot follow generation ${previous.snapshot.generation}; generations grow.`,
      );
    this.#current = { snapshot: next, inFlight: 0 };
    this.#replaced.set(previous.snapshot, previous);
    if (previous.inFlight === 0) this.#retire(previous);
  }

  /** Requests that hold a snapshot; 0 for an unknown one. */
  inFlight(snapshot: Snapshot): number {
    return this.#slotOf(snapshot)?.inFlight ?? 0;
  }

  /** Replaced snapshots that are still in use. */
  get replacedCount(): number {
    return this.#replaced.size;
  }

  #slotOf(snapshot: Snapshot): Slot | undefined {
    return snapshot === this.#current.snapshot ? this.#current : this.#replaced.get(snapshot);
  }

  #retire(slot: Slot): void {
    this.#replaced.delete(slot.snapshot);
    this.#onRetired?.(slot.snapshot);
  }
}

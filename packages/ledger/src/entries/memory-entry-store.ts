/**
 * Entries in memory, oldest first, and what they add up to. Invariants: an id counts once however often it comes; the store is
 * bounded, and tells how many entries it had to forget.
 */
import type { EntrySink, LedgerEntry } from "./ledger-entry.ts";
import { SpendTable, type SpendQuery, type SpendRow } from "./spend.ts";

/** Entries kept, unless told otherwise. */
const DEFAULT_MAX_ENTRIES = 100_000;

/** A store for embedded use, tests, and the durability that keeps nothing. */
export class MemoryEntryStore implements EntrySink {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, LedgerEntry>();
  #forgotten = 0;

  constructor(maxEntries: number = DEFAULT_MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
  }

  append(entry: LedgerEntry): void {
    if (this.#entries.has(entry.id)) return;
    this.#entries.set(entry.id, entry);
    if (this.#entries.size <= this.#maxEntries) return;
    const oldest = this.#entries.keys().next();
    if (oldest.done === true) return;
    this.#entries.delete(oldest.value);
    this.#forgotten += 1;
  }

  /** Entries kept, oldest first. */
  entries(): IterableIterator<LedgerEntry> {
    return this.#entries.values();
  }

  find(id: string): LedgerEntry | null {
    return this.#entries.get(id) ?? null;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Entries that had to go for newer ones. A query says nothing about them. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Sums over the entries kept. */
  spend(query: SpendQuery): readonly SpendRow[] {
    const table = new SpendTable(query);
    for (const entry of this.#entries.values()) table.add(entry);
    return table.rows();
  }
}

/**
 * A store in memory: for embedded use, tests, and the durability that keeps nothing. Invariants: those of every store; and it is
 * bounded, and tells how many entries it had to forget.
 */
import { GatewayError } from "@dragoman/core";

import {
  MemoryEntryStore,
  type EntrySink,
  type LedgerEntry,
  type SpendQuery,
  type SpendRow,
} from "../../entries/index.ts";
import { KeyDesk, type KeyStore } from "../../keys/index.ts";
import { ConsumptionTable } from "../consumption-table.ts";
import type { Consumption, ConsumptionQuery, EntryQuery, IngestBatch, LedgerStore } from "../ledger-store.ts";
import { requireWholeNumbers } from "../whole-numbers.ts";
import { MemoryKeyBackend } from "./memory-key-backend.ts";

/** Keeps a ledger as long as the process lives. Is a sink, too: what is appended is there at once. */
export class MemoryLedgerStore implements LedgerStore, EntrySink {
  readonly keys: KeyStore = new KeyDesk(new MemoryKeyBackend(() => this.#requireOpen()));
  readonly #entries: MemoryEntryStore;
  readonly #progress = new Map<string, number>();
  #isClosed = false;

  /** Keeps at most so many entries; default 100,000. */
  constructor(maxEntries?: number) {
    this.#entries = new MemoryEntryStore(maxEntries);
  }

  append(entry: LedgerEntry): void {
    this.#entries.append(entry);
  }

  async ingest({ entries, progress }: IngestBatch): Promise<void> {
    this.#requireOpen();
    for (const entry of entries) requireWholeNumbers(entry);
    for (const entry of entries) this.#entries.append(entry);
    if (progress === null) return;
    this.#progress.set(progress.file, Math.max(progress.offset, this.#progress.get(progress.file) ?? 0));
  }

  async progress(): Promise<ReadonlyMap<string, number>> {
    this.#requireOpen();
    return new Map(this.#progress);
  }

  async forgetProgress(files: readonly string[]): Promise<void> {
    this.#requireOpen();
    for (const file of files) this.#progress.delete(file);
  }

  async *entries(query: EntryQuery): AsyncIterable<LedgerEntry> {
    this.#requireOpen();
    const found = [...this.#entries.entries()].filter((entry) => matches(entry, query));
    found.sort((one, other) => one.endedMs - other.endedMs);
    yield* found.slice(0, query.limit);
  }

  async spend(query: SpendQuery): Promise<readonly SpendRow[]> {
    this.#requireOpen();
    return this.#entries.spend(query);
  }

  async consumption(query: ConsumptionQuery): Promise<readonly Consumption[]> {
    this.#requireOpen();
    const table = new ConsumptionTable(query);
    for (const entry of this.#entries.entries()) table.add(entry);
    return table.rows();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Entries kept. */
  get size(): number {
    return this.#entries.size;
  }

  /** Entries that had to go for newer ones. A query says nothing about them. */
  get forgotten(): number {
    return this.#entries.forgotten;
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new GatewayError("ledger_store_failed", "The store in memory is closed.");
  }
}

function matches(entry: LedgerEntry, query: EntryQuery): boolean {
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = query;
  if (entry.endedMs < sinceMs || entry.endedMs >= untilMs) return false;
  return (["key", "owner", "model", "requestId"] as const).every(
    (name) => query[name] === undefined || query[name] === entry[name],
  );
}

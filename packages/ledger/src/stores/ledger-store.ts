/**
 * Where entries, keys and owners are kept. Invariants of every store: an entry is booked once however often it comes; entries and the
 * place they were read from are kept in one transaction; entries are never changed.
 */
import type { LedgerEntry, SpendQuery, SpendRow } from "../entries/index.ts";
import type { KeyStore } from "../keys/index.ts";
import type { Scope } from "../limits/index.ts";

/** Entries on their way from a journal. */
export interface IngestBatch {
  /** Every count, amount and time in them is a whole number. An id that is booked already is passed over. */
  readonly entries: readonly LedgerEntry[];
  /** Up to which byte the entries of a journal's file are booked with this batch; null = they come from no file. */
  readonly progress: JournalProgress | null;
}

/** How far a file was read. */
export interface JournalProgress {
  readonly file: string;
  /** Bytes from the beginning. Never goes back. */
  readonly offset: number;
}

/** Which entries are wanted, oldest end first. */
export interface EntryQuery {
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly key?: string;
  readonly owner?: string;
  readonly model?: string;
  /** Its ids begin with the request's and a slash, as all ids do. */
  readonly requestId?: string;
  /** At most so many. */
  readonly limit?: number;
}

/** Whose consumption is asked for: rebuilds accounts after a start. */
export interface ConsumptionQuery {
  readonly scope: Exclude<Scope, "each-key">;
  /** Entries that ended from this time on. */
  readonly sinceMs: number;
  /** And before this time. Default: all. */
  readonly untilMs?: number;
  /** Sums apart per so many milliseconds, aligned to 1970; null = one sum. */
  readonly partMs: number | null;
}

/** What an account has taken. */
export interface Consumption {
  /** As accounts are named: of the global scope the empty string, of an end user `owner NAME` or `key NAME`, a line feed and the user. */
  readonly id: string;
  /** Beginning of the part; `sinceMs` where there is one sum. */
  readonly partStartMs: number;
  /** Requests whose first attempt ended then; for deployments attempts. */
  readonly requests: number;
  /** Of each entry as many as it is charged for. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** From 0 to `MAX_NANO_USD`, as accounts count. */
  readonly nanoUsd: number;
}

/**
 * A store that is open. Methods reject with `ledger_store_failed` when the store cannot be reached or fails, or was closed, and with
 * `state_violation` for what no store can keep.
 */
export interface LedgerStore {
  ingest(batch: IngestBatch): Promise<void>;
  /** By file name. */
  progress(): Promise<ReadonlyMap<string, number>>;
  /** Files that are gone. */
  forgetProgress(files: readonly string[]): Promise<void>;
  entries(query: EntryQuery): AsyncIterable<LedgerEntry>;
  spend(query: SpendQuery): Promise<readonly SpendRow[]>;
  consumption(query: ConsumptionQuery): Promise<readonly Consumption[]>;
  readonly keys: KeyStore;
  close(): Promise<void>;
}

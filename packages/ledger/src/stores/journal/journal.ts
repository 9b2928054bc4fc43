/** What a journal is made with, and what it offers. */
import type { Clock, Logger, Random, UpstreamClient } from "@dragoman/core";

import type { LedgerRecorder } from "../../entries/index.ts";
import type { LedgerStore } from "../ledger-store.ts";
import type { DataFolder } from "./data-folder.ts";
import type { FullPolicy } from "./disk-guard.ts";
import type { IngestLag } from "./ingest-loop.ts";
import type { JournalFiles } from "./journal-files.ts";
import type { DroppedLines } from "./journal-writer.ts";
import type { RecoveryReport } from "./recovery.ts";
import type { TurnEnd } from "./turn-end.ts";

/** What an answer outlives when its last byte goes out: any death of the process, a loss of power, or the loss of the disk. */
export type JournalDurability = "journal" | "strict" | "store";

/** Parts and settings of a journal. */
export interface JournalOptions {
  /** The locked folder, or what a process that works for its owner knows of it. Files go into `journal/` in it. */
  readonly folder: Pick<DataFolder, "path" | "processes">;
  /** Where entries are booked. It stays open: whoever opened it closes it, after the journal. */
  readonly store: Pick<LedgerStore, "ingest" | "progress" | "forgetProgress">;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default `journal`. */
  readonly durability?: JournalDurability;
  /** While lines cannot be written. Default `refuse`. */
  readonly onFull?: FullPolicy;
  /** Whether what dead incarnations left is booked. Default true; one process of a folder does it. */
  readonly recovers?: boolean;
  /** Default 64 MiB. */
  readonly maxSegmentBytes?: number;
  /** Lines kept in memory while they cannot be written. Default 16 MiB, at least 1 MiB. */
  readonly maxPendingBytes?: number;
  /** How long lines gather before they are booked. Default 100; with durability `store` they are booked at once. */
  readonly ingestDelayMs?: number;
  /** The longest wait of an answer for the store with durability `store`. Default 10,000. */
  readonly sealTimeoutMs?: number;
  /** How often a full disk is tried again. Default 1,000. */
  readonly retryMs?: number;
  /** The longest pause between tries while the store fails. Default 30,000. */
  readonly maxBackoffMs?: number;
  /** Default: `journal/` in the folder. Tests bring their own. */
  readonly files?: JournalFiles;
  /** Default: `setImmediate`. */
  readonly turnEnd?: TurnEnd;
}

/** What operators ask of a journal. */
export interface JournalStatus {
  readonly incarnation: string;
  /** Since when lines cannot be written; null = they can. */
  readonly failingSinceMs: number | null;
  /** Lines that were lost because they could not be written and memory had no room for them. */
  readonly dropped: Readonly<DroppedLines>;
  /** Upstream calls without an entry. */
  readonly openAttempts: number;
  /** Files of this incarnation. */
  readonly files: number;
  readonly isStoreUp: boolean;
  /** How far the store is behind. */
  readonly lag: IngestLag;
  readonly bookedEntries: number;
  /** Entries that no store can keep; the log has them. */
  readonly refusedEntries: number;
  /** Lines of this incarnation that could not be read back. */
  readonly badLines: number;
}

/** An open journal. */
export interface Journal {
  readonly recorder: LedgerRecorder;
  /** Resolves when everything that dead incarnations had left at the start is booked; waits as long as the store is down. */
  readonly recovered: Promise<readonly RecoveryReport[]>;
  /** Decorates the client whose calls have to be written down before they go out. */
  gate(inner: UpstreamClient): UpstreamClient;
  /** Writes every line so far, synchronously, as for the last moment of a process; false = it could not. */
  flush(): boolean;
  status(): JournalStatus;
  /** Books what a process left that is known to be dead; null = this version cannot read it, or the journal is closed. */
  recoverIncarnation(incarnation: string): Promise<RecoveryReport | null>;
  /** Books what can be booked in so many milliseconds (default 10,000) and closes the files; what is left is booked at the next start. */
  close(timeoutMs?: number): Promise<void>;
}

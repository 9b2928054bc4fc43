/**
 * Books what a dead incarnation left: its entries, and for attempts without one the entry that was written for this case. Invariants:
 * files go only when everything in them is booked; a run that ends anywhere changes nothing about the result of the next one, because
 * entries are booked by id and the provisional ones are always the same.
 */
import { GatewayError, type Logger } from "@dragoman/core";

import type { LedgerEntry } from "../../entries/index.ts";
import type { LedgerStore } from "../ledger-store.ts";
import type { JournalFiles, ReadableFile } from "./journal-files.ts";
import { JOURNAL_FORMAT } from "./line-json.ts";
import { parseLine, type JournalRecord } from "./line-reading.ts";
import { reportBadLines } from "./report-bad-lines.ts";
import type { SegmentName } from "./segment-names.ts";
import { SegmentReader } from "./segment-reader.ts";

/** What was found, and what became of it. */
export interface RecoveryReport {
  readonly incarnation: string;
  /** Entries that were not booked before. */
  readonly entries: number;
  /** Attempts that died open and are charged by what was held for them. */
  readonly recovered: number;
  /** Reservations that ended with the process. */
  readonly releasedHolds: number;
  readonly badLines: number;
  /** Bytes of lines that were being written. */
  readonly tornBytes: number;
}

/** What recovery works with. */
export interface RecoveryParts {
  readonly files: JournalFiles;
  readonly store: Pick<LedgerStore, "ingest" | "progress" | "forgetProgress">;
  readonly logger: Logger;
}

const BATCH_ENTRIES = 256;

/** Recovers one incarnation from its files, which nobody writes any more. Rejects when the store or the files fail. */
export async function recoverIncarnation(
  parts: RecoveryParts,
  segments: readonly SegmentName[],
): Promise<RecoveryReport> {
  const recovery = new Recovery(parts);
  const progress = await parts.store.progress();
  for (const { name } of segments) await recovery.readFile(name, progress.get(name) ?? 0);
  await recovery.bookOpenAttempts();
  await parts.store.forgetProgress(segments.map(({ name }) => name));
  for (const { name } of segments) await parts.files.remove(name);
  return recovery.report(segments[0]?.incarnation ?? "");
}

class Recovery {
  readonly #parts: RecoveryParts;
  /** Attempts without an entry, by id. */
  readonly #open = new Map<string, LedgerEntry>();
  /** Requests that hold something and have made no attempt. */
  readonly #held = new Set<string>();
  #entries = 0;
  #badLines = 0;
  #tornBytes = 0;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Reads a file; books its entries from `bookedTo` on. */
  async readFile(name: string, bookedTo: number): Promise<void> {
    const file = await this.#parts.files.open(name);
    try {
      await this.#read(name, file, bookedTo);
    } finally {
      await file.close();
    }
  }

  async bookOpenAttempts(): Promise<void> {
    const entries = [...this.#open.values()];
    for (let from = 0; from < entries.length; from += BATCH_ENTRIES)
      await this.#parts.store.ingest({ entries: entries.slice(from, from + BATCH_ENTRIES), progress: null });
  }

  report(incarnation: string): RecoveryReport {
    return {
      incarnation,
      entries: this.#entries,
      recovered: this.#open.size,
      releasedHolds: this.#held.size,
      badLines: this.#badLines,
      tornBytes: this.#tornBytes,
    };
  }

  async #read(name: string, file: ReadableFile, bookedTo: number): Promise<void> {
    const { store, logger } = this.#parts;
    const size = await file.size();
    const reader = new SegmentReader(file, 0);
    const head = new Map<string, LedgerEntry>();
    let hasStart = false;
    for (let isAtEnd = false; !isAtEnd;) {
      const batch = await reader.read(size);
      isAtEnd = batch.isAtEnd;
      this.#badLines += reportBadLines(logger, name, batch.bad);
      const entries: LedgerEntry[] = [];
      for (const line of batch.lines) {
        const record = parseLine(line);
        if (record === null) {
          this.#badLines += reportBadLines(logger, name, [{ offset: line.end, byteLength: 0, reason: "format" }]);
        } else if (hasStart) {
          this.#take(record);
          if (record.k === "entry" && line.end > bookedTo) entries.push(record.entry);
        } else if (record.k === "start") {
          requireFormat(record.format, name);
          for (const [id, entry] of head) this.#open.set(id, entry);
          hasStart = true;
        } else if (record.k === "attempt") {
          head.set(record.entry.id, record.entry);
        }
      }
      if (entries.length === 0) continue;
      await store.ingest({ entries, progress: { file: name, offset: reader.position } });
      this.#entries += entries.length;
    }
    this.#tornBytes += size - reader.position;
  }

  #take(record: JournalRecord): void {
    switch (record.k) {
      case "start":
        break;
      case "hold":
        this.#held.add(record.requestId);
        break;
      case "close":
        this.#held.delete(record.requestId);
        break;
      case "attempt":
        this.#held.delete(record.entry.requestId);
        this.#open.set(record.entry.id, record.entry);
        break;
      case "entry":
        this.#open.delete(record.entry.id);
        break;
    }
  }
}

function requireFormat(format: number, name: string): void {
  if (format > JOURNAL_FORMAT)
    throw new GatewayError(
      "config_invalid",
      `The journal file "${name}" has format ${format}; this version reads up to ${JOURNAL_FORMAT}. Start the version that wrote it, or a later one.`,
    );
}

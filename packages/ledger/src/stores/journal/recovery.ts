/**
 * Books what a dead incarnation left: its entries, and for attempts without one the entry that was written for this case. Invariants:
 * files go only when everything in them is booked; a run that ends anywhere changes nothing about the result of the next one, because
 * entries are booked by id and the provisional ones are always the same.
 */
import { GatewayError, type Logger } from "@dragoman/core";

import type { LedgerEntry } from "../../entries/index.ts";
import type { LedgerStore } from "../ledger-store.ts";
import { bookEntries } from "./book-entries.ts";
import { failureFields } from "./disk-guard.ts";
import type { JournalFiles, ReadableFile } from "./journal-files.ts";
import { JOURNAL_FORMAT } from "./line-json.ts";
import { parseLine, type JournalRecord } from "./line-reading.ts";
import { misfit, reportBadLines } from "./report-bad-lines.ts";
import type { SegmentName } from "./segment-names.ts";
import { SegmentReader, type BadLine, type LineBatch } from "./segment-reader.ts";

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
    const file = await this.#openIfThere(name);
    if (file === null) return;
    try {
      await this.#read(name, file, bookedTo);
    } finally {
      await file.close();
    }
  }

  /** A file that is gone was booked by a run that ended while it removed them. */
  async #openIfThere(name: string): Promise<ReadableFile | null> {
    try {
      return await this.#parts.files.open(name);
    } catch (thrown) {
      if (failureFields(thrown)["code"] !== "ENOENT") throw thrown;
      return null;
    }
  }

  async bookOpenAttempts(): Promise<void> {
    const entries = [...this.#open.values()];
    for (let from = 0; from < entries.length; from += BATCH_ENTRIES)
      await bookEntries(this.#parts, { entries: entries.slice(from, from + BATCH_ENTRIES), progress: null });
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
    const size = await file.size();
    const reader = new SegmentReader(file, 0);
    const head = new Head(this.#open);
    for (let isAtEnd = false; !isAtEnd;) {
      const batch = await reader.read(size);
      isAtEnd = batch.isAtEnd;
      const entries = this.#readLines(name, batch, bookedTo, head);
      if (entries.length === 0) continue;
      const refused = await bookEntries(this.#parts, { entries, progress: { file: name, offset: reader.position } });
      this.#entries += entries.length - refused;
    }
    this.#tornBytes += size - reader.position;
  }

  /** Takes the lines of a batch; returns the entries that are not booked. */
  #readLines(name: string, { lines, bad }: LineBatch, bookedTo: number, head: Head): readonly LedgerEntry[] {
    const misfits: BadLine[] = [];
    const entries: LedgerEntry[] = [];
    if (bad.length > 0) head.end();
    for (const line of lines) {
      const record = parseLine(line);
      if (record === null) misfits.push(misfit(line));
      else if (record.k === "start") requireFormat(record.format, name);
      if (record === null || record.k === "start") head.end();
      else if (!head.take(record)) {
        this.#take(record);
        if (record.k === "entry" && line.end > bookedTo) entries.push(record.entry);
      }
    }
    this.#badLines += reportBadLines(this.#parts.logger, name, [...bad, ...misfits]);
    return entries;
  }

  #take(record: Exclude<JournalRecord, { k: "start" }>): void {
    switch (record.k) {
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

/**
 * The lines above a file's `start`: attempts of the file before. They count when the file was begun for good; a file that ends before
 * was given up, and the one before went on. Any other line, and one that cannot be read, shows that it was begun.
 */
class Head {
  readonly #open: Map<string, LedgerEntry>;
  #carried: LedgerEntry[] | null = [];

  constructor(open: Map<string, LedgerEntry>) {
    this.#open = open;
  }

  /** Keeps an attempt of the head; false = the head is over. */
  take(record: JournalRecord): boolean {
    if (this.#carried !== null && record.k === "attempt") {
      this.#carried.push(record.entry);
      return true;
    }
    this.end();
    return false;
  }

  end(): void {
    for (const entry of this.#carried ?? []) this.#open.set(entry.id, entry);
    this.#carried = null;
  }
}

function requireFormat(format: number, name: string): void {
  if (format > JOURNAL_FORMAT)
    throw new GatewayError(
      "config_invalid",
      `The journal file "${name}" has format ${format}; this version reads up to ${JOURNAL_FORMAT}. Start the version that wrote it, or a later one.`,
    );
}

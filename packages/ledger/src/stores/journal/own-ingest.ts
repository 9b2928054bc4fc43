/**
 * Follows a live writer through its files and books its entries. Invariants: the place up to which a file is booked is kept with the
 * entries before it; a file goes when nothing more comes and everything in it is booked.
 */
import type { Logger } from "@dragoman/core";

import type { LedgerEntry } from "../../entries/index.ts";
import type { LedgerStore } from "../ledger-store.ts";
import { bookEntries } from "./book-entries.ts";
import { failureFields } from "./disk-guard.ts";
import type { JournalFiles, ReadableFile } from "./journal-files.ts";
import type { JournalWriter, WrittenSegment } from "./journal-writer.ts";
import { parseLine } from "./line-reading.ts";
import { misfit, reportBadLines } from "./report-bad-lines.ts";
import { SegmentReader, type BadLine, type LineBatch } from "./segment-reader.ts";

/** What it works with. */
export interface OwnIngestParts {
  readonly files: JournalFiles;
  readonly writer: JournalWriter;
  readonly store: Pick<LedgerStore, "ingest" | "forgetProgress">;
  readonly logger: Logger;
}

interface Reading {
  readonly segment: WrittenSegment;
  readonly file: ReadableFile;
  readonly reader: SegmentReader;
}

export class OwnIngest {
  readonly #parts: OwnIngestParts;
  #reading: Reading | null = null;
  /** Entries that were read and are not booked, so that a failed booking is repeated and not read again. */
  #entries: readonly LedgerEntry[] = [];
  #position = 0;
  #booked = 0;
  #refused = 0;
  #badLines = 0;

  constructor(parts: OwnIngestParts) {
    this.#parts = parts;
  }

  /** Bytes of the writer that are booked. */
  get position(): number {
    return this.#position;
  }

  get bookedEntries(): number {
    return this.#booked;
  }

  /** Entries that no store can keep. */
  get refusedEntries(): number {
    return this.#refused;
  }

  get badLines(): number {
    return this.#badLines;
  }

  /** Books a batch; false = there is nothing to book. Rejects when the store or a file fails; the next call goes on from there. */
  async step(): Promise<boolean> {
    const reading = this.#reading ?? (await this.#openNext());
    if (reading === null) return false;
    const { segment, reader } = reading;
    if (this.#entries.length === 0) this.#read(segment.name, await reader.read(segment.byteLength));
    if (this.#entries.length > 0) await this.#book(segment.name, reader.position);
    const position = segment.base + reader.position;
    const hasMoved = position > this.#position;
    this.#position = position;
    if (segment.isClosed && reader.position >= segment.byteLength) {
      await this.#leave(reading);
      return true;
    }
    return hasMoved;
  }

  /** Closes what is open. */
  async end(): Promise<void> {
    await this.#reading?.file.close();
    this.#reading = null;
  }

  async #openNext(): Promise<Reading | null> {
    const [segment] = this.#parts.writer.segments;
    if (segment === undefined) return null;
    const file = await this.#parts.files.open(segment.name);
    this.#reading = { segment, file, reader: new SegmentReader(file, 0) };
    return this.#reading;
  }

  #read(name: string, { lines, bad }: LineBatch): void {
    const misfits: BadLine[] = [];
    const entries: LedgerEntry[] = [];
    for (const line of lines) {
      if (line.kind !== "entry") continue;
      const record = parseLine(line);
      if (record?.k === "entry") entries.push(record.entry);
      else misfits.push(misfit(line));
    }
    this.#badLines += reportBadLines(this.#parts.logger, name, [...bad, ...misfits]);
    this.#entries = entries;
  }

  async #book(file: string, offset: number): Promise<void> {
    const refused = await bookEntries(this.#parts, { entries: this.#entries, progress: { file, offset } });
    this.#booked += this.#entries.length - refused;
    this.#refused += refused;
    this.#entries = [];
  }

  async #leave({ segment, file }: Reading): Promise<void> {
    const { files, store, writer, logger } = this.#parts;
    await store.forgetProgress([segment.name]);
    this.#reading = null;
    writer.forget(segment);
    await file.close();
    try {
      // What was open in this file stands in the next one, which has to be as safe before this one goes.
      await writer.sync();
      await files.remove(segment.name);
    } catch (thrown) {
      logger.warn(
        { file: segment.name, ...failureFields(thrown) },
        "A booked journal file could not be removed; the next start will.",
      );
    }
  }
}

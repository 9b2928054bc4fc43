// The run directory: every record is written whole under a temporary name and renamed, so that an interrupted run leaves complete
// repetitions behind and continues with the first missing one.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import {
  RECORD_FORMAT,
  type RawRecord,
  type RepetitionRecord,
  type RunRecord,
  type SummaryRecord,
} from "../contract/record.ts";

/** Reads and writes the files of one run. */
export class RunStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  get directory(): string {
    return this.#directory;
  }

  /** The run of this directory, if there is one. */
  readRun(): RunRecord | undefined {
    return this.#read<RunRecord>("run.json");
  }

  writeRun(record: RunRecord): void {
    this.#write("run.json", record);
  }

  writeSummary(record: SummaryRecord): void {
    this.#write("summary.json", record);
  }

  readSummary(): SummaryRecord | undefined {
    return this.#read<SummaryRecord>("summary.json");
  }

  /** A finished repetition, if it is there. */
  readRepetition(target: string, cell: string, repetition: number): RepetitionRecord | undefined {
    return this.#read<RepetitionRecord>(join(folderOf(target, cell, repetition), "repetition.json"));
  }

  readRaw(target: string, cell: string, repetition: number): RawRecord | undefined {
    return this.#read<RawRecord>(join(folderOf(target, cell, repetition), "raw.json"));
  }

  /** Writes the raw histograms first: a repetition whose record exists is complete. */
  writeRepetition(record: RepetitionRecord, raw: RawRecord): void {
    const folder = folderOf(record.target, record.cell, record.repetition);
    this.#write(join(folder, "raw.json"), raw);
    this.#write(join(folder, "repetition.json"), record);
  }

  #read<Shape extends { readonly format: number }>(name: string): Shape | undefined {
    const file = join(this.#directory, name);
    if (!existsSync(file)) return undefined;
    // Written by this package; another format is refused before anything else of it is used.
    const record = JSON.parse(readFileSync(file, "utf8")) as Shape;
    if (record.format !== RECORD_FORMAT)
      throw new Error(`${name} has format ${record.format}, this version reads ${RECORD_FORMAT}`);
    return record;
  }

  #write(name: string, record: unknown): void {
    const file = join(this.#directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.part`, `${JSON.stringify(record, null, 2)}\n`);
    renameSync(`${file}.part`, file);
  }
}

function folderOf(target: string, cell: string, repetition: number): string {
  return join(target, cell, `rep-${repetition}`);
}

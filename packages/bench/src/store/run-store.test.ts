// The run directory survives interruption and refuses what it does not know.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { RECORD_FORMAT, type RawRecord, type RepetitionRecord } from "../contract/record.ts";
import { RunStore } from "./run-store.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "dragoman-bench-store-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

const RECORD = {
  format: RECORD_FORMAT,
  target: "t",
  cell: "C21.401",
  repetition: 2,
  reasons: [],
} as unknown as RepetitionRecord;
const RAW: RawRecord = { format: RECORD_FORMAT, gateway: { latency: "AAAA" }, direct: undefined };

it("gives back what was written, and nothing for what was not", () => {
  const store = new RunStore(directory);
  store.writeRepetition(RECORD, RAW);
  expect(store.readRepetition("t", "C21.401", 2)).toEqual(RECORD);
  expect(store.readRaw("t", "C21.401", 2)).toEqual({ format: RECORD_FORMAT, gateway: { latency: "AAAA" } });
  expect(store.readRepetition("t", "C21.401", 1)).toBeUndefined();
  expect(store.readRun()).toBeUndefined();
});

it("leaves no partial file behind", () => {
  const store = new RunStore(directory);
  store.writeRepetition(RECORD, RAW);
  store.writeSummary({ format: RECORD_FORMAT, runId: "r", cells: [] });
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => name.endsWith(".json")).toSorted()).toEqual(
    [
      join("t", "C21.401", "rep-2", "raw.json"),
      join("t", "C21.401", "rep-2", "repetition.json"),
      "summary.json",
    ].toSorted(),
  );
  expect(files.filter((name) => name.endsWith(".part"))).toEqual([]);
});

it("does not take an interrupted repetition for a finished one", () => {
  const store = new RunStore(directory);
  store.writeRepetition(RECORD, RAW);
  rmSync(join(directory, "t", "C21.401", "rep-2", "repetition.json"));
  expect(store.readRepetition("t", "C21.401", 2)).toBeUndefined();
});

it("refuses a record of another format", () => {
  writeFileSync(join(directory, "summary.json"), JSON.stringify({ format: 99 }));
  expect(() => new RunStore(directory).readSummary()).toThrow("summary.json has format 99");
});

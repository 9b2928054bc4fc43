import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RECORD_FORMAT } from "../contract/record.ts";
import { createHistogram, loadHistograms } from "../histogram/histogram.ts";
import { RunStore } from "../store/run-store.ts";
import { buildComparison } from "./build-comparison.ts";
import { curveOf } from "./percentile-curves.ts";
import { renderShards } from "./render-reports.ts";
import { loadedRun, overloadedLoad, plannedCell, repetition, row, runRecord, targetRecord } from "./test-comparison.ts";

beforeAll(loadHistograms);

const GOOD = [repetition("one", "H1"), repetition("two", "H1")];

describe("the verdict", () => {
  it.each([
    { name: "a finished reference run of valid rows", run: runRecord(), rows: [row("one", "H1")], reasons: [] },
    {
      name: "what the run itself says",
      run: runRecord({ notPublishable: ["the self-test did not pass"] }),
      rows: [row("one", "H1")],
      reasons: ["the self-test did not pass"],
    },
    {
      name: "a topology that is no reference",
      run: runRecord({ topology: { id: "laptop", isReference: false, description: "" } }),
      rows: [row("one", "H1")],
      reasons: ["topology laptop is not a reference topology"],
    },
    {
      name: "a void row",
      run: runRecord(),
      rows: [row("one", "H1"), row("two", "H1", { isValid: false, reasons: ["late"] })],
      reasons: ["1 of 2 rows are void or failed: their figures must not be quoted"],
    },
    {
      name: "nothing measured",
      run: runRecord(),
      rows: [row("one", "H1", { status: "n/a", isValid: false, metrics: {} })],
      reasons: ["nothing was measured"],
    },
  ])("rests on $name", ({ run, rows, reasons }) => {
    const { verdict } = buildComparison([loadedRun(run, rows, GOOD)]);
    expect(verdict).toEqual({ isPublishable: reasons.length === 0, reasons });
  });

  it("refuses an unfinished run", () => {
    const { endedAt: _endedAt, ...unfinished } = runRecord();
    expect(buildComparison([loadedRun(unfinished, [row("one", "H1")], GOOD)]).verdict.reasons).toEqual([
      "run run-1 is not finished",
    ]);
  });

  it("refuses a target whose key is not enforced although it should be", () => {
    const open = { goodKeyStatus: 200, noKeyStatus: 200, unknownKeyStatus: 401, isEnforced: false };
    const { verdict } = buildComparison([
      loadedRun(
        runRecord(),
        [row("one", "H1")],
        [repetition("one", "H1", { authentication: open }), repetition("two", "H1")],
      ),
    ]);
    expect(verdict.reasons).toEqual([expect.stringContaining("one (P-min): the key is NOT enforced")]);
  });
});

describe("merging shards", () => {
  const first = loadedRun(runRecord(), [row("one", "H1")], GOOD);

  it("shows cells of several runs with the run that measured each", () => {
    const second = loadedRun(runRecord({ runId: "run-2", cells: [plannedCell("C2")] }), [row("one", "C2")]);
    const { cells, runs, targets } = buildComparison([first, second]);
    expect(cells.map(({ cell, runId }) => [cell.id, runId])).toEqual([
      ["H1", "run-1"],
      ["C2", "run-2"],
    ]);
    expect(runs.map(({ cells: own }) => own)).toEqual([["H1"], ["C2"]]);
    expect(targets).toHaveLength(2);
  });

  it.each([
    { name: "the same cell twice", change: {}, message: /cell H1 was measured by both/ },
    {
      name: "another topology",
      change: { topology: { id: "laptop", isReference: false, description: "" } },
      message: /topologies ref-4 and laptop/,
    },
    { name: "another version of the bench", change: { benchVersion: "9.9.9" }, message: /bench versions/ },
    {
      name: "another version of a target",
      change: { cells: [plannedCell("C2")], targets: [targetRecord("one", { version: "2.0.0" })] },
      message: /versions 1\.0\.0 and 2\.0\.0/,
    },
  ])("refuses $name", ({ change, message }) => {
    expect(() => buildComparison([first, loadedRun(runRecord({ runId: "run-2", ...change }), [])])).toThrow(message);
  });

  it("takes a target from the shard where it was available", () => {
    const second = loadedRun(
      runRecord({ runId: "run-2", cells: [plannedCell("C2")], targets: [targetRecord("three")] }),
      [],
    );
    const absent = runRecord({
      targets: [targetRecord("three", { availability: "n/a", reason: "not installed", version: undefined })],
    });
    expect(buildComparison([loadedRun(absent, []), second]).targets.map(({ availability }) => availability)).toEqual([
      "available",
    ]);
  });
});

describe("the overload view", () => {
  const saturated = { isSaturated: true };
  const overloaded = repetition("one", "H1", { gateway: overloadedLoad() });

  it("shows a target that did not hold the cell's rate", () => {
    const { overload } = buildComparison([loadedRun(runRecord(), [row("one", "H1", saturated)], [overloaded])]);
    expect(overload.rows).toMatchObject([
      { target: "one", offeredRps: 5000, succeeded: 192_000, successFraction: 0.64, achievedRps: 3200, isValid: true },
    ]);
    expect(overload.leavesOut).toContain("queue");
  });

  it("leaves out a target whose rate was lowered", () => {
    const { overload } = buildComparison([
      loadedRun(runRecord(), [row("one", "H1", { ...saturated, isRateAdapted: true })], [overloaded]),
    ]);
    expect(overload.rows).toEqual([]);
  });
});

describe("percentile curves", () => {
  function encode(samples: readonly number[]): string {
    const histogram = createHistogram();
    for (const sample of samples) histogram.record(sample);
    const encoded = histogram.encode();
    histogram.destroy();
    return encoded;
  }

  it("merges repetitions and ends where no sample is left", () => {
    const half = Array.from({ length: 50 }, (_, index) => 100 + index);
    const other = Array.from({ length: 50 }, (_, index) => 150 + index);
    const raws = [half, other].map(
      (samples) => ({ format: RECORD_FORMAT, gateway: { latency: encode(samples) }, direct: undefined }) as const,
    );
    const curve = curveOf("one", raws, "gateway");
    expect(curve?.samples).toBe(100);
    expect(curve?.points.find(({ percentile }) => percentile === 50)?.latencyUs).toBe(149);
    expect(curve?.points.at(-1)?.percentile).toBe(99);
    expect(curveOf("one", raws, "direct")).toBeUndefined();
  });
});

describe("renderShards", () => {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-bench-report-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("writes all three reports from a run directory", async () => {
    const store = new RunStore(folder);
    const run = runRecord({
      cells: [{ ...plannedCell("H1"), windows: { warmUpSeconds: 1, measureSeconds: 5, repetitions: 1 } }],
    });
    store.writeRun(run);
    store.writeSummary({
      format: RECORD_FORMAT,
      runId: run.runId,
      cells: [
        row("one", "H1"),
        row("two", "H1", { status: "n/a", isValid: false, metrics: {}, reasons: ["not installed"] }),
      ],
    });
    store.writeRepetition(repetition("one", "H1"), { format: RECORD_FORMAT, gateway: undefined, direct: undefined });
    await renderShards([folder], folder);
    const read = (name: string): string => readFileSync(join(folder, name), "utf8");
    expect(JSON.parse(read("comparison.json"))).toMatchObject({ format: 1, verdict: { isPublishable: false } });
    expect(read("comparison.md")).toContain("| one (P-min) | valid | 530 µs | 950 µs | 1.18 ms |");
    expect(read("comparison.html")).toContain("<svg");
  });

  it("says which directory holds no run", async () => {
    await expect(renderShards([join(folder, "nothing")], folder)).rejects.toThrow(/nothing holds no run/);
  });
});

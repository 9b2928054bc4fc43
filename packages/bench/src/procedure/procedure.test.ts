// The decisions of the procedure: warm-up, ladder, rotation, progress, medians, authentication, publishing.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { RECORD_FORMAT, type LoadRecord, type RepetitionRecord } from "../contract/record.ts";
import { CELLS } from "../matrix/cells.ts";
import { CONTROL_TARGET } from "../relay/control-target.ts";
import { scaleCell } from "../topology/scale-cells.ts";
import { findTopology } from "../topology/topologies.ts";
import { nextStep, saturationOf, stepFailures, type LadderSearch, type TriedStep } from "./ladder.ts";
import { emptyMeasurement } from "./measured.ts";
import { isEnforced, isRefused } from "./probe.ts";
import { Progress } from "./progress.ts";
import { estimateSeconds, planRotation } from "./rotation.ts";
import { reasonsAgainstPublishing } from "./run-comparison.ts";
import { spreadOf, summariseCell } from "./summarise.ts";
import { isFlat, needsAnotherRound, type WarmUpRound } from "./warm-up.ts";

const rounds = (...cpu: (number | undefined)[]): WarmUpRound[] =>
  cpu.map((cpuUsPerRequest) => ({ requests: 1000, cpuUsPerRequest, rps: 500 }));

describe("warm-up", () => {
  it.each([
    { name: "while requests are missing", tried: rounds(100, 100), min: 5000, expected: true },
    { name: "while CPU per request still falls", tried: rounds(400, 300, 200), min: 1000, expected: true },
    { name: "not once it is flat", tried: rounds(400, 200, 190), min: 1000, expected: false },
    { name: "not when it got dearer", tried: rounds(400, 200, 260), min: 1000, expected: false },
    { name: "not after the last round allowed", tried: rounds(6, 5, 4, 3, 2, 1), min: 1_000_000, expected: false },
    { name: "not for CPU nobody can read", tried: rounds(undefined), min: 1000, expected: false },
  ])("goes on $name", ({ tried, min, expected }) => {
    expect(needsAnotherRound(tried, { minRequests: min, maxRounds: 6 })).toBe(expected);
  });

  it("is flat only by two rounds", () => {
    expect(isFlat(rounds(100))).toBe(false);
    expect(isFlat(rounds(100, 91))).toBe(true);
    expect(isFlat(rounds(100, 90))).toBe(false);
  });
});

const LOAD = { kind: "ladder", startRps: 500, coarseRps: 2500, fineRps: 500 } as const;

/** Climbs against a target that holds exactly `capacity`. */
function climb(search: LadderSearch, capacity: number): TriedStep[] {
  const steps: TriedStep[] = [];
  for (let rps = nextStep(steps, search); rps !== undefined; rps = nextStep(steps, search)) {
    steps.push({ rps, passed: rps <= capacity });
    expect(steps.length).toBeLessThan(60);
  }
  return steps;
}

describe("ladder", () => {
  it("climbs by the published steps", () => {
    const search: LadderSearch = { load: LOAD, plan: { kind: "steps" }, ceilingRps: 100_000 };
    expect(climb(search, 4200).map(({ rps }) => rps)).toEqual([500, 3000, 5500, 3500, 4000, 4500]);
    expect(saturationOf(climb(search, 4200))).toBe(4000);
    expect(climb(search, 100).map(({ rps }) => rps)).toEqual([500]);
  });

  it("finds any capacity within its precision by doubling and halving, also below its start", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 50_000 }), (capacity) => {
        const search: LadderSearch = {
          load: { ...LOAD, startRps: 25 },
          plan: { kind: "bisect", startRps: 25, precision: 0.1 },
          ceilingRps: 60_000,
        };
        const found = saturationOf(climb(search, capacity)) ?? 0;
        expect(found).toBeLessThanOrEqual(capacity);
        expect(found).toBeGreaterThanOrEqual(capacity / 1.25 - 1);
      }),
    );
  });

  it("never asks for more than generator and mock can offer", () => {
    const search: LadderSearch = {
      load: LOAD,
      plan: { kind: "bisect", startRps: 25, precision: 0.1 },
      ceilingRps: 3000,
    };
    const steps = climb(search, 1_000_000);
    expect(Math.max(...steps.map(({ rps }) => rps))).toBe(3000);
    expect(saturationOf(steps)).toBe(3000);
  });

  const held = { offeredRps: 1000, achievedRps: 1000, errorFraction: 0, windowSeconds: 7 } as LoadRecord;
  const limits = findTopology("ref-4").stepLimits;

  it.each([
    { name: "passes at its limits", change: { achievedRps: 995, errorFraction: 0.0001 }, p99: 5000, reasons: 0 },
    { name: "fails below the rate", change: { achievedRps: 990 }, p99: 0, reasons: 1 },
    { name: "fails by errors", change: { errorFraction: 0.0002 }, p99: 0, reasons: 1 },
    { name: "fails by overhead", change: {}, p99: 5001, reasons: 1 },
    { name: "fails by all three", change: { achievedRps: 1, errorFraction: 1 }, p99: 6000, reasons: 3 },
  ])("a step $name", ({ change, p99, reasons }) => {
    expect(stepFailures({ ...held, ...change }, { p50: 0, p90: 0, p99, p999: 0 }, limits)).toHaveLength(reasons);
  });
});

const cells = CELLS.map((cell) => scaleCell(cell, findTopology("laptop"), 9000));
const entrant = (id: string): { target: typeof CONTROL_TARGET; executable: string } => ({
  target: { ...CONTROL_TARGET, id },
  executable: id,
});

describe("rotation", () => {
  it("takes the targets in turn within each repetition, and fills cell after cell", () => {
    const [first] = cells;
    const turns = planRotation(first === undefined ? [] : [first], [entrant("a"), entrant("b")], () => true);
    expect(turns.map(({ target, repetition }) => `${target.id}${repetition}`)).toEqual([
      "a1",
      "b1",
      "a2",
      "b2",
      "a3",
      "b3",
    ]);
  });

  it("leaves out cells that a target cannot serve", () => {
    const turns = planRotation(
      cells,
      [entrant("a"), entrant("b")],
      ({ id }, { scenario }) => id === "a" || scenario !== "X1",
    );
    expect(turns.filter(({ cell, target }) => cell.id === "X1" && target.id === "b")).toEqual([]);
    expect(turns.filter(({ cell, target }) => cell.id === "X1" && target.id === "a")).toHaveLength(3);
  });

  it("expects the remaining time by how long the finished turns took", () => {
    const [first] = cells;
    const turns = planRotation(first === undefined ? [] : [first], [entrant("a"), entrant("b")], () => true);
    const [turn] = turns;
    if (turn === undefined) throw new Error("there is no turn");
    const progress = new Progress(turns);
    expect(progress.remainingSeconds).toBe(6 * estimateSeconds(turn));
    progress.finish(undefined);
    expect(progress.remainingSeconds).toBe(5 * estimateSeconds(turn));
    progress.finish(2 * estimateSeconds(turn));
    expect(progress.remainingSeconds).toBe(4 * 2 * estimateSeconds(turn));
    expect(progress.line(turn)).toMatch(/^\[#{8}\.{16}\] 2\/6 H1 a 1\/3, about \d+ min \d+ s left$/);
  });
});

function repetition(number: number, change: Partial<RepetitionRecord>): RepetitionRecord {
  const { raw, ...measured } = emptyMeasurement();
  expect(raw).toEqual({ gateway: undefined, direct: undefined });
  return {
    ...measured,
    format: RECORD_FORMAT,
    target: "t",
    cell: "H1",
    repetition: number,
    startedAt: "",
    authentication: undefined,
    workers: undefined,
    ...change,
  };
}

describe("summary", () => {
  it.each([
    { values: [], expected: undefined },
    { values: [4], expected: { median: 4, min: 4, max: 4 } },
    { values: [9, 1], expected: { median: 5, min: 1, max: 9 } },
    { values: [3, -1, 2], expected: { median: 2, min: -1, max: 3 } },
  ])("spread of $values", ({ values, expected }) => {
    expect(spreadOf(values)).toEqual(expected);
  });

  const overhead = (p50: number): RepetitionRecord["overheadUs"] => ({ p50, p90: 0, p99: 10 * p50, p999: 0 });

  it("takes medians of what was measured and invents nothing", () => {
    const summary = summariseCell("t", "H1", [
      repetition(1, { overheadUs: overhead(100) }),
      repetition(2, { overheadUs: overhead(300), isValid: false, reasons: ["late"] }),
      repetition(3, { overheadUs: overhead(200) }),
    ]);
    expect(summary).toMatchObject({
      status: "measured",
      isValid: false,
      reasons: ["repetition 2: late"],
      repetitions: 3,
    });
    expect(summary.metrics).toEqual({
      overheadP50Us: { median: 200, min: 100, max: 300 },
      overheadP99Us: { median: 2000, min: 1000, max: 3000 },
      overheadP999Us: { median: 0, min: 0, max: 0 },
    });
  });

  it("is failed when nothing was measured", () => {
    const failed = repetition(1, { status: "failed", isValid: false, reasons: ["it died"] });
    expect(summariseCell("t", "H1", [failed])).toMatchObject({ status: "failed", isValid: false, metrics: {} });
    expect(summariseCell("t", "H1", [])).toMatchObject({ status: "failed", isValid: false });
  });
});

describe("authentication", () => {
  it.each([
    { good: 200, none: 401, unknown: 403, expected: true },
    { good: 200, none: 500, unknown: 401, expected: true },
    { good: 200, none: 200, unknown: 401, expected: false },
    { good: 200, none: 401, unknown: 200, expected: false },
    { good: 401, none: 401, unknown: 401, expected: false },
    { good: 200, none: undefined, unknown: 401, expected: false },
  ])("good $good, none $none, unknown $unknown: enforced $expected", ({ good, none, unknown, expected }) => {
    expect(isEnforced({ goodKeyStatus: good, noKeyStatus: none, unknownKeyStatus: unknown })).toBe(expected);
  });

  it("takes silence for no refusal", () => {
    expect([isRefused(401), isRefused(204), isRefused(undefined)]).toEqual([true, false, false]);
  });
});

describe("publishing", () => {
  it("is allowed only on a passed reference with its own repetitions", () => {
    const passed = { selfTestPassed: true, hasAllRepetitions: true, isAlone: true };
    expect(reasonsAgainstPublishing(findTopology("ref-4"), passed)).toEqual([]);
    expect(reasonsAgainstPublishing(findTopology("ref-4"), { ...passed, selfTestPassed: false })).toEqual([
      "the self-test did not pass",
    ]);
    expect(reasonsAgainstPublishing(findTopology("laptop"), passed)).toHaveLength(2);
  });
});

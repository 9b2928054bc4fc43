// Records of a small made-up run for the tests of the report.
import {
  RECORD_FORMAT,
  type CellSummary,
  type LoadRecord,
  type PlannedCell,
  type RepetitionRecord,
  type RunRecord,
  type TargetRecord,
} from "../contract/record.ts";
import { CELLS } from "../matrix/cells.ts";
import type { LoadedRun } from "./build-comparison.ts";

/** A cell of the matrix as planned without scaling. */
export function plannedCell(id: string): PlannedCell {
  const cell = CELLS.find((each) => each.id === id);
  if (cell === undefined) throw new Error(`no cell ${id}`);
  return { ...cell, referenceLoad: cell.load };
}

/** A target that took part. */
export function targetRecord(id: string, change: Partial<TargetRecord> = {}): TargetRecord {
  return {
    id,
    label: id,
    profile: "P-min",
    kind: "gateway",
    checksKey: true,
    availability: "available",
    reason: undefined,
    installCommand: undefined,
    version: "1.0.0",
    versionNote: undefined,
    notes: [],
    ...change,
  };
}

/** A measured row. */
export function row(target: string, cell: string, change: Partial<CellSummary> = {}): CellSummary {
  const at = (median: number): { median: number; min: number; max: number } => ({ median, min: median, max: median });
  return {
    target,
    cell,
    status: "measured",
    isValid: true,
    reasons: [],
    isSaturated: false,
    isRateAdapted: false,
    repetitions: 1,
    metrics: {
      overheadP50Us: at(530),
      overheadP99Us: at(950),
      overheadP999Us: at(1180),
      achievedRps: at(5000),
      errorFraction: at(0),
      cpuUsPerRequest: at(247),
      rssIdleBytes: at(41 * 2 ** 20),
      rssPeakBytes: at(215 * 2 ** 20),
    },
    ...change,
  };
}

/** A run record. */
export function runRecord(change: Partial<RunRecord> = {}): RunRecord {
  return {
    format: RECORD_FORMAT,
    runId: "run-1",
    benchVersion: "0.0.0",
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T01:00:00.000Z",
    topology: { id: "ref-4", isReference: true, description: "reference" },
    hosts: [],
    instrumentScheduling: "normal",
    selfTest: { passed: true, checks: [], capacityRps: 50_000 },
    targets: [targetRecord("one"), targetRecord("two")],
    cells: [plannedCell("H1")],
    notPublishable: [],
    command: "dragoman-bench run",
    ...change,
  };
}

/** A repetition with its checks. */
export function repetition(target: string, cell: string, change: Partial<RepetitionRecord> = {}): RepetitionRecord {
  return {
    format: RECORD_FORMAT,
    target,
    cell,
    repetition: 1,
    startedAt: "2026-01-01T00:00:00.000Z",
    status: "measured",
    isValid: true,
    reasons: [],
    isSaturated: false,
    isRateAdapted: false,
    attempts: 1,
    warmUp: undefined,
    gateway: undefined,
    direct: undefined,
    overheadUs: undefined,
    usage: undefined,
    authentication: { goodKeyStatus: 200, noKeyStatus: 401, unknownKeyStatus: 401, isEnforced: true },
    workers: { cores: 1, configured: 1, processes: 1, threads: 11 },
    ...change,
  };
}

/** A generator run that offered more than came through. */
export function overloadedLoad(): LoadRecord {
  return {
    offeredRps: 5000,
    windowSeconds: 60,
    offered: 300_000,
    succeeded: 192_000,
    achievedRps: 3200,
    errorFraction: 0.36,
    lateSends: 0,
    maxLateUs: 0,
    queuedSends: 0,
    connectErrors: 0,
    timeouts: 108_000,
    brokenBodies: 0,
    statuses: {},
    connectionsPeak: 1024,
    latencyUs: {
      count: 192_000,
      mean: 833_140,
      p50: 709_160,
      p90: 1_500_000,
      p99: 2_155_000,
      p999: 2_500_000,
      max: 3_000_000,
    },
    generatorCpuShare: 0.1,
    mockCpuShare: 0.1,
    clockDriftMs: 0,
    upstreamCalls: 192_000,
  };
}

/** A run as read from its directory. */
export function loadedRun(
  run: RunRecord,
  rows: readonly CellSummary[],
  repetitions: readonly RepetitionRecord[] = [],
): LoadedRun {
  return {
    run,
    summary: { format: RECORD_FORMAT, runId: run.runId, cells: rows },
    repetitionsOf: (target, cell) => repetitions.filter((each) => each.target === target && each.cell === cell),
    rawsOf: () => [],
    inside: [],
  };
}

// Builds the comparison from one run directory or several shards. Shards must agree on everything that their rows are compared by.
import type { RawRecord, RepetitionRecord, RunRecord, SummaryRecord, TargetRecord } from "../contract/record.ts";
import { SCENARIOS } from "../matrix/scenarios.ts";
import type { RunStore } from "../store/run-store.ts";
import {
  COMPARISON_FORMAT,
  type ComparedCell,
  type ComparedRow,
  type ComparedRun,
  type ComparedTarget,
  type Comparison,
  type PercentileCurve,
} from "./comparison.ts";
import { insideView, overloadView, type InsideRow } from "./extra-views.ts";
import { curveOf, DIRECT_CURVE } from "./percentile-curves.ts";
import { judge } from "./publishable.ts";
import { findAuthentication, findWorkers } from "./traps.ts";

/** One run directory, read whole. */
export interface LoadedRun {
  readonly run: RunRecord;
  readonly summary: SummaryRecord;
  readonly repetitionsOf: (target: string, cell: string) => readonly RepetitionRecord[];
  readonly rawsOf: (target: string, cell: string) => readonly RawRecord[];
  readonly inside: readonly InsideRow[];
}

/**
 * Reads a run directory.
 *
 * @throws Error when it holds no run, or one without any result.
 */
export function loadRun(store: RunStore, inside: readonly InsideRow[]): LoadedRun {
  const run = store.readRun();
  const summary = store.readSummary();
  if (run === undefined) throw new Error(`${store.directory} holds no run`);
  if (summary === undefined) throw new Error(`${store.directory} holds no finished repetition`);
  const repetitions = (cell: string): number[] =>
    Array.from({ length: run.cells.find(({ id }) => id === cell)?.windows.repetitions ?? 0 }, (_, index) => index + 1);
  const collect = <Read>(cell: string, read: (repetition: number) => Read | undefined): Read[] =>
    repetitions(cell).flatMap((repetition) => read(repetition) ?? []);
  return {
    run,
    summary,
    repetitionsOf: (target, cell) => collect(cell, (repetition) => store.readRepetition(target, cell, repetition)),
    rawsOf: (target, cell) => collect(cell, (repetition) => store.readRaw(target, cell, repetition)),
    inside,
  };
}

/**
 * Puts runs together.
 *
 * @throws Error when two runs measured the same cell, or differ in topology, bench version or a target's version.
 */
export function buildComparison(loaded: readonly LoadedRun[]): Comparison {
  if (loaded.length === 0) throw new Error("there is no run to report on");
  checkShards(loaded);
  const targets = compareTargets(loaded);
  const cells = loaded.flatMap((each) => compareCells(each));
  const repetitionsOf = (target: string, cell: string): readonly RepetitionRecord[] =>
    loaded.flatMap((each) => each.repetitionsOf(target, cell));
  return {
    format: COMPARISON_FORMAT,
    verdict: judge(
      loaded.map(({ run }) => run),
      targets,
      cells,
    ),
    runs: loaded.map(describeRun),
    targets,
    cells,
    overload: overloadView(cells, repetitionsOf),
    inside: insideView(loaded.flatMap(({ inside }) => inside)),
  };
}

function checkShards(loaded: readonly LoadedRun[]): void {
  const [first] = loaded;
  const seen = new Map<string, string>();
  for (const { run } of loaded) {
    if (first === undefined) return;
    if (run.topology.id !== first.run.topology.id) {
      throw new Error(`runs of the topologies ${first.run.topology.id} and ${run.topology.id} cannot be merged`);
    }
    if (run.benchVersion !== first.run.benchVersion) {
      throw new Error(`runs of the bench versions ${first.run.benchVersion} and ${run.benchVersion} cannot be merged`);
    }
    for (const { id } of run.cells) {
      const other = seen.get(id);
      if (other !== undefined)
        throw new Error(`cell ${id} was measured by both ${other} and ${run.runId}: shards have cells of their own`);
      seen.set(id, run.runId);
    }
  }
}

function describeRun({ run }: LoadedRun): ComparedRun {
  const { runId, benchVersion, startedAt, endedAt, topology, hosts, instrumentScheduling, selfTest, command } = run;
  return {
    runId,
    benchVersion,
    startedAt,
    endedAt,
    topology,
    hosts,
    instrumentScheduling,
    selfTest,
    command,
    cells: run.cells.map(({ id }) => id),
  };
}

function compareTargets(loaded: readonly LoadedRun[]): ComparedTarget[] {
  const records = new Map<string, TargetRecord>();
  for (const { run } of loaded) {
    for (const target of run.targets) {
      const known = records.get(target.id);
      if (known?.version !== undefined && target.version !== undefined && known.version !== target.version) {
        throw new Error(
          `${target.label} ran in the versions ${known.version} and ${target.version}: such runs cannot be merged`,
        );
      }
      if (known === undefined || known.availability === "n/a") records.set(target.id, target);
    }
  }
  return [...records.values()].map((target) => {
    const evidence = loaded.flatMap(({ run, repetitionsOf }) =>
      run.cells.flatMap(({ id }) => repetitionsOf(target.id, id)),
    );
    return {
      ...target,
      name: `${target.label} (${target.profile})`,
      authentication: findAuthentication(target, evidence),
      workers: findWorkers(evidence),
    };
  });
}

function compareCells({ run, summary, repetitionsOf, rawsOf }: LoadedRun): ComparedCell[] {
  return run.cells.map((cell) => {
    const rows: ComparedRow[] = summary.cells
      .filter((row) => row.cell === cell.id)
      .map((row) => {
        const repetitions = repetitionsOf(row.target, cell.id);
        const steps = repetitions.find((repetition) => repetition.steps !== undefined)?.steps ?? [];
        return { ...row, steps, attempts: Math.max(0, ...repetitions.map(({ attempts }) => attempts)) };
      });
    const gateways = rows.map(({ target }) => curveOf(target, rawsOf(target, cell.id), "gateway"));
    // Targets at a lowered rate had a direct run at that rate: it is not the others' baseline.
    const atFullRate = rows.filter(({ isRateAdapted }) => !isRateAdapted);
    const hasDirect = SCENARIOS[cell.scenario].expect !== "rejection";
    const direct = !hasDirect
      ? undefined
      : curveOf(
          DIRECT_CURVE,
          atFullRate.flatMap(({ target }) => rawsOf(target, cell.id)),
          "direct",
        );
    const curves: PercentileCurve[] = [...gateways, direct].filter((curve) => curve !== undefined);
    return { cell, runId: run.runId, rows, curves };
  });
}

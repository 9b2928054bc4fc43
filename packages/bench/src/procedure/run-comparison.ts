// A whole run: inventory, self-test, cells in rotation, records and summary. Resumes a directory that holds an unfinished run.
import type { Cell } from "../contract/cell.ts";
import type { CommandOutput } from "../contract/command.ts";
import {
  RECORD_FORMAT,
  type CellSummary,
  type HostInventory,
  type PlannedCell,
  type RepetitionRecord,
  type RunRecord,
  type TargetRecord,
} from "../contract/record.ts";
import type { Target, TargetOptions } from "../contract/target.ts";
import { unsupportedReason } from "../matrix/prepare-requests.ts";
import { SCENARIOS } from "../matrix/scenarios.ts";
import { runSelfTest } from "../self-test/self-test.ts";
import type { RunStore } from "../store/run-store.ts";
import { scaleCell } from "../topology/scale-cells.ts";
import type { Topology } from "../topology/topologies.ts";
import type { Instrument } from "./instrument.ts";
import { Progress } from "./progress.ts";
import { runRepetition } from "./repetition.ts";
import { planRotation, type Entrant } from "./rotation.ts";
import { summariseCell, unavailableCell } from "./summarise.ts";

/** What to run. */
export interface ComparisonTask {
  readonly topology: Topology;
  readonly cells: readonly Cell[];
  readonly targets: readonly Target[];
  readonly options: TargetOptions;
  readonly repetitions: number | undefined;
  readonly seed: number;
  readonly command: string;
  readonly benchVersion: string;
}

/** Performs a run and returns its final record. */
export async function runComparison(
  instrument: Instrument,
  task: ComparisonTask,
  { store, output }: { readonly store: RunStore; readonly output: CommandOutput },
): Promise<RunRecord> {
  const { located, entrants } = await locateAll(instrument, task);
  const run = store.readRun() ?? (await openRun(instrument, { ...task, located }, output));
  store.writeRun({ ...run, targets: located });
  const takesPart = (target: Target, cell: PlannedCell): boolean => reasonAgainst(target, cell) === undefined;
  const turns = planRotation(run.cells, entrants, takesPart);
  const progress = new Progress(turns);
  for (const turn of turns) {
    const { target, cell, repetition } = turn;
    if (store.readRepetition(target.id, cell.id, repetition) !== undefined) {
      progress.finish(undefined);
      continue;
    }
    output.progress(progress.line(turn));
    const startMs = performance.now();
    const { gatewayHost, gatewayCpus, gatewayCores, areCoresShared, mock, mockClient, runner } = instrument;
    const { topology, options, seed } = task;
    const capacityRps = run.selfTest?.capacityRps ?? 0;
    const result = await runRepetition(
      {
        topology,
        capacityRps,
        gatewayHost,
        gatewayCpus,
        gatewayCores,
        areCoresShared,
        mock,
        mockClient,
        runner,
        options,
        seed,
      },
      turn,
    );
    store.writeRepetition(result.record, result.raw);
    progress.finish((performance.now() - startMs) / 1000);
    output.note(describe(result.record));
    store.writeSummary({
      format: RECORD_FORMAT,
      runId: run.runId,
      cells: summariseAll(run.cells, located, task.targets, store),
    });
  }
  store.writeSummary({
    format: RECORD_FORMAT,
    runId: run.runId,
    cells: summariseAll(run.cells, located, task.targets, store),
  });
  const finished = { ...run, targets: located, endedAt: new Date().toISOString() };
  store.writeRun(finished);
  return finished;
}

async function locateAll(
  { gatewayHost }: Instrument,
  { targets, options }: ComparisonTask,
): Promise<{ readonly located: readonly TargetRecord[]; readonly entrants: readonly Entrant[] }> {
  const located: TargetRecord[] = [];
  const entrants: Entrant[] = [];
  for (const target of targets) {
    const { id, label, profile, kind, checksKey, notes } = target;
    const found = await gatewayHost.locate(id, options);
    const identity = { id, label, profile, kind, checksKey, notes };
    if (found.found) {
      entrants.push({ target, executable: found.executable });
      const { version, versionNote } = found;
      located.push({
        ...identity,
        availability: "available",
        reason: undefined,
        installCommand: undefined,
        version,
        versionNote,
      });
    } else {
      const { reason, installCommand } = found;
      located.push({
        ...identity,
        availability: "n/a",
        reason,
        installCommand,
        version: undefined,
        versionNote: undefined,
      });
    }
  }
  return { located, entrants };
}

async function openRun(
  instrument: Instrument,
  task: ComparisonTask & { readonly located: readonly TargetRecord[] },
  output: CommandOutput,
): Promise<RunRecord> {
  const { topology, seed } = task;
  const startedAt = new Date().toISOString();
  const hosts = await takeInventories(instrument);
  const { mock, mockClient, runner, areCoresShared } = instrument;
  const selfTest = await runSelfTest({
    topology,
    mock,
    mockClient,
    runner,
    areCoresShared,
    seed,
    note: (line) => output.note(line),
  });
  for (const check of selfTest.checks)
    output.note(`self-test: ${check.passed ? "ok" : "FAILED"} ${check.name}: ${check.detail}`);
  const cells = task.cells
    .map((cell) => scaleCell(cell, topology, selfTest.capacityRps))
    .map((cell) => withRepetitions(cell, task.repetitions));
  return {
    format: RECORD_FORMAT,
    runId: `${startedAt.replace(/[-:]|\.\d+/g, "")}-${topology.id}`,
    benchVersion: task.benchVersion,
    startedAt,
    topology: { id: topology.id, isReference: topology.isReference, description: topology.description },
    hosts,
    instrumentScheduling: instrument.isRealtime ? "realtime" : "normal",
    selfTest,
    targets: task.located,
    cells,
    notPublishable: reasonsAgainstPublishing(topology, {
      selfTestPassed: selfTest.passed,
      hasAllRepetitions: task.repetitions === undefined,
      isAlone: instrument.foreignGenerators === 0,
    }),
    command: task.command,
  };
}

/** Reasons why a run must not be published; empty when it may. */
export function reasonsAgainstPublishing(
  topology: Topology,
  {
    selfTestPassed,
    hasAllRepetitions,
    isAlone,
  }: { readonly selfTestPassed: boolean; readonly hasAllRepetitions: boolean; readonly isAlone: boolean },
): string[] {
  return [
    ...(topology.isReference ? [] : [`topology ${topology.id} is not a reference topology`]),
    ...(selfTestPassed ? [] : ["the self-test did not pass"]),
    ...(isAlone ? [] : ["another bench was running on the generator's host"]),
    ...(hasAllRepetitions ? [] : ["the number of repetitions was changed on the command line"]),
    ...(Object.keys(topology.windows).length === 0 ? [] : ["the measurement windows are shorter than the reference"]),
  ];
}

async function takeInventories({ localHost, mockHost, gatewayHost }: Instrument): Promise<HostInventory[]> {
  if (mockHost === localHost && gatewayHost === localHost) return [await localHost.inventory("all")];
  return Promise.all([localHost.inventory("generator"), mockHost.inventory("mock"), gatewayHost.inventory("gateway")]);
}

function withRepetitions(cell: PlannedCell, repetitions: number | undefined): PlannedCell {
  return repetitions === undefined ? cell : { ...cell, windows: { ...cell.windows, repetitions } };
}

function reasonAgainst(target: Target, cell: PlannedCell): string | undefined {
  return unsupportedReason(SCENARIOS[cell.scenario], target.unsupported, target.traffic);
}

function summariseAll(
  cells: readonly PlannedCell[],
  located: readonly TargetRecord[],
  targets: readonly Target[],
  store: RunStore,
): CellSummary[] {
  return cells.flatMap((cell) =>
    targets.map((target) => {
      const record = located.find(({ id }) => id === target.id);
      const reason = record?.availability === "n/a" ? (record.reason ?? "not installed") : reasonAgainst(target, cell);
      if (reason !== undefined) return unavailableCell(target.id, cell.id, reason);
      const repetitions = Array.from({ length: cell.windows.repetitions }, (_, index) =>
        store.readRepetition(target.id, cell.id, index + 1),
      ).filter((repetition) => repetition !== undefined);
      return summariseCell(target.id, cell.id, repetitions);
    }),
  );
}

function describe(record: RepetitionRecord): string {
  const name = `${record.cell} ${record.target} ${record.repetition}`;
  const verdict = record.isValid
    ? "valid"
    : `${record.status === "failed" ? "FAILED" : "VOID"}: ${record.reasons.join("; ")}`;
  const { gateway, overheadUs, usage } = record;
  const figures = [
    gateway === undefined
      ? undefined
      : `${gateway.achievedRps.toFixed(0)}${gateway.offeredRps === undefined ? "" : ` of ${gateway.offeredRps}`} requests/s`,
    record.saturationRps === undefined ? undefined : `saturation ${record.saturationRps}`,
    overheadUs === undefined ? undefined : `overhead p50 ${overheadUs.p50} µs p99 ${overheadUs.p99} µs`,
    usage?.cpuUsPerRequest === undefined ? undefined : `CPU ${usage.cpuUsPerRequest.toFixed(0)} µs/request`,
    usage?.rssPeakBytes === undefined ? undefined : `RSS ${(usage.rssPeakBytes / 2 ** 20).toFixed(0)} MiB`,
    record.isSaturated ? "saturated" : undefined,
    record.isRateAdapted ? "rate lowered to what it holds" : undefined,
  ].filter((figure) => figure !== undefined);
  return `${name}: ${[...figures, verdict].join(", ")}`;
}

// One repetition of one cell on one target: fresh process, probe, warm-up, gateway run, direct run, stop. Whatever goes wrong becomes
// a record with its reason; the process is stopped in every case.
import type { Scenario } from "../contract/cell.ts";
import {
  RECORD_FORMAT,
  type LadderStepRecord,
  type PlannedCell,
  type RawRecord,
  type RepetitionRecord,
} from "../contract/record.ts";
import type { Target, TargetOptions } from "../contract/target.ts";
import type { LoadSpec } from "../generator/load-spec.ts";
import { subtractPercentiles } from "../histogram/histogram.ts";
import type { Host, StartedMock, StartedProcess } from "../host/host.ts";
import { directTraffic } from "../matrix/direct-traffic.ts";
import { answerParts, directScenario, prepareRequests, type Receiver } from "../matrix/prepare-requests.ts";
import { partsOf, SCENARIOS } from "../matrix/scenarios.ts";
import { STREAM_CONTENT_EVENTS } from "../mock/answers.ts";
import { LATENCY_PROFILES, scriptedMs } from "../mock/latency-profiles.ts";
import type { MockClient } from "../mock/mock-client.ts";
import { roundDown } from "../topology/scale-cells.ts";
import type { Topology } from "../topology/topologies.ts";
import { isSaturated, voidReasons } from "../validity/validity.ts";
import { nextStep, saturationOf, stepFailures } from "./ladder.ts";
import type { LoadRunner, MeasuredRun, WatchedProcess } from "./load-runner.ts";
import { isRefused, probeTarget, type Probe } from "./probe.ts";
import { isFlat, needsAnotherRound, warmUpRequests, type WarmUpRound } from "./warm-up.ts";

/** What stays the same over a whole run. */
export interface ProcedureContext {
  readonly topology: Topology;
  readonly capacityRps: number;
  readonly gatewayHost: Host;
  readonly gatewayCpus: readonly number[];
  readonly gatewayCores: number;
  readonly areCoresShared: boolean;
  readonly mock: StartedMock;
  readonly mockClient: MockClient;
  readonly runner: LoadRunner;
  readonly options: TargetOptions;
  readonly seed: number;
}

/** Which repetition. */
export interface RepetitionTask {
  readonly target: Target;
  readonly executable: string;
  readonly cell: PlannedCell;
  readonly repetition: number;
}

/** A record with its raw histograms. */
export interface RepetitionResult {
  readonly record: RepetitionRecord;
  readonly raw: RawRecord;
}

/** The measured part of a record. */
type Measured = Omit<
  RepetitionRecord,
  "format" | "target" | "cell" | "repetition" | "startedAt" | "authentication" | "workers"
> & { readonly raw: Omit<RawRecord, "format"> };

const WARM_UP_CONNECTIONS = 16;
const WARM_UP_ROUND_SECONDS = 4;
const WARM_UP_MAX_ROUNDS = 10;
const WARM_UP_MIN_ROUND = 500;
const IDLE_SAMPLES = 3;
const IDLE_SAMPLE_PAUSE_MS = 150;
/** Rates far beyond the self-test's capacity would measure the generator. */
const LADDER_CEILING_FRACTION = 0.8;

/** Performs one repetition. */
export async function runRepetition(context: ProcedureContext, task: RepetitionTask): Promise<RepetitionResult> {
  const startedAt = new Date().toISOString();
  const { target, cell, repetition } = task;
  const identity = { format: RECORD_FORMAT, target: target.id, cell: cell.id, repetition, startedAt } as const;
  let started: StartedProcess;
  try {
    started = await startTarget(context, task);
  } catch (error) {
    const { raw, ...measured } = failed(messageOf(error));
    const record = { ...identity, ...measured, authentication: undefined, workers: undefined };
    return { record, raw: { format: RECORD_FORMAT, ...raw } };
  }
  const { gatewayHost, gatewayCores } = context;
  const run = new RepetitionRun(context, task, started);
  try {
    await pause(started.settleMs);
    const { raw, ...measured } = await run.measure();
    const end = await gatewayHost.ended(started.handle);
    const died = end === undefined ? measured : { ...measured, status: "failed" as const, isValid: false, reasons: [...measured.reasons, `the target died: ${end}`] };
    const sample = await gatewayHost.sample(started.handle);
    const workers =
      sample === undefined
        ? undefined
        : { cores: gatewayCores, configured: started.workers, processes: sample.processes, threads: sample.threads };
    return {
      record: { ...identity, ...died, authentication: run.probe?.authentication, workers },
      raw: { format: RECORD_FORMAT, ...raw },
    };
  } finally {
    await gatewayHost.stop(started.handle);
    await context.mockClient.setProfile("L0");
  }
}

function startTarget(context: ProcedureContext, { target, executable }: RepetitionTask): Promise<StartedProcess> {
  return context.gatewayHost.startTarget({
    target: target.id,
    options: context.options,
    executable,
    mockHost: context.mock.host,
    mockPort: context.mock.port,
    cpus: context.gatewayCpus,
    cores: context.gatewayCores,
  });
}

/** The repetition while its target runs. */
class RepetitionRun {
  probe: Probe | undefined;
  readonly #context: ProcedureContext;
  readonly #cell: PlannedCell;
  readonly #target: Target;
  readonly #started: StartedProcess;
  readonly #scenario: Scenario;
  readonly #watched: WatchedProcess;
  #receiver: Receiver;

  constructor(context: ProcedureContext, { target, cell }: RepetitionTask, started: StartedProcess) {
    this.#context = context;
    this.#target = target;
    this.#cell = cell;
    this.#started = started;
    this.#scenario = SCENARIOS[cell.scenario];
    this.#watched = { host: context.gatewayHost, handle: started.handle, cores: context.gatewayCores };
    this.#receiver = {
      traffic: target.traffic,
      authority: `${started.host}:${started.port}`,
      context: { mockHost: context.mock.host, mockPort: context.mock.port },
      rejectionStatuses: [],
    };
  }

  async measure(): Promise<Measured> {
    const rssIdleBytes = await this.#idleMemory();
    const refusal = await this.#probe();
    if (refusal !== undefined) return failed(refusal);
    const { load } = this.#cell;
    if (load.kind === "idle") return this.#measureIdle(rssIdleBytes);
    const warmUp = await this.#warmUp();
    await this.#context.mockClient.setProfile(this.#cell.latency);
    const measured = load.kind === "ladder" ? await this.#climb(load) : await this.#measureLoad(warmUp.capacityRps);
    const { usage } = measured;
    return { ...measured, warmUp, usage: usage === undefined ? undefined : { ...usage, rssIdleBytes } };
  }

  /** Finds out which statuses refuse, and why the cell cannot be measured, if so. */
  async #probe(): Promise<string | undefined> {
    const part = partsOf(this.#scenario)[0]?.scenario ?? this.#scenario;
    this.probe = await probeTarget(this.#started, part, this.#receiver);
    const { authentication, unknownModelStatus } = this.probe;
    if (authentication.goodKeyStatus !== 200) {
      return `the request with the good key was answered by ${authentication.goodKeyStatus ?? "nothing"}`;
    }
    if (this.#scenario.expect !== "rejection") return undefined;
    const status = this.#scenario.credential === "unknown" ? authentication.unknownKeyStatus : unknownModelStatus;
    if (status === undefined || !isRefused(status)) {
      return `the request that must be rejected was answered by ${status ?? "nothing"}`;
    }
    this.#receiver = { ...this.#receiver, rejectionStatuses: [status] };
    return undefined;
  }

  async #idleMemory(): Promise<number | undefined> {
    const samples: number[] = [];
    for (let index = 0; index < IDLE_SAMPLES; index += 1) {
      await pause(IDLE_SAMPLE_PAUSE_MS);
      const sample = await this.#context.gatewayHost.sample(this.#started.handle);
      if (sample !== undefined) samples.push(sample.rssBytes);
    }
    return samples.length === 0 ? undefined : Math.max(...samples);
  }

  async #measureIdle(rssIdleBytes: number | undefined): Promise<Measured> {
    const { gatewayHost, gatewayCores } = this.#context;
    const { measureSeconds } = this.#cell.windows;
    const before = await gatewayHost.sample(this.#started.handle);
    await pause(measureSeconds * 1000);
    const after = await gatewayHost.sample(this.#started.handle);
    if (before === undefined || after === undefined) return failed("the target's processes cannot be seen");
    const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
    return {
      ...emptyMeasurement(),
      usage: {
        source: after.source,
        cpuSeconds,
        cpuUsPerRequest: undefined,
        minorFaultsPerRequest: undefined,
        coreShare: cpuSeconds / measureSeconds / gatewayCores,
        rssIdleBytes,
        rssPeakBytes: Math.max(before.rssBytes, after.rssBytes),
        processes: after.processes,
        threads: after.threads,
      },
    };
  }

  /** Closed-loop rounds at once-answering upstream until CPU per request is flat; the last round's rate is the capacity. */
  async #warmUp(): Promise<{ readonly requests: number; readonly isFlat: boolean; readonly capacityRps: number }> {
    await this.#context.mockClient.setProfile("L0");
    const minRequests = this.#target.warmUpRequests;
    const perRound = Math.max(WARM_UP_MIN_ROUND, Math.ceil(minRequests / 4));
    const rounds: WarmUpRound[] = [];
    do {
      const round = await this.#warmUpRound(perRound);
      rounds.push(round);
      if (round.requests === 0) break;
    } while (needsAnotherRound(rounds, { minRequests, maxRounds: WARM_UP_MAX_ROUNDS }));
    return { requests: warmUpRequests(rounds), isFlat: isFlat(rounds), capacityRps: rounds.at(-1)?.rps ?? 0 };
  }

  async #warmUpRound(maxRequests: number): Promise<WarmUpRound> {
    const { gatewayHost, runner } = this.#context;
    const before = await gatewayHost.sample(this.#started.handle);
    const startMs = performance.now();
    const { record } = await runner.run(
      this.#spec(this.#scenario, this.#receiver, {
        pace: { kind: "closed", connections: WARM_UP_CONNECTIONS, maxRequests },
        warmUpSeconds: 0,
        measureSeconds: WARM_UP_ROUND_SECONDS,
      }),
    );
    const seconds = (performance.now() - startMs) / 1000;
    const after = await gatewayHost.sample(this.#started.handle);
    const cpuSeconds = before === undefined || after === undefined ? undefined : after.cpuSeconds - before.cpuSeconds;
    return {
      requests: record.succeeded,
      cpuUsPerRequest: cpuSeconds === undefined || record.succeeded === 0 ? undefined : (cpuSeconds * 1e6) / record.succeeded,
      rps: record.succeeded / seconds,
    };
  }

  async #measureLoad(capacityRps: number): Promise<Measured> {
    const { topology } = this.#context;
    const { load, windows } = this.#cell;
    let pace: LoadSpec["pace"];
    let isRateAdapted = false;
    if (load.kind === "rate") {
      const { adaptFraction } = topology;
      isRateAdapted = adaptFraction !== undefined && capacityRps > 0 && capacityRps < load.rps;
      pace = { kind: "open", rps: isRateAdapted ? roundDown(Math.max(1, capacityRps * (adaptFraction ?? 1))) : load.rps };
    } else {
      pace = { kind: "closed", connections: load.kind === "closed" ? load.connections : WARM_UP_CONNECTIONS };
    }
    const { gateway, direct } = await this.#runPair({ pace, ...windows });
    const reasons = this.#voidReasons(gateway, direct, pace.kind === "closed");
    return {
      ...emptyMeasurement(),
      isValid: reasons.length === 0,
      reasons,
      isSaturated: isSaturated(gateway.record),
      isRateAdapted,
      ...recordsOf(gateway, direct),
    };
  }

  async #climb(load: Extract<PlannedCell["load"], { kind: "ladder" }>): Promise<Measured> {
    const { topology, capacityRps } = this.#context;
    const search = { load, plan: topology.ladder, ceilingRps: Math.floor(capacityRps * LADDER_CEILING_FRACTION) };
    const steps: LadderStepRecord[] = [];
    let best: { readonly gateway: MeasuredRun; readonly direct: MeasuredRun } | undefined;
    let limit: string | undefined;
    for (let rps = nextStep(steps, search); rps !== undefined && limit === undefined; rps = nextStep(steps, search)) {
      const { pair, step, voids } = await this.#tryStep(rps);
      steps.push(step);
      if (step.passed) best = pair;
      if (!step.passed && voids.length > 0) limit = `the ladder ended at ${rps} requests/s by a void step: ${voids.join("; ")}`;
    }
    const saturationRps = saturationOf(steps);
    if (saturationRps !== undefined && saturationRps >= search.ceilingRps) {
      limit = `the target held ${saturationRps} requests/s, the most this generator and mock may offer: its saturation lies above`;
    }
    return {
      ...emptyMeasurement(),
      isValid: limit === undefined,
      reasons: limit === undefined ? [] : [limit],
      ...(best === undefined ? {} : recordsOf(best.gateway, best.direct)),
      ...(saturationRps === undefined ? {} : { saturationRps }),
      steps,
    };
  }

  /** A step whose run is void is tried once more: a neighbour on the machine is no property of the target. */
  async #tryStep(rps: number): Promise<{
    readonly pair: { readonly gateway: MeasuredRun; readonly direct: MeasuredRun };
    readonly step: LadderStepRecord;
    readonly voids: readonly string[];
  }> {
    const { windows } = this.#cell;
    const attempt = async (): Promise<{ readonly pair: { readonly gateway: MeasuredRun; readonly direct: MeasuredRun }; readonly voids: string[] }> => {
      const pair = await this.#runPair({ pace: { kind: "open", rps }, ...windows });
      return { pair, voids: this.#voidReasons(pair.gateway, pair.direct, false) };
    };
    let tried = await attempt();
    if (tried.voids.length > 0) tried = await attempt();
    const { gateway, direct } = tried.pair;
    const overheadUs = subtractPercentiles(gateway.record.latencyUs, direct.record.latencyUs);
    const reasons = [...tried.voids, ...stepFailures(gateway.record, overheadUs, this.#context.topology.stepLimits)];
    const { achievedRps, errorFraction } = gateway.record;
    const cpuUsPerRequest = gateway.usage?.cpuUsPerRequest;
    return {
      ...tried,
      step: { rps, passed: reasons.length === 0, reasons, achievedRps, errorFraction, overheadUs, cpuUsPerRequest },
    };
  }

  /** Gateway run, then direct run with the same pace. */
  async #runPair(
    timing: Pick<LoadSpec, "pace" | "warmUpSeconds" | "measureSeconds">,
  ): Promise<{ readonly gateway: MeasuredRun; readonly direct: MeasuredRun }> {
    const { mock, runner } = this.#context;
    const gateway = await runner.run(this.#spec(this.#scenario, this.#receiver, timing), this.#watched);
    const receiver: Receiver = {
      traffic: directTraffic,
      authority: `${mock.host}:${mock.port}`,
      context: { mockHost: mock.host, mockPort: mock.port },
      rejectionStatuses: [],
    };
    const direct = await runner.run({ ...this.#spec(directScenario(this.#scenario), receiver, timing), host: mock.host, port: mock.port });
    return { gateway, direct };
  }

  #spec(scenario: Scenario, receiver: Receiver, timing: Pick<LoadSpec, "pace" | "warmUpSeconds" | "measureSeconds">): LoadSpec {
    const { topology, seed } = this.#context;
    const { timeoutMs, maxConnections } = topology;
    const { host, port } = this.#started;
    const { pace, warmUpSeconds, measureSeconds } = timing;
    const requests = prepareRequests(scenario, receiver);
    return { host, port, requests, pace, warmUpSeconds, measureSeconds, timeoutMs, maxConnections, seed };
  }

  #voidReasons(gateway: MeasuredRun, direct: MeasuredRun, isClosedLoop: boolean): string[] {
    return voidReasons({
      gateway: gateway.record,
      direct: direct.record,
      scriptedMs: scriptedMs(LATENCY_PROFILES[this.#cell.latency], answerParts(this.#scenario, STREAM_CONTENT_EVENTS)),
      areCoresShared: this.#context.areCoresShared,
      isClosedLoop,
    });
  }
}

function recordsOf(
  gateway: MeasuredRun,
  direct: MeasuredRun,
): Pick<Measured, "gateway" | "direct" | "overheadUs" | "ttftOverheadUs" | "gapOverheadUs" | "usage" | "raw"> {
  const ttftOverheadUs = subtractPercentiles(gateway.record.ttftUs, direct.record.ttftUs);
  const gapOverheadUs = subtractPercentiles(gateway.record.gapUs, direct.record.gapUs);
  return {
    gateway: gateway.record,
    direct: direct.record,
    overheadUs: subtractPercentiles(gateway.record.latencyUs, direct.record.latencyUs),
    ...(ttftOverheadUs === undefined ? {} : { ttftOverheadUs }),
    ...(gapOverheadUs === undefined ? {} : { gapOverheadUs }),
    usage: gateway.usage === undefined ? undefined : { ...gateway.usage, rssIdleBytes: undefined },
    raw: { gateway: gateway.raw, direct: direct.raw },
  };
}

function emptyMeasurement(): Measured {
  return {
    status: "measured",
    isValid: true,
    reasons: [],
    isSaturated: false,
    isRateAdapted: false,
    warmUp: undefined,
    gateway: undefined,
    direct: undefined,
    overheadUs: undefined,
    usage: undefined,
    raw: { gateway: undefined, direct: undefined },
  };
}

function failed(reason: string): Measured {
  return { ...emptyMeasurement(), status: "failed", isValid: false, reasons: [reason] };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "it failed without a reason";
}

// What happens to a target between its start and its stop: idle memory, probe, warm-up, then the runs that the cell's load asks for.
import { setTimeout as pause } from "node:timers/promises";

import type { Scenario } from "../contract/cell.ts";
import type { LadderStepRecord, PlannedCell } from "../contract/record.ts";
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
import type { LoadRunner, WatchedProcess } from "./load-runner.ts";
import { emptyMeasurement, failed, recordsOf, type Measured, type RunPair } from "./measured.ts";
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

type Timing = Pick<LoadSpec, "pace" | "warmUpSeconds" | "measureSeconds">;

/** A pair of runs, why it is void, and how often it was made. */
interface TriedPair {
  readonly pair: RunPair;
  readonly voids: readonly string[];
  readonly attempts: number;
}

const WARM_UP_CONNECTIONS = 16;
const WARM_UP_ROUND_SECONDS = 4;
const WARM_UP_MAX_ROUNDS = 10;
const WARM_UP_MIN_ROUND = 500;
const IDLE_SAMPLES = 3;
const IDLE_SAMPLE_PAUSE_MS = 150;
/** Rates far beyond the self-test's capacity would measure the generator. */
const LADDER_CEILING_FRACTION = 0.8;

const LADDER_RETRIES = 1;

/** The repetition while its target runs. */
export class RepetitionRun {
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
    const { record, busySeconds } = await runner.run(
      this.#spec(this.#scenario, this.#receiver, {
        pace: { kind: "closed", connections: WARM_UP_CONNECTIONS, maxRequests },
        warmUpSeconds: 0,
        measureSeconds: WARM_UP_ROUND_SECONDS,
      }),
    );
    const after = await gatewayHost.sample(this.#started.handle);
    const cpuSeconds = before === undefined || after === undefined ? undefined : after.cpuSeconds - before.cpuSeconds;
    return {
      requests: record.succeeded,
      cpuUsPerRequest:
        cpuSeconds === undefined || record.succeeded === 0 ? undefined : (cpuSeconds * 1e6) / record.succeeded,
      rps: busySeconds === 0 ? 0 : record.succeeded / busySeconds,
    };
  }

  async #measureLoad(capacityRps: number): Promise<Measured> {
    const { topology } = this.#context;
    const { load, windows } = this.#cell;
    let pace: LoadSpec["pace"];
    let isRateAdapted = false;
    if (load.kind === "rate") {
      const { adaptFraction } = topology;
      isRateAdapted =
        load.isUnscaled !== true && adaptFraction !== undefined && capacityRps > 0 && capacityRps < load.rps;
      pace = {
        kind: "open",
        rps: isRateAdapted ? roundDown(Math.max(1, capacityRps * (adaptFraction ?? 1))) : load.rps,
      };
    } else {
      pace = { kind: "closed", connections: load.kind === "closed" ? load.connections : WARM_UP_CONNECTIONS };
    }
    const { pair, voids, attempts } = await this.#attemptPair({ pace, ...windows }, topology.voidRetries);
    return {
      ...emptyMeasurement(),
      isValid: voids.length === 0,
      reasons: voids,
      isSaturated: isSaturated(pair.gateway.record),
      isRateAdapted,
      attempts,
      ...recordsOf(pair),
    };
  }

  async #climb(load: Extract<PlannedCell["load"], { kind: "ladder" }>): Promise<Measured> {
    const { topology, capacityRps } = this.#context;
    const search = { load, plan: topology.ladder, ceilingRps: Math.floor(capacityRps * LADDER_CEILING_FRACTION) };
    const steps: LadderStepRecord[] = [];
    let best: RunPair | undefined;
    let limit: string | undefined;
    for (let rps = nextStep(steps, search); rps !== undefined && limit === undefined; rps = nextStep(steps, search)) {
      const { pair, step, voids } = await this.#tryStep(rps);
      steps.push(step);
      if (step.passed) best = pair;
      if (!step.passed && voids.length > 0)
        limit = `the ladder ended at ${rps} requests/s by a void step: ${voids.join("; ")}`;
    }
    const saturationRps = saturationOf(steps);
    if (saturationRps !== undefined && saturationRps >= search.ceilingRps) {
      limit = `the target held ${saturationRps} requests/s, the most this generator and mock may offer: its saturation lies above`;
    }
    return {
      ...emptyMeasurement(),
      isValid: limit === undefined,
      reasons: limit === undefined ? [] : [limit],
      ...(best === undefined ? {} : recordsOf(best)),
      ...(saturationRps === undefined ? {} : { saturationRps }),
      steps,
    };
  }

  /** A step whose run is void is tried once more: a neighbour on the machine is no property of the target. */
  async #tryStep(rps: number): Promise<TriedPair & { readonly step: LadderStepRecord }> {
    const tried = await this.#attemptPair({ pace: { kind: "open", rps }, ...this.#cell.windows }, LADDER_RETRIES);
    const { gateway, direct } = tried.pair;
    const overheadUs = subtractPercentiles(gateway.record.latencyUs, direct.record.latencyUs);
    const reasons = [...tried.voids, ...stepFailures(gateway.record, overheadUs, this.#context.topology.stepLimits)];
    const { achievedRps, errorFraction } = gateway.record;
    const cpuUsPerRequest = gateway.usage?.cpuUsPerRequest;
    const step = {
      rps,
      passed: reasons.length === 0,
      reasons,
      achievedRps,
      errorFraction,
      overheadUs,
      cpuUsPerRequest,
    };
    return { ...tried, step };
  }

  /** Makes the pair of runs again while it is void by the instrument, at most `retries` more times. */
  async #attemptPair(timing: Timing, retries: number): Promise<TriedPair> {
    for (let attempts = 1; ; attempts += 1) {
      const pair = await this.#runPair(timing);
      const voids = this.#voidReasons(pair, timing.pace.kind === "closed");
      if (voids.length === 0 || attempts > retries) return { pair, voids, attempts };
    }
  }

  /** Gateway run, then direct run with the same pace. */
  async #runPair(timing: Timing): Promise<RunPair> {
    const { mock, runner } = this.#context;
    const gateway = await runner.run(this.#spec(this.#scenario, this.#receiver, timing), this.#watched);
    const receiver: Receiver = {
      traffic: directTraffic,
      authority: `${mock.host}:${mock.port}`,
      context: { mockHost: mock.host, mockPort: mock.port },
      rejectionStatuses: [],
    };
    const direct = await runner.run({
      ...this.#spec(directScenario(this.#scenario), receiver, timing),
      host: mock.host,
      port: mock.port,
    });
    return { gateway, direct };
  }

  #spec(scenario: Scenario, receiver: Receiver, timing: Timing): LoadSpec {
    const { topology, seed } = this.#context;
    const { timeoutMs, maxConnections } = topology;
    const { host, port } = this.#started;
    const { pace, warmUpSeconds, measureSeconds } = timing;
    const requests = prepareRequests(scenario, receiver);
    return { host, port, requests, pace, warmUpSeconds, measureSeconds, timeoutMs, maxConnections, seed };
  }

  #voidReasons({ gateway, direct }: RunPair, isClosedLoop: boolean): string[] {
    return voidReasons({
      gateway: gateway.record,
      direct: direct.record,
      scriptedMs: scriptedMs(LATENCY_PROFILES[this.#cell.latency], answerParts(this.#scenario, STREAM_CONTENT_EVENTS)),
      areCoresShared: this.#context.areCoresShared,
      isClosedLoop,
    });
  }
}

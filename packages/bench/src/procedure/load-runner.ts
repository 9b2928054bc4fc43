// One generator run with everything that is read around it: CPU of the mock and of the target at the edges of the window, the peak of
// memory between them, calls at the mock, and how that becomes a record.
import { setTimeout as delay } from "node:timers/promises";

import { monotonicUs } from "../clock/monotonic.ts";
import type { LoadRecord, PercentilesUs, RawHistograms, UsageRecord } from "../contract/record.ts";
import type { GeneratorClient } from "../generator/generator-client.ts";
import type { LoadSpec, RunOutcome, RunTimes } from "../generator/load-spec.ts";
import { decodeHistogram } from "../histogram/histogram.ts";
import type { Host } from "../host/host.ts";
import type { MockClient } from "../mock/mock-client.ts";
import type { ResourceSample } from "../resources/sample.ts";

/** A process that is watched during a run. */
export interface WatchedProcess {
  readonly host: Host;
  readonly handle: string;
  /** Cores given to it, for its share. */
  readonly cores: number;
}

/** The machinery of a run. */
export interface LoadRunnerOptions {
  readonly generator: GeneratorClient;
  readonly generatorCores: number;
  readonly mock: WatchedProcess;
  readonly mockClient: MockClient;
}

/** Result of one run. */
export interface MeasuredRun {
  readonly record: LoadRecord;
  readonly raw: RawHistograms;
  /** From the first scheduled send to the last success; shorter than the window when the load had a request limit. */
  readonly busySeconds: number;
  readonly usage: Omit<UsageRecord, "rssIdleBytes"> | undefined;
}

const MEMORY_SAMPLE_MS = 500;

/** Samples at the edges of a window, and the highest memory seen between them. */
interface WindowSamples {
  readonly before: ResourceSample | undefined;
  readonly after: ResourceSample | undefined;
  /** Window over the time that really lay between the samples: on a busy machine they are a little late. */
  readonly scale: number;
  readonly peakRssBytes: number;
}

/** Performs runs, one at a time. */
export class LoadRunner {
  readonly #options: LoadRunnerOptions;

  constructor(options: LoadRunnerOptions) {
    this.#options = options;
  }

  /** Runs a load and, when `watched` is given, reads that process's resources over the window. */
  async run(spec: LoadSpec, watched?: WatchedProcess): Promise<MeasuredRun> {
    const { generator, mock, mockClient, generatorCores } = this.#options;
    const callsBefore = (await mockClient.counts()).calls;
    let mockSamples: Promise<WindowSamples> | undefined;
    let watchedSamples: Promise<WindowSamples> | undefined;
    const finished = new AbortController();
    const outcome = await generator.run(spec, (times) => {
      mockSamples = sampleWindow(mock, times, finished.signal);
      watchedSamples = watched === undefined ? undefined : sampleWindow(watched, times, finished.signal);
    });
    finished.abort();
    const mockCpu = cpuBetween(await mockSamples);
    const calls = (await mockClient.counts()).calls - callsBefore;
    const windowSeconds = (outcome.times.windowEndUs - outcome.times.windowStartUs) / 1_000_000;
    const record = toLoadRecord(outcome, spec, {
      generatorCpuShare: outcome.cpuSeconds / windowSeconds / generatorCores,
      mockCpuShare: mockCpu === undefined ? undefined : mockCpu / windowSeconds / mock.cores,
      upstreamCalls: calls,
    });
    const usage = watched === undefined ? undefined : toUsage(await watchedSamples, record, watched.cores);
    return { record, raw: rawOf(outcome, spec), busySeconds: busySecondsOf(outcome), usage };
  }
}

/** Ends early when the run does: a load with a request limit may be over long before its window. */
async function sampleWindow(
  { host, handle }: WatchedProcess,
  times: RunTimes,
  finished: AbortSignal,
): Promise<WindowSamples> {
  // A process that cannot be read, for example on an agent that went away, has no samples; its own failure is reported elsewhere.
  const sample = (): Promise<ResourceSample | undefined> => host.sample(handle).catch(() => undefined);
  await waitUntil(times.windowStartUs, finished);
  const beforeUs = monotonicUs();
  const before = await sample();
  let peakRssBytes = before?.rssBytes ?? 0;
  while (!finished.aborted && monotonicUs() + MEMORY_SAMPLE_MS * 1000 < times.windowEndUs) {
    await waitUntil(monotonicUs() + MEMORY_SAMPLE_MS * 1000, finished);
    peakRssBytes = Math.max(peakRssBytes, (await sample())?.rssBytes ?? 0);
  }
  await waitUntil(times.windowEndUs, finished);
  const scale = (times.windowEndUs - times.windowStartUs) / (monotonicUs() - beforeUs);
  const after = await sample();
  return { before, after, scale, peakRssBytes: Math.max(peakRssBytes, after?.rssBytes ?? 0) };
}

async function waitUntil(us: number, finished: AbortSignal): Promise<void> {
  const delayMs = Math.max(0, (us - monotonicUs()) / 1000);
  // Rejects only when the run has finished, which is the other way to be done waiting.
  await delay(delayMs, undefined, { signal: finished }).catch(() => undefined);
}

function busySecondsOf({ tally, times }: RunOutcome): number {
  return Math.max(0, tally.lastSuccessUs - times.startUs) / 1_000_000;
}

function cpuBetween(samples: WindowSamples | undefined): number | undefined {
  if (samples?.before === undefined || samples.after === undefined) return undefined;
  return (samples.after.cpuSeconds - samples.before.cpuSeconds) * samples.scale;
}

/** What a tally becomes in the record. */
function toLoadRecord(
  { tally, times, clockDriftMs }: RunOutcome,
  spec: LoadSpec,
  shares: Pick<LoadRecord, "generatorCpuShare" | "mockCpuShare" | "upstreamCalls">,
): LoadRecord {
  const windowSeconds = (times.windowEndUs - times.windowStartUs) / 1_000_000;
  const ttftUs = percentilesOf(tally.ttft);
  const gapUs = percentilesOf(tally.gap);
  return {
    offeredRps: spec.pace.kind === "open" ? spec.pace.rps : undefined,
    windowSeconds,
    offered: tally.offered,
    succeeded: tally.succeeded,
    achievedRps: tally.succeededInWindow / windowSeconds,
    errorFraction: tally.offered === 0 ? 0 : 1 - tally.succeeded / tally.offered,
    lateSends: tally.lateSends,
    maxLateUs: tally.maxLateUs,
    queuedSends: tally.queuedSends,
    connectErrors: tally.connectErrors,
    timeouts: tally.timeouts,
    brokenBodies: tally.brokenBodies,
    statuses: tally.statuses,
    connectionsPeak: tally.connectionsPeak,
    latencyUs: percentilesOf(tally.latency),
    ...(ttftUs.count === 0 ? {} : { ttftUs }),
    ...(gapUs.count === 0 ? {} : { gapUs }),
    clockDriftMs,
    ...shares,
  };
}

function rawOf({ tally }: RunOutcome, spec: LoadSpec): RawHistograms {
  const hasStreams = spec.requests.some(({ expect }) => expect === "stream");
  return { latency: tally.latency, ...(hasStreams ? { ttft: tally.ttft, gap: tally.gap } : {}) };
}

function percentilesOf(encoded: string): PercentilesUs {
  const histogram = decodeHistogram(encoded);
  const percentiles = histogram.percentiles();
  histogram.destroy();
  return percentiles;
}

function toUsage(
  samples: WindowSamples | undefined,
  record: LoadRecord,
  cores: number,
): Omit<UsageRecord, "rssIdleBytes"> | undefined {
  if (samples?.before === undefined || samples.after === undefined) return undefined;
  const { before, after, scale } = samples;
  const completions = record.achievedRps * record.windowSeconds;
  const cpuSeconds = (after.cpuSeconds - before.cpuSeconds) * scale;
  const perRequest = (value: number): number | undefined => (completions === 0 ? undefined : value / completions);
  return {
    source: after.source,
    cpuSeconds,
    cpuUsPerRequest: perRequest(cpuSeconds * 1_000_000),
    minorFaultsPerRequest: perRequest((after.minorFaults - before.minorFaults) * scale),
    coreShare: cpuSeconds / record.windowSeconds / cores,
    rssPeakBytes: samples.peakRssBytes,
    processes: after.processes,
    threads: after.threads,
  };
}

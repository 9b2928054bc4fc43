// The shape of what a run leaves behind: `run.json`, `summary.json`, and per target, cell and repetition `repetition.json` with its raw
// histograms. Absent means "not measured"; nothing here is ever filled with an invented zero. Times are µs unless the name says more.
import type { Cell, Load } from "./cell.ts";

/** Version of all files of a run directory; a reader refuses another one. */
export const RECORD_FORMAT = 1;

/** Percentiles of one histogram in µs. */
export interface PercentilesUs {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Result of one generator run: the gateway run or the direct run of a repetition, or a step of a ladder. */
export interface LoadRecord {
  /** Scheduled rate; `undefined` in a closed loop. */
  readonly offeredRps: number | undefined;
  readonly windowSeconds: number;
  /** Requests whose scheduled time lies in the window. */
  readonly offered: number;
  /** Of those, how many ended as the scenario expects. */
  readonly succeeded: number;
  /** Successful completions per second of the window. */
  readonly achievedRps: number;
  /** Share of `offered` that did not succeed, 0–1. */
  readonly errorFraction: number;
  /** Sends that left more than 1 ms after their scheduled time through the generator's fault. */
  readonly lateSends: number;
  readonly maxLateUs: number;
  /** Sends that waited because every connection was busy and the limit was reached: the target's fault, part of its latency. */
  readonly queuedSends: number;
  readonly connectErrors: number;
  readonly timeouts: number;
  /** Answers cut short, malformed, or streams without their terminator. */
  readonly brokenBodies: number;
  /** Unexpected statuses and how often each came. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly connectionsPeak: number;
  /** From the scheduled send to the last byte, successes only. */
  readonly latencyUs: PercentilesUs;
  /** Streams only: from the scheduled send to the first content event. */
  readonly ttftUs?: PercentilesUs;
  /** Streams only: between content events. */
  readonly gapUs?: PercentilesUs;
  /** CPU of the generator process over the cores given to it, 0–1. */
  readonly generatorCpuShare: number;
  /** CPU of the mock's process tree over the cores given to it, 0–1; `undefined` when it could not be read. */
  readonly mockCpuShare: number | undefined;
  /** Difference between the wall clock and the monotonic clock over the run. */
  readonly clockDriftMs: number;
  /** Calls the mock saw during the run. */
  readonly upstreamCalls: number | undefined;
}

/** Histograms of one generator run, HDR V2 compressed, base64. */
export interface RawHistograms {
  readonly latency: string;
  readonly ttft?: string;
  readonly gap?: string;
}

/** Resources of the target's process tree (or cgroup) during the gateway run. */
export interface UsageRecord {
  readonly source: "process-tree" | "cgroup";
  readonly cpuSeconds: number;
  /** CPU µs per successful completion in the window; `undefined` when nothing completed. */
  readonly cpuUsPerRequest: number | undefined;
  readonly minorFaultsPerRequest: number | undefined;
  /** CPU time over wall time and cores given, 0–1. */
  readonly coreShare: number;
  readonly rssIdleBytes: number | undefined;
  readonly rssPeakBytes: number | undefined;
  readonly processes: number;
  readonly threads: number;
}

/** Gateway minus direct at the same percentile, µs. Can be negative within noise. */
export interface OverheadUs {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
}

/** A step of a ladder. */
export interface LadderStepRecord {
  readonly rps: number;
  readonly passed: boolean;
  /** Why it did not pass; empty when it did. */
  readonly reasons: readonly string[];
  readonly achievedRps: number;
  readonly errorFraction: number;
  readonly overheadUs: OverheadUs | undefined;
  readonly cpuUsPerRequest: number | undefined;
}

/** What the probe before the load found out about authentication. A status is `undefined` when no answer came. */
export interface AuthenticationCheck {
  readonly goodKeyStatus: number | undefined;
  readonly noKeyStatus: number | undefined;
  readonly unknownKeyStatus: number | undefined;
  /** True when the good key is served and neither a missing nor an unknown one is. */
  readonly isEnforced: boolean;
}

/** Workers asked for and processes seen, so that a forgotten `--num_workers` is visible. */
export interface WorkerCheck {
  readonly cores: number;
  readonly configured: number | undefined;
  readonly processes: number;
  readonly threads: number;
}

/** One repetition of one cell on one target: `<target>/<cell>/rep-<n>/repetition.json`. */
export interface RepetitionRecord {
  readonly format: typeof RECORD_FORMAT;
  readonly target: string;
  readonly cell: string;
  readonly repetition: number;
  readonly startedAt: string;
  /** `failed`: the target did not start, or died; then `reasons` says how and the measured parts may be absent. */
  readonly status: "measured" | "failed";
  /** Void repetitions stay in the record but a cell with one is not valid. */
  readonly isValid: boolean;
  /** Why it is void or failed; empty when valid. */
  readonly reasons: readonly string[];
  /**
   * The target could not hold the offered rate (achieved < 99.5 %): a result, not a fault of the run. Percentiles of such a run
   * measure the queue and the window's length, so reports must not rank by them.
   */
  readonly isSaturated: boolean;
  /** The rate was lowered for this target because it saturates far below the cell's rate; see `load` of the run for the original. */
  readonly isRateAdapted: boolean;
  /** How often the pair of runs was made: above 1 the earlier ones were void by the instrument, never by the target. */
  readonly attempts: number;
  readonly warmUp: { readonly requests: number; readonly isFlat: boolean; readonly capacityRps: number } | undefined;
  readonly gateway: LoadRecord | undefined;
  readonly direct: LoadRecord | undefined;
  readonly overheadUs: OverheadUs | undefined;
  readonly ttftOverheadUs?: OverheadUs;
  readonly gapOverheadUs?: OverheadUs;
  readonly usage: UsageRecord | undefined;
  readonly saturationRps?: number;
  readonly steps?: readonly LadderStepRecord[];
  readonly authentication: AuthenticationCheck | undefined;
  readonly workers: WorkerCheck | undefined;
}

/** `<target>/<cell>/rep-<n>/raw.json`. */
export interface RawRecord {
  readonly format: typeof RECORD_FORMAT;
  readonly gateway: RawHistograms | undefined;
  readonly direct: RawHistograms | undefined;
}

/** Median over repetitions with the extremes. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Names of the figures a cell is summarised by. */
export type MetricName =
  | "overheadP50Us"
  | "overheadP99Us"
  | "overheadP999Us"
  | "ttftOverheadP50Us"
  | "ttftOverheadP99Us"
  | "gapOverheadP50Us"
  | "gapOverheadP99Us"
  | "latencyP50Us"
  | "latencyP99Us"
  | "latencyP999Us"
  | "directP50Us"
  | "directP99Us"
  | "offeredRps"
  | "achievedRps"
  | "errorFraction"
  | "saturationRps"
  | "cpuUsPerRequest"
  | "minorFaultsPerRequest"
  | "coreShare"
  | "rssIdleBytes"
  | "rssPeakBytes";

/** One target in one cell, over its repetitions. */
export interface CellSummary {
  readonly target: string;
  readonly cell: string;
  /** `n/a`: not installed or cannot serve the scenario, see `reasons`; `failed`: no repetition could be measured. */
  readonly status: "measured" | "n/a" | "failed";
  /** True only when every repetition is valid. */
  readonly isValid: boolean;
  readonly reasons: readonly string[];
  readonly isSaturated: boolean;
  readonly isRateAdapted: boolean;
  readonly repetitions: number;
  /** Medians of measured repetitions, valid or not; a metric nobody measured is absent. */
  readonly metrics: Readonly<Partial<Record<MetricName, Spread>>>;
}

/** `summary.json`. */
export interface SummaryRecord {
  readonly format: typeof RECORD_FORMAT;
  readonly runId: string;
  readonly cells: readonly CellSummary[];
}

/** What is known of a machine that took part. */
export interface HostInventory {
  readonly role: "all" | "generator" | "mock" | "gateway";
  readonly hostname: string;
  readonly cpuModel: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly node: string;
  readonly openFilesLimit: number | undefined;
  readonly somaxconn: number | undefined;
  readonly localPortRange: string | undefined;
  readonly tcpTwReuse: number | undefined;
  readonly governor: string | undefined;
  /** Share of CPU time the hypervisor took away during a short sample, 0–1. */
  readonly stealFraction: number | undefined;
  readonly loadAverage: number;
}

/** Outcome of one check of the self-test. */
export interface SelfTestCheck {
  readonly name: "mock-latency" | "generator-schedule" | "counting" | "capacity" | "merging";
  readonly passed: boolean;
  /** What was measured and which bound it is held against, in one line. */
  readonly detail: string;
}

/** Outcome of the self-test. */
export interface SelfTestRecord {
  readonly passed: boolean;
  readonly checks: readonly SelfTestCheck[];
  /** Highest direct rate (generator and mock alone) seen; rates of scaled topologies derive from it. */
  readonly capacityRps: number;
}

/** A target as it took part. */
export interface TargetRecord {
  readonly id: string;
  readonly label: string;
  readonly profile: string;
  readonly kind: "gateway" | "proxy" | "control";
  readonly checksKey: boolean;
  readonly availability: "available" | "n/a";
  /** Reason for `n/a`. */
  readonly reason: string | undefined;
  readonly installCommand: string | undefined;
  readonly version: string | undefined;
  readonly versionNote: string | undefined;
  readonly notes: readonly string[];
}

/** A cell as it was run: scaled by the topology. */
export interface PlannedCell extends Cell {
  /** Load of the reference matrix before scaling. */
  readonly referenceLoad: Load;
}

/** `run.json`. */
export interface RunRecord {
  readonly format: typeof RECORD_FORMAT;
  readonly runId: string;
  readonly benchVersion: string;
  readonly startedAt: string;
  /** Absent while the run is unfinished. */
  readonly endedAt?: string;
  readonly topology: { readonly id: string; readonly isReference: boolean; readonly description: string };
  readonly hosts: readonly HostInventory[];
  /** Scheduling of generator and mock; targets always run with normal scheduling. */
  readonly instrumentScheduling: "normal" | "realtime";
  readonly selfTest: SelfTestRecord | undefined;
  readonly targets: readonly TargetRecord[];
  readonly cells: readonly PlannedCell[];
  /** Reasons why these results must not be published; empty means publishable. */
  readonly notPublishable: readonly string[];
  /** Command line, for reproduction. */
  readonly command: string;
}

// What the generator is told to do and what it answers: plain data that crosses process and thread boundaries.
import type { Expectation } from "../contract/cell.ts";

/** One kind of request, rendered to bytes. */
export interface PreparedRequest {
  /** Share of the traffic; only the ratios matter. */
  readonly weight: number;
  /** Head and body, base64. */
  readonly bytes: string;
  readonly expect: Expectation;
  /** Statuses that are correct for it. */
  readonly okStatuses: readonly number[];
}

/** A generator run. */
export interface LoadSpec {
  readonly host: string;
  readonly port: number;
  readonly requests: readonly PreparedRequest[];
  /** Requests per second for an open loop, or the number of clients that wait for their answer for a closed one. */
  readonly pace:
    | { readonly kind: "open"; readonly rps: number }
    | { readonly kind: "closed"; readonly connections: number; readonly maxRequests?: number };
  readonly warmUpSeconds: number;
  readonly measureSeconds: number;
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly seed: number;
}

/** Counts and encoded histograms of one worker, or of all. */
export interface Tally {
  readonly offered: number;
  readonly succeeded: number;
  /** Successes whose last byte arrived inside the window, whenever they were scheduled. */
  readonly succeededInWindow: number;
  /** When the last success ended, µs on the monotonic clock; 0 without one. */
  readonly lastSuccessUs: number;
  readonly lateSends: number;
  readonly maxLateUs: number;
  readonly queuedSends: number;
  readonly connectErrors: number;
  readonly timeouts: number;
  readonly brokenBodies: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly connectionsPeak: number;
  readonly latency: string;
  readonly ttft: string;
  readonly gap: string;
}

/** Boundaries of a run on the monotonic clock of the generator's host. */
export interface RunTimes {
  readonly startUs: number;
  readonly windowStartUs: number;
  readonly windowEndUs: number;
}

/** What a finished run reports. */
export interface RunOutcome {
  readonly tally: Tally;
  readonly times: RunTimes;
  /** CPU seconds of the generator process inside the window. */
  readonly cpuSeconds: number;
  /** Wall clock minus monotonic clock, change over the window. */
  readonly clockDriftMs: number;
}

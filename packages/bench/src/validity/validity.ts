// The rules that void a repetition, and the words in which a report says why. A slow or failing gateway never voids: that is a
// result. Only a measurement that cannot be trusted does.
import type { LoadRecord } from "../contract/record.ts";

/** Bounds of the rules. */
export const VALIDITY_BOUNDS = {
  lateFraction: 0.001,
  cpuShare: 0.6,
  directSlackUs: 1000,
  directCompleted: 0.995,
  clockDriftMs: 20,
} as const;

/** What the rules look at. */
export interface ValidityInput {
  /** `undefined` for cells without load. */
  readonly gateway: LoadRecord | undefined;
  readonly direct: LoadRecord | undefined;
  /** Time that the mock's script prescribes for the answer, ms. */
  readonly scriptedMs: number;
  /** Generator and mock run on the same cores: their shares add up. */
  readonly areCoresShared: boolean;
  /** In a closed loop the queue in front of the mock is the load itself: its latency says nothing about the path. */
  readonly isClosedLoop: boolean;
}

/** Reasons that void the repetition; empty when it stands. */
export function voidReasons(input: ValidityInput): string[] {
  const { gateway, direct } = input;
  return [
    ...(gateway === undefined ? [] : runReasons("gateway", gateway, input)),
    ...(direct === undefined ? [] : runReasons("direct", direct, input)),
    ...(direct === undefined || direct.offered === 0 ? [] : directReasons(direct, input)),
  ];
}

function runReasons(name: "gateway" | "direct", run: LoadRecord, input: ValidityInput): string[] {
  const reasons: string[] = [];
  if (run.offered === 0) return [`${name} run: no request fell in the measurement window`];
  const late = run.lateSends / run.offered;
  if (late > VALIDITY_BOUNDS.lateFraction) {
    reasons.push(
      `${name} run: ${percent(late)} of the sends were later than 1 ms (bound ${percent(VALIDITY_BOUNDS.lateFraction)}, latest ${(run.maxLateUs / 1000).toFixed(1)} ms)`,
    );
  }
  // Closed-loop runs go as fast as they can: there the shares say who was the limit, and the direct run may well be limited by them.
  if (!input.isClosedLoop || name === "gateway") reasons.push(...cpuReasons(name, run, input.areCoresShared));
  if (Math.abs(run.clockDriftMs) > VALIDITY_BOUNDS.clockDriftMs) {
    reasons.push(
      `${name} run: the wall clock moved ${run.clockDriftMs.toFixed(0)} ms against the monotonic clock (bound ${VALIDITY_BOUNDS.clockDriftMs} ms)`,
    );
  }
  return reasons;
}

function cpuReasons(name: string, run: LoadRecord, areCoresShared: boolean): string[] {
  const mock = run.mockCpuShare ?? 0;
  const shares: readonly (readonly [string, number])[] = areCoresShared
    ? [["generator and mock together", run.generatorCpuShare + mock]]
    : [
        ["the generator", run.generatorCpuShare],
        ["the mock", mock],
      ];
  return shares
    .filter(([, share]) => share > VALIDITY_BOUNDS.cpuShare)
    .map(
      ([who, share]) =>
        `${name} run: ${who} used ${percent(share)} of its CPU (bound ${percent(VALIDITY_BOUNDS.cpuShare)})`,
    );
}

function directReasons(direct: LoadRecord, { scriptedMs, isClosedLoop }: ValidityInput): string[] {
  const reasons: string[] = [];
  const boundUs = scriptedMs * 1000 + VALIDITY_BOUNDS.directSlackUs;
  if (!isClosedLoop && direct.latencyUs.p99 > boundUs) {
    reasons.push(
      `direct run: p99 of ${(direct.latencyUs.p99 / 1000).toFixed(2)} ms is above the scripted ${scriptedMs} ms + 1 ms: the path to the mock is not clean enough to subtract`,
    );
  }
  const completed = direct.succeeded / direct.offered;
  if (completed < VALIDITY_BOUNDS.directCompleted) {
    reasons.push(
      `direct run: completed ${percent(completed)} of the requests it offered (bound ${percent(VALIDITY_BOUNDS.directCompleted)})`,
    );
  }
  return reasons;
}

/** A target whose completions stay below 99.5 % of the offered rate is saturated: a result, but its percentiles measure the queue. */
export function isSaturated(gateway: LoadRecord | undefined): boolean {
  if (gateway?.offeredRps === undefined || gateway.offered === 0) return false;
  // One request may fall over either edge of a short window.
  return gateway.achievedRps < 0.995 * gateway.offeredRps - 2 / gateway.windowSeconds;
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(fraction < 0.01 ? 2 : 1)} %`;
}

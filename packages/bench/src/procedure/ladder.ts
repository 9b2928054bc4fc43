// The search for the highest rate a target holds. Pure: from the steps so far follows the next rate, or the end.
import type { Load } from "../contract/cell.ts";
import type { LoadRecord, OverheadUs } from "../contract/record.ts";
import { roundDown } from "../topology/scale-cells.ts";
import type { LadderPlan, StepLimits } from "../topology/topologies.ts";

/** A step that was tried. */
export interface TriedStep {
  readonly rps: number;
  readonly passed: boolean;
}

/** How a ladder climbs, and where it must stop at the latest. */
export interface LadderSearch {
  readonly load: Extract<Load, { kind: "ladder" }>;
  readonly plan: LadderPlan;
  /** Highest rate the generator and the mock can offer. */
  readonly ceilingRps: number;
}

/** Highest rate that passed; `undefined` when none did. */
export function saturationOf(steps: readonly TriedStep[]): number | undefined {
  const passed = steps.filter((step) => step.passed).map((step) => step.rps);
  return passed.length === 0 ? undefined : Math.max(...passed);
}

/** The next rate to try, or `undefined` when the ladder has ended. */
export function nextStep(steps: readonly TriedStep[], search: LadderSearch): number | undefined {
  const { load, plan, ceilingRps } = search;
  const passed = saturationOf(steps);
  const failed = Math.min(...steps.filter((step) => !step.passed).map((step) => step.rps));
  if (steps.length === 0) return Math.min(load.startRps, ceilingRps);
  if (passed === undefined) return nextBelow(failed, plan);
  const next = plan.kind === "steps" ? nextFixed(passed, failed, load) : nextDoubling(passed, failed, plan.precision);
  if (next === undefined || passed >= ceilingRps) return undefined;
  return Math.min(next, ceilingRps);
}

/** Nothing has passed yet: a bisecting ladder looks below its start, a fixed one has no rate left. */
function nextBelow(failed: number, plan: LadderPlan): number | undefined {
  const half = Math.floor(failed / 2);
  return plan.kind === "bisect" && half >= 1 ? half : undefined;
}

function nextFixed(passed: number, failed: number, load: LadderSearch["load"]): number | undefined {
  if (failed === Number.POSITIVE_INFINITY) return passed + load.coarseRps;
  const next = passed + load.fineRps;
  return next < failed ? next : undefined;
}

function nextDoubling(passed: number, failed: number, precision: number): number | undefined {
  if (failed === Number.POSITIVE_INFINITY) return passed * 2;
  const middle = roundDown((passed + failed) / 2);
  return failed - passed > passed * precision && middle > passed && middle < failed ? middle : undefined;
}

/** Why a step does not pass; empty when it does. */
export function stepFailures(gateway: LoadRecord, overheadUs: OverheadUs | undefined, limits: StepLimits): string[] {
  const reasons: string[] = [];
  const offered = gateway.offeredRps ?? 0;
  // One request may fall over either edge of a short window.
  if (gateway.achievedRps < offered * limits.achievedFraction - 2 / gateway.windowSeconds) {
    reasons.push(`achieved ${gateway.achievedRps.toFixed(1)} of ${offered} requests/s`);
  }
  if (gateway.errorFraction > limits.errorFraction) {
    reasons.push(`${(gateway.errorFraction * 100).toFixed(2)} % of the requests failed`);
  }
  if (overheadUs !== undefined && overheadUs.p99 > limits.overheadP99Us) {
    reasons.push(`p99 overhead of ${(overheadUs.p99 / 1000).toFixed(1)} ms`);
  }
  return reasons;
}

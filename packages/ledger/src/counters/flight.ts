/** One trade under way: who waits for it, what it tells and asks, and what its answer means for each of them. */
import type { Timer } from "@dragoman/core";

import type { Blocked, Lease, LeaseReport, Need } from "../limits/index.ts";
import type { AskAnswer, Trade, TradeReply } from "./counter-source.ts";

/** A step of a call that waits for leases. */
export interface LeaseStep {
  /** Takes all that the step wants; or nothing, and says what stands against it. */
  tryNow(nowMs: number): Blocked | null;
  /** The leases that lack something. */
  needs(nowMs: number): readonly Need[];
}

/** What became of a step. `down`: the source is out of reach, and nothing is let in without it. */
export type LeaseOutcome =
  | { readonly kind: "taken" }
  | { readonly kind: "blocked"; readonly blocked: Blocked }
  | { readonly kind: "down" };

/** A step that waits. */
export interface Waiter {
  readonly step: LeaseStep;
  readonly resolve: (outcome: LeaseOutcome) => void;
  /** How often it has asked. */
  rounds: number;
}

/** A step, and what it asks for in a trade. */
export interface Served {
  readonly waiter: Waiter;
  readonly needs: readonly Need[];
}

/** One trade. */
export interface Flight {
  readonly trade: Trade;
  /** One for each report. */
  readonly leases: readonly Lease[];
  /** One for each ask. */
  readonly served: readonly Served[];
  timer: Timer | null;
}

/** The reserve that is asked for: so many times what a call lacks. */
const SPARE_CALLS = 16;

/** Writes a trade: what steps ask for, and what else is to be told. */
export function loadFlight(
  seq: number,
  { served, told }: { readonly served: readonly Served[]; readonly told: readonly Lease[] },
  nowMs: number,
): Flight {
  const indexes = new Map<Lease, number>();
  const spares: number[] = [];
  const asks = served.map(({ needs }) =>
    needs.map(({ lease, amount }) => {
      const index = indexes.get(lease) ?? indexes.size;
      indexes.set(lease, index);
      spares[index] = Math.max(spares[index] ?? 0, amount * SPARE_CALLS);
      return [index, amount] as const;
    }),
  );
  const reports: LeaseReport[] = [];
  const leases = [...indexes.keys()];
  for (const [index, lease] of leases.entries())
    reports.push(lease.report({ asks: true, spare: spares[index] ?? 0 }, nowMs));
  for (const lease of told) {
    if (indexes.has(lease)) continue;
    leases.push(lease);
    reports.push(lease.report({ asks: false, spare: 0 }, nowMs));
  }
  return { trade: { seq, sentMs: nowMs, reports, asks }, leases, served, timer: null };
}

/** What the asks of a trade were granted, by report. */
export function grantedBy({ trade }: Flight, { answers }: TradeReply): readonly number[] {
  const granted = trade.reports.map(() => 0);
  for (const [index, ask] of trade.asks.entries())
    if (answers[index] === null) for (const [at, amount] of ask) granted[at] = (granted[at] ?? 0) + amount;
  return granted;
}

/** The refusal of the limit that takes longest; null = it was none. */
export function refusedBy(needs: readonly Need[], answer: AskAnswer): Blocked | null {
  if (answer === null) return null;
  let longest = 0;
  for (const [index, waitMs] of answer.entries()) if (waitMs > (answer[longest] ?? 0)) longest = index;
  const need = needs[longest];
  const waitMs = answer[longest] ?? 0;
  if (need === undefined || waitMs === 0) return null;
  const { lease, limit } = need;
  const { scope, id } = lease.limit;
  return { scope, id, limit, retryAfterMs: waitMs, resetMs: limit === null ? null : lease.endMs, isFinal: true };
}

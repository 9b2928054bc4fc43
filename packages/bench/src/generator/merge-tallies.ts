// Joins the tallies of workers (or of shards) into one: counts add up, histograms merge without loss.
import { mergeEncoded } from "../histogram/histogram.ts";
import type { Tally } from "./load-spec.ts";

/** Merges tallies; connections add up because the workers hold them at the same time. */
export function mergeTallies(tallies: readonly Tally[]): Tally {
  const sum = (pick: (tally: Tally) => number): number => tallies.reduce((total, tally) => total + pick(tally), 0);
  const statuses: Record<string, number> = {};
  for (const tally of tallies) {
    for (const [status, count] of Object.entries(tally.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  const merge = (pick: (tally: Tally) => string): string => {
    const merged = mergeEncoded(tallies.map(pick));
    const encoded = merged.encode();
    merged.destroy();
    return encoded;
  };
  return {
    offered: sum((tally) => tally.offered),
    succeeded: sum((tally) => tally.succeeded),
    succeededInWindow: sum((tally) => tally.succeededInWindow),
    lastSuccessUs: Math.max(0, ...tallies.map((tally) => tally.lastSuccessUs)),
    lateSends: sum((tally) => tally.lateSends),
    maxLateUs: Math.max(0, ...tallies.map((tally) => tally.maxLateUs)),
    queuedSends: sum((tally) => tally.queuedSends),
    connectErrors: sum((tally) => tally.connectErrors),
    timeouts: sum((tally) => tally.timeouts),
    brokenBodies: sum((tally) => tally.brokenBodies),
    statuses,
    connectionsPeak: sum((tally) => tally.connectionsPeak),
    latency: merge((tally) => tally.latency),
    ttft: merge((tally) => tally.ttft),
    gap: merge((tally) => tally.gap),
  };
}

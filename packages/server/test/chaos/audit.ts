// The audit after the deaths: the upstream's own log against the ledger, call by call.
import type { LedgerEntry } from "@dragoman/ledger";

import type { UpstreamCallLog } from "../../src/scripted-upstream/index.ts";
import type { MarkedRequest } from "./marked-load.ts";

/** What the audit found. */
export interface Audit {
  /** Empty when the books are right. */
  readonly faults: readonly string[];
  readonly calls: number;
  readonly entries: number;
  /** Entries of calls during which the gateway died. */
  readonly recovered: number;
  /** Answers that reached their client whole. */
  readonly whole: number;
  /** Recovered entries whose call the upstream never saw: the gateway died between the line and the call. */
  readonly neverSent: number;
}

const MARKER = /marker-\d+-end/;

/** Rules of entries whose call may never have reached the upstream. */
const MAY_BE_UNSENT: ReadonlySet<LedgerEntry["rule"]> = new Set<LedgerEntry["rule"]>(["recovered", "failed_free"]);

/** Compares them. */
export function auditBooks(
  calls: readonly UpstreamCallLog[],
  entries: readonly LedgerEntry[],
  requests: readonly MarkedRequest[],
): Audit {
  const faults: string[] = [];
  const callsOf = countBy(calls, (call) => MARKER.exec(call.body.toString("latin1"))?.[0] ?? null);
  const entriesOf = groupBy(entries, (entry) => entry.endUser ?? "");
  const ids = new Set(entries.map(({ id }) => id));
  if (ids.size !== entries.length) faults.push(`${entries.length - ids.size} entries share an id`);
  for (const entry of entries)
    if (entry.id !== `${entry.requestId}/${entry.attempt}`) faults.push(`the entry ${entry.id} is no attempt's`);
  for (const [marker, count] of callsOf) {
    const booked = entriesOf.get(marker) ?? [];
    if (booked.length < count) faults.push(`${marker}: ${count} calls, ${booked.length} entries`);
  }
  let neverSent = 0;
  for (const [marker, booked] of entriesOf) {
    const unsent = booked.length - (callsOf.get(marker) ?? 0);
    if (unsent <= 0) continue;
    neverSent += unsent;
    if (booked.filter(({ rule }) => MAY_BE_UNSENT.has(rule)).length < unsent)
      faults.push(`${marker}: ${booked.length} entries, ${callsOf.get(marker) ?? 0} calls`);
  }
  const wholeAnswers = requests.filter(({ end, status }) => end === "whole" && status === 200);
  for (const { marker } of wholeAnswers)
    if (!entriesOf.has(marker)) faults.push(`${marker}: its client has a whole answer, and there is no entry`);
  return {
    faults,
    calls: calls.length,
    entries: entries.length,
    recovered: entries.filter(({ rule }) => rule === "recovered").length,
    whole: wholeAnswers.length,
    neverSent,
  };
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string | null): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) {
    const name = nameOf(item);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

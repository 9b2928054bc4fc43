import { describe, expect, it } from "vitest";

import type { LedgerEntry } from "@dragoman/ledger";

import type { UpstreamCallLog } from "../../src/scripted-upstream/index.ts";
import { auditBooks } from "./audit.ts";
import type { MarkedRequest } from "./marked-load.ts";

const call = (serial: number): UpstreamCallLog =>
  ({ body: Buffer.from(`{"content":"about marker-${serial}-end."}`) }) as unknown as UpstreamCallLog;
const entry = (serial: number, attempt = 1, rule: LedgerEntry["rule"] = "actual"): LedgerEntry =>
  ({
    id: `req_${serial}/${attempt}`,
    requestId: `req_${serial}`,
    attempt,
    endUser: `marker-${serial}-end`,
    rule,
  }) as unknown as LedgerEntry;
const answered = (serial: number): MarkedRequest => ({ marker: `marker-${serial}-end`, end: "whole", status: 200 });

interface Row {
  readonly name: string;
  readonly calls: readonly UpstreamCallLog[];
  readonly entries: readonly LedgerEntry[];
  readonly requests?: readonly MarkedRequest[];
  readonly faults: number;
}

const ROWS: readonly Row[] = [
  { name: "one entry for each call", calls: [call(1), call(2)], entries: [entry(1), entry(2)], faults: 0 },
  {
    name: "two attempts of one request",
    calls: [call(1), call(1)],
    entries: [entry(1, 1, "failed_free"), entry(1, 2)],
    requests: [answered(1)],
    faults: 0,
  },
  { name: "a call without an entry", calls: [call(1), call(2)], entries: [entry(1)], faults: 1 },
  { name: "a call with two entries", calls: [call(1)], entries: [entry(1), entry(1, 2)], faults: 1 },
  { name: "an entry that is there twice", calls: [call(1), call(1)], entries: [entry(1), entry(1)], faults: 1 },
  { name: "a death between the line and the call", calls: [], entries: [entry(1, 1, "recovered")], faults: 0 },
  { name: "an entry of no call", calls: [], entries: [entry(1)], faults: 1 },
  { name: "a whole answer without an entry", calls: [], entries: [], requests: [answered(1)], faults: 1 },
  { name: "an id that is no attempt's", calls: [call(1)], entries: [{ ...entry(1), id: "x" }], faults: 1 },
];

describe("auditBooks", () => {
  it.each(ROWS)("finds $faults fault(s) in $name", ({ calls, entries, requests = [], faults }) => {
    expect(auditBooks(calls, entries, requests).faults).toHaveLength(faults);
  });
});

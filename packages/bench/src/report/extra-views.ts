// Two views that other projects publish, each with what it leaves out. They are shown apart from the comparison and rank nobody.
import type { CellSummary, PercentilesUs, PlannedCell, RepetitionRecord } from "../contract/record.ts";

/** A fixed rate that a target could not hold: how many requests came through, and how long those took. */
export interface OverloadRow {
  readonly target: string;
  readonly cell: string;
  readonly offeredRps: number;
  readonly windowSeconds: number;
  readonly succeeded: number;
  readonly successFraction: number;
  readonly achievedRps: number;
  /** Of the requests that succeeded. */
  readonly latencyUs: PercentilesUs;
  readonly rssPeakBytes: number | undefined;
  /** The cell's row is valid; a void one is shown as such. */
  readonly isValid: boolean;
}

/** The overload view. */
export interface OverloadView {
  readonly rows: readonly OverloadRow[];
  readonly leavesOut: string;
}

/** Time inside a gateway as it reports it itself. */
export interface InsideRow {
  readonly target: string;
  /** Entry of `server-timing` that was read; absent when the target sends none. */
  readonly metric: string | undefined;
  readonly requests: number;
  readonly durationUs: PercentilesUs | undefined;
}

/** The inside view. */
export interface InsideView {
  readonly rows: readonly InsideRow[];
  readonly leavesOut: string;
}

const OVERLOAD_LEAVES_OUT =
  "An overloaded system's success rate and latency depend on the length of the run, the timeout and the number of connections as much as " +
  "on the gateway. The latencies are those of requests that succeeded: what failed or was turned away early makes a gateway look fast. " +
  "Percentiles measure the queue. It says nothing about a gateway that runs within its capacity.";

const INSIDE_LEAVES_OUT =
  "Each gateway's own clock from the received body to the dispatch, in its own reckoning: reading the request, queueing before the handler, " +
  "the event loop or scheduler, connection set-up, writing to and reading from the upstream, relaying the answer and every system call around " +
  "them are left out. Two gateways that place the marks differently cannot be compared by it.";

/** Rows of fixed-rate cells in which a target did not hold the cell's own rate. */
export function overloadView(
  cells: readonly { readonly cell: PlannedCell; readonly rows: readonly CellSummary[] }[],
  repetitionsOf: (target: string, cell: string) => readonly RepetitionRecord[],
): OverloadView {
  const rows = cells
    .filter(({ cell }) => cell.load.kind === "rate")
    .flatMap(({ cell, rows: summaries }) => summaries.map((row) => ({ cell, row })))
    .filter(({ row }) => row.isSaturated && !row.isRateAdapted)
    .map(({ cell, row }) => overloadRow(row, repetitionsOf(row.target, cell.id)))
    .filter((row) => row !== undefined);
  return { rows, leavesOut: OVERLOAD_LEAVES_OUT };
}

/** The repetition with the median success: one run as it was, not a mixture of several. */
function overloadRow(row: CellSummary, repetitions: readonly RepetitionRecord[]): OverloadRow | undefined {
  const runs = repetitions
    .map(({ gateway, usage }) => ({ gateway, usage }))
    .filter(({ gateway }) => gateway?.offeredRps !== undefined)
    .toSorted((left, right) => (left.gateway?.succeeded ?? 0) - (right.gateway?.succeeded ?? 0));
  const { gateway, usage } = runs[runs.length >> 1] ?? {};
  if (gateway?.offeredRps === undefined) return undefined;
  const { target, cell, isValid } = row;
  const { offeredRps, windowSeconds, succeeded, offered, achievedRps, latencyUs } = gateway;
  const successFraction = offered === 0 ? 0 : succeeded / offered;
  const rssPeakBytes = usage?.rssPeakBytes;
  return {
    target,
    cell,
    offeredRps,
    windowSeconds,
    succeeded,
    successFraction,
    achievedRps,
    latencyUs,
    rssPeakBytes,
    isValid,
  };
}

/** The inside view of what `dragoman-bench inside` wrote. */
export function insideView(rows: readonly InsideRow[]): InsideView {
  return { rows, leavesOut: INSIDE_LEAVES_OUT };
}

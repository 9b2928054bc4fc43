/** Sums over entries by any of their names and by day. Money is summed as `bigint`: a total has no bound. */
import type { LedgerEntry } from "./ledger-entry.ts";

/** What entries can be grouped by. `day` is the UTC day on which the attempt ended. */
export type SpendGroup = "key" | "owner" | "endUser" | "model" | "deployment" | "day";

/** Which entries are summed, and by what. */
export interface SpendQuery {
  readonly by: readonly SpendGroup[];
  /** Attempts that ended from this time on. */
  readonly sinceMs?: number;
  /** Attempts that ended before this time. */
  readonly untilMs?: number;
  readonly where?: Partial<Readonly<Record<SpendGroup, string | null>>>;
}

/** One sum. */
export interface SpendRow {
  /** By the groups that were asked for. */
  readonly group: Partial<Readonly<Record<SpendGroup, string | null>>>;
  /** Those that stand for a call: adjusting ones change the cost only. */
  readonly entries: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: bigint;
  /** Entries that nobody had priced when they were booked: only adjusting ones speak for what they cost. */
  readonly unpriced: number;
}

interface Sum {
  readonly group: SpendRow["group"];
  entries: number;
  inputTokens: number;
  outputTokens: number;
  costNanoUsd: bigint;
  unpriced: number;
}

/** Sums entries one by one. */
export class SpendTable {
  readonly #query: SpendQuery;
  readonly #where: readonly (readonly [SpendGroup, string | null])[];
  readonly #sums = new Map<string, Sum>();

  constructor(query: SpendQuery) {
    this.#query = query;
    this.#where = Object.entries(query.where ?? {}) as [SpendGroup, string | null][];
  }

  add(entry: LedgerEntry): void {
    const { by, sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = this.#query;
    if (entry.endedMs < sinceMs || entry.endedMs >= untilMs) return;
    if (this.#where.some(([group, value]) => valueOf(entry, group) !== value)) return;
    const values = by.map((group) => valueOf(entry, group));
    const name = JSON.stringify(values);
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      const group = Object.fromEntries(by.map((each, index) => [each, values[index] ?? null]));
      this.#sums.set(
        name,
        (sum = { group, entries: 0, inputTokens: 0, outputTokens: 0, costNanoUsd: 0n, unpriced: 0 }),
      );
    }
    if (entry.adjusts === null) sum.entries += 1;
    sum.inputTokens += entry.usage?.input ?? 0;
    sum.outputTokens += entry.usage?.output ?? 0;
    if (entry.costNanoUsd === null) sum.unpriced += 1;
    else sum.costNanoUsd += BigInt(entry.costNanoUsd);
  }

  /** In the order in which groups first came. */
  rows(): readonly SpendRow[] {
    return [...this.#sums.values()];
  }
}

function valueOf(entry: LedgerEntry, group: SpendGroup): string | null {
  return group === "day" ? new Date(entry.endedMs).toISOString().slice(0, 10) : entry[group];
}

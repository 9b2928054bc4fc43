/**
 * Prices entries anew, without changing any: what a call costs by other prices is booked as an adjusting entry over the difference.
 * Invariants: with its adjusting entries an entry costs what it would have cost by these prices from the start; planning again over
 * what was booked plans nothing.
 */
import type { Usage } from "@dragoman/core";

import { costOfUsage } from "../cost/index.ts";
import type { PriceBook } from "../prices/index.ts";
import type { EntryUsage, LedgerEntry } from "./ledger-entry.ts";

/**
 * Yields the adjusting entries that `prices` ask for. `entries` come oldest end first, as stores give them, adjusting ones among them;
 * those that ended in one millisecond are all that is held at a time. Entries without a price now, and without usage, stay as they are.
 */
export async function* planReprice(
  entries: Iterable<LedgerEntry> | AsyncIterable<LedgerEntry>,
  prices: PriceBook,
): AsyncGenerator<LedgerEntry, void> {
  let together = new Millisecond();
  for await (const entry of entries) {
    if (together.endedMs !== entry.endedMs) {
      yield* together.plan(prices);
      together = new Millisecond(entry.endedMs);
    }
    together.add(entry);
  }
  yield* together.plan(prices);
}

/** Adjusting entries end with what they adjust, so an entry and all that was booked for it are found together. */
class Millisecond {
  readonly endedMs: number | null;
  readonly #calls: LedgerEntry[] = [];
  readonly #adjustments = new Map<string, LedgerEntry[]>();

  constructor(endedMs: number | null = null) {
    this.endedMs = endedMs;
  }

  add(entry: LedgerEntry): void {
    if (entry.adjusts === null) {
      this.#calls.push(entry);
      return;
    }
    const others = this.#adjustments.get(entry.adjusts);
    if (others === undefined) this.#adjustments.set(entry.adjusts, [entry]);
    else others.push(entry);
  }

  *plan(prices: PriceBook): Generator<LedgerEntry, void> {
    for (const call of this.#calls) {
      const adjustment = adjust(call, this.#adjustments.get(call.id) ?? [], prices);
      if (adjustment !== null) yield adjustment;
    }
  }
}

function adjust(call: LedgerEntry, former: readonly LedgerEntry[], prices: PriceBook): LedgerEntry | null {
  if (call.usage === null) return null;
  const price = prices.find(call.deployment, call.upstreamModel, call.startedMs);
  if (price === null) return null;
  const pricedBy = former.at(-1)?.priceId ?? call.priceId;
  // A call that nobody settled was charged what was held for it, which is no function of its usage: only another row changes that.
  if (call.rule === "recovered" && pricedBy === price.id) return null;
  const booked = former.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), call.costNanoUsd ?? 0);
  const difference = costOfUsage(usageOf(call.usage), price) - booked;
  if (difference === 0) return null;
  return {
    ...call,
    // Numbered, so that two that plan over the same entries book one adjustment, and prices may come back to what they were.
    id: `${call.id}/reprice-${former.length + 1}`,
    rule: "adjusted",
    adjusts: call.id,
    usageSource: "none",
    usage: null,
    deliveredBytes: 0,
    priceId: price.id,
    costNanoUsd: difference,
    overdrawnNanoUsd: 0,
  };
}

/** The counts as cost is computed from; what was not reported is absent. */
function usageOf(counts: EntryUsage): Usage {
  const { input, output, ...others } = counts;
  const reported = Object.entries(others).filter(([, count]) => count !== null);
  return { input, output, source: "upstream", final: true, ...Object.fromEntries(reported) };
}

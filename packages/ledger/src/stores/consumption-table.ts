/** Sums what accounts have taken, entry by entry. */
import type { LedgerEntry } from "../entries/index.ts";
import { chargedTokens, MAX_NANO_USD } from "../money/index.ts";
import { accountIdOf } from "./account-id.ts";
import type { Consumption, ConsumptionQuery } from "./ledger-store.ts";

interface Sum {
  readonly id: string;
  readonly partStartMs: number;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  nanoUsd: bigint;
}

/** Consumption of all accounts of one scope. */
export class ConsumptionTable {
  readonly #query: ConsumptionQuery;
  readonly #sums = new Map<string, Sum>();

  constructor(query: ConsumptionQuery) {
    this.#query = query;
  }

  add(entry: LedgerEntry): void {
    const { scope, sinceMs, untilMs = Number.POSITIVE_INFINITY, partMs } = this.#query;
    const id = accountIdOf(entry, scope);
    if (id === null || entry.endedMs < sinceMs || entry.endedMs >= untilMs) return;
    const partStartMs = partMs === null ? sinceMs : Math.floor(entry.endedMs / partMs) * partMs;
    const name = `${partStartMs} ${id}`;
    let sum = this.#sums.get(name);
    if (sum === undefined)
      this.#sums.set(name, (sum = { id, partStartMs, requests: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0n }));
    if (entry.adjusts === null && (scope === "deployment" || entry.attempt === 1)) sum.requests += 1;
    sum.inputTokens += chargedTokens(entry.usage?.input);
    sum.outputTokens += chargedTokens(entry.usage?.output);
    sum.nanoUsd += BigInt(entry.costNanoUsd ?? 0);
  }

  rows(): readonly Consumption[] {
    return [...this.#sums.values()].map((sum) => ({ ...sum, nanoUsd: accountAmount(sum.nanoUsd) }));
  }
}

/** A sum as accounts can hold it. */
export function accountAmount(sum: bigint): number {
  if (sum <= 0n) return 0;
  return sum < BigInt(MAX_NANO_USD) ? Number(sum) : MAX_NANO_USD;
}

/** What a caller's limits leave, as answers tell it: of each counted thing the tightest limit. */
import type { LimitStanding } from "@dragoman/core";

import type { ScopeAccount, Standing } from "../limits/index.ts";

/** Of each dimension the limit that leaves least; of those that leave the same, the one that lasts longest. */
export function limitStandings(accounts: Iterable<ScopeAccount>, nowMs: number): readonly LimitStanding[] {
  const tightest = new Map<LimitStanding["dimension"], LimitStanding>();
  for (const account of accounts)
    for (const standing of account.standings(nowMs)) {
      const { dimension } = standing.limit;
      if (dimension === "nanoUsd") continue;
      const found = tightest.get(dimension);
      const told = standingOf(standing, dimension);
      if (found === undefined || isTighter(told, found)) tightest.set(dimension, told);
    }
  return [...tightest.values()];
}

function standingOf({ limit, spent, held, resetMs }: Standing, dimension: LimitStanding["dimension"]): LimitStanding {
  return { dimension, limit: limit.amount, remaining: Math.max(limit.amount - spent - held, 0), resetMs };
}

const isTighter = (one: LimitStanding, other: LimitStanding): boolean =>
  one.remaining < other.remaining || (one.remaining === other.remaining && one.resetMs > other.resetMs);

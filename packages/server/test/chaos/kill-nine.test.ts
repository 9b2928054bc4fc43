// The short form of the script beside: a few deaths in every run of the tests, many by `npm run chaos:kill`.
import { describe, expect, it } from "vitest";

import { runKills } from "./kill-nine.ts";

const KILLS = 5;
const CLIENTS = 12;
const TIME_LIMIT_MS = 120_000;

describe("a gateway that is killed under load", () => {
  it(
    "has exactly one entry for each call in the upstream's own log, and counts what the ledger says",
    async () => {
      const report = await runKills({ kills: KILLS, clients: CLIENTS, seed: 7, maxLifeMs: 600 });
      expect(report.faults).toEqual([]);
      // A run in which nothing was answered, or nobody died in the middle of a call, would prove nothing.
      expect(report.whole).toBeGreaterThan(KILLS);
      expect(report.recovered).toBeGreaterThan(0);
      expect(report.remainingTokens.told).toBe(report.remainingTokens.booked);
    },
    TIME_LIMIT_MS,
  );
});

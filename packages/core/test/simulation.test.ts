// The whole engine under a virtual clock with upstreams that fail, cut, stall and lie, and clients that stop reading or leave. A
// failing seed repeats exactly: `simulate(seed, EXCHANGES)`.
import { describe, expect, it } from "vitest";

import type { SettlementRule } from "../src/index.ts";
import type { SeenExchange } from "./simulation/invariants.ts";
import { simulate } from "./simulation/world.ts";

const EXCHANGES = 150;
const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);

describe("the engine in a simulated world", () => {
  const all: SeenExchange[] = [];

  it.each(SEEDS)("keeps every invariant with seed %i", async (seed) => {
    const { violations, exchanges } = await simulate(seed, EXCHANGES);
    all.push(...exchanges);
    expect(violations, `seed ${seed}`).toEqual([]);
  });

  it("repeats a run exactly from its seed", async () => {
    const summarize = (exchanges: readonly SeenExchange[]): unknown =>
      exchanges.map(({ client, outcomes, calls }) => [
        client.state,
        client.received,
        outcomes,
        calls.map(({ script }) => script.name),
      ]);
    const [first, second] = [await simulate(77, 40), await simulate(77, 40)];
    expect(summarize(second.exchanges)).toEqual(summarize(first.exchanges));
  });

  it("has met every ending of an attempt, of a client and of an answer", () => {
    const rules = new Set<SettlementRule>(
      all.flatMap(({ outcomes }) => outcomes.flatMap(({ attempts }) => attempts.map(({ rule }) => rule))),
    );
    expect([...rules].sort()).toEqual([
      "abandoned",
      "actual",
      "after_disconnect",
      "estimated",
      "failed_free",
      "partial",
    ]);
    expect(new Set(all.map(({ client }) => client.state))).toEqual(new Set(["ended", "gone", "aborted"]));
    const counts = all.flatMap(({ outcomes }) => outcomes.map((outcome) => outcome.attempts.length));
    expect(Math.max(...counts)).toBeGreaterThanOrEqual(3);
    const statuses = new Set(all.flatMap(({ outcomes }) => outcomes.map(({ status }) => status)));
    for (const status of [200, 400, 401, 404, 405, 429, 499, 502, 503, 504]) expect(statuses).toContain(status);
  });
});

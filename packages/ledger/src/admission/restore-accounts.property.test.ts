// A process that starts again counts on where the one before had stopped.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { LeaseBank } from "../counters/index.ts";
import { nameLimit, type LimitConfig, type Scope } from "../limits/index.ts";
import { MemoryLedgerStore } from "../stores/index.ts";
import { call, FakeLedger, MONDAY_MS, principal, TARGET, used } from "./fixtures/fake-ledger.ts";
import { createLimitDirectory, type LimitsConfig } from "./limit-directory.ts";
import { restoreBank } from "./restore-accounts.ts";

const limits = fc.subarray<LimitConfig>([
  { usd: 100, per: "minute" },
  { usd: 100, per: "month" },
  { tokens: 100_000, per: "day" },
  { inputTokens: 100_000, per: "10m" },
  { outputTokens: 100_000, per: "1h" },
  { requests: 1_000, per: "week" },
  { requests: 1_000, per: "30s" },
]);
const config: fc.Arbitrary<LimitsConfig> = fc.record({
  keys: fc.record({ k1: limits, k2: limits }),
  owners: fc.record({ team: fc.record({ limits, eachKey: limits }) }),
  eachEndUser: limits,
  models: fc.record({ chat: limits }),
  deployments: fc.record({ d: limits }),
  global: limits,
});
const calls = fc.array(
  fc.record({
    waitMs: fc.constantFrom(0, 400, 9_000, 70_000, 500_000, 90_000_000),
    key: fc.constantFrom("k1", "k2"),
    hasOwner: fc.boolean(),
    endUser: fc.constantFrom(null, "eve"),
    input: fc.nat(500),
    output: fc.nat(500),
    attempts: fc.integer({ min: 1, max: 2 }),
  }),
  { maxLength: 12 },
);
/** A key has one owner in truth; the name says which. */
const OWNERS: Readonly<Record<string, string | null>> = { "k1+": "team", "k2+": "team", k1: null, k2: null };
const ACCOUNTS: readonly (readonly [Scope, string])[] = [
  ...Object.keys(OWNERS).flatMap((key): [Scope, string][] => [
    ["key", key],
    ["each-key", key],
    ["end-user", `key ${key}\neve`],
  ]),
  ["owner", "team"],
  ["end-user", "owner team\neve"],
  ["model", "chat"],
  ["deployment", "d"],
  ["global", ""],
];

const ownerOf = (key: string): string | null => OWNERS[key] ?? null;

/** Keys with an owner have the limits of those without. */
function withOwnedKeys(each: LimitsConfig): LimitsConfig {
  const { k1 = [], k2 = [] } = each.keys ?? {};
  return { ...each, keys: { k1, k2, "k1+": k1, "k2+": k2 } };
}

/** Runs calls, and keeps their entries in a store. */
async function play(ledger: FakeLedger, steps: typeof calls extends fc.Arbitrary<infer Value> ? Value : never) {
  for (const { waitMs, key, hasOwner, endUser, input, output, attempts } of steps) {
    ledger.nowMs += waitMs;
    const id = hasOwner ? `${key}+` : key;
    const ticket = ledger.open(principal({ id, owner: ownerOf(id) }));
    expect(ticket?.hold(call(input, { endUser, maxOutputTokens: output }))).toBeNull();
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      expect(ticket?.attempt("d", TARGET)).toBeNull();
      // More than was held now and then: what is overdrawn is spent as well.
      ticket?.settle(ledger.settlement({ usage: used(input + attempt, output) }));
    }
    ticket?.close();
  }
  const store = new MemoryLedgerStore();
  await store.ingest({ entries: [...ledger.store.entries()], progress: null });
  return store;
}

describe("a start after any schedule of calls", () => {
  it("finds every account as it was; in sliding windows up to one part later", async () => {
    let spent = 0;
    await fc.assert(
      fc.asyncProperty(config, calls, fc.constantFrom(0, 20_000, 400_000), async (limitsOf, steps, pauseMs) => {
        const limitsConfig = withOwnedKeys(limitsOf);
        const before = new FakeLedger(limitsConfig);
        const store = await play(before, steps);
        before.nowMs += pauseMs;
        const after = new FakeLedger(limitsConfig);
        after.nowMs = before.nowMs;
        await after.admission.restore({ store, ownerOf });
        const bank = new LeaseBank({
          clock: { nowMs: () => after.nowMs, schedule: () => ({ cancel: () => undefined }) },
        });
        await restoreBank(bank, { store, ownerOf, limits: createLimitDirectory(limitsConfig), nowMs: after.nowMs });
        for (const [scope, id] of ACCOUNTS) {
          const restored = after.admission.standings(scope, id);
          for (const standing of before.admission.standings(scope, id)) {
            const { limit } = standing;
            const found = restored.find(
              (each) => each.limit.dimension === limit.dimension && each.limit.per === limit.per,
            );
            const counted = found?.spent ?? 0;
            spent += counted;
            expect(bank.standing(nameLimit(scope, id, limit.dimension, limit.per))?.spent ?? 0).toBe(counted);
            const isRight = limit.window.kind === "calendar" ? counted === standing.spent : counted >= standing.spent;
            if (!isRight) throw new Error(`${scope} ${id} per ${limit.per}: ${counted} instead of ${standing.spent}`);
          }
        }
      }),
      { numRuns: 1_000 },
    );
    expect(spent).toBeGreaterThan(0);
  });

  it("has no sliding window count what left it more than two parts ago", async () => {
    const before = new FakeLedger({ keys: { app: [{ tokens: 100, per: "1m" }] } });
    before.run(70);
    const store = new MemoryLedgerStore();
    await store.ingest({ entries: [...before.store.entries()], progress: null });
    for (const [passedMs, expected] of [
      [60_000, 70],
      [63_000, 0],
    ] as const) {
      const after = new FakeLedger({ keys: { app: [{ tokens: 100, per: "1m" }] } });
      after.nowMs = MONDAY_MS + passedMs;
      await after.admission.restore({ store, ownerOf: () => "team" });
      expect(after.admission.standings("key", "app")[0]?.spent ?? 0).toBe(expected);
    }
  });

  it("counts no request again that was held and became no attempt", async () => {
    const limitsConfig: LimitsConfig = {
      keys: { app: [{ requests: 5, per: "day" }] },
      deployments: { d: [{ requests: 1, per: "day" }] },
    };
    const before = new FakeLedger(limitsConfig);
    expect([before.run(1), before.run(1)]).toEqual([null, "rate_limited"]);
    const store = new MemoryLedgerStore();
    await store.ingest({ entries: [...before.store.entries()], progress: null });
    const after = new FakeLedger(limitsConfig);
    await after.admission.restore({ store, ownerOf: () => "team" });
    expect(before.admission.standings("key", "app")[0]?.spent).toBe(2);
    expect(after.admission.standings("key", "app")[0]?.spent).toBe(1);
    expect(after.admission.standings("deployment", "d")[0]?.spent).toBe(1);
  });
});

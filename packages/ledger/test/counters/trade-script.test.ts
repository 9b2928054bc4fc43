// The script in the server counts as the bank in this process does: the same trades at the same times have the same answers.
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";

import { useValkey } from "../../../../tests/services/valkey.ts";
import type { Trade, TradeReply } from "../../src/counters/counter-source.ts";
import { LeaseBank } from "../../src/counters/lease-bank.ts";
import { readReply } from "../../src/counters/valkey/valkey-counters.ts";
import { TRADE_SCRIPT } from "../../src/counters/valkey/trade-script.ts";
import type { CountedLimit } from "../../src/limits/index.ts";

const valkey = await useValkey();
const client = valkey === null ? null : new Redis(valkey.url);
afterAll(() => client?.disconnect());

/** The same script under a clock of the test's own. */
const TIMED_SCRIPT = TRADE_SCRIPT.replace("redis.call('TIME')", "{ ARGV[2], ARGV[3] }");

const limitOf = (dimension: CountedLimit["dimension"], window: CountedLimit["window"]): CountedLimit => ({
  name: `key\napp\n${dimension}`,
  scope: "key",
  id: "app",
  dimension,
  window,
});
const LIMITS: readonly CountedLimit[] = [
  limitOf("requests", { kind: "calendar", unit: "minute" }),
  limitOf("inputTokens", { kind: "calendar", unit: "week" }),
  limitOf("nanoUsd", { kind: "calendar", unit: "month" }),
  limitOf("tokens", { kind: "sliding", lengthMs: 10_000 }),
  limitOf("parallel", null),
];
const HOLDERS = ["a", "b", "c"] as const;

const report = fc.record({
  limit: fc.nat(LIMITS.length - 1),
  amount: fc.constantFrom(40, 100, 7_000_000_000_000_001),
  spends: fc.nat(20),
  earlier: fc.nat(5),
  recentAgoMs: fc.constantFrom(0, 3, 700, 20_000),
  earlierAgoMs: fc.constantFrom(0, 5_000, 90_000),
  lease: fc.nat(10),
  spare: fc.constantFrom(0, 8, 160),
  isNew: fc.nat(9).map((value) => value === 0),
});
const step = fc.record({
  waitMs: fc.constantFrom(0, 1, 160, 5_000, 61_000, 3_000_000_000),
  holder: fc.nat(HOLDERS.length - 1),
  reports: fc.uniqueArray(report, { minLength: 1, maxLength: 4, selector: ({ limit }) => limit }),
  asks: fc.array(fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 30 })), { maxLength: 3 }), { maxLength: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What one holder has told of one limit. */
interface Told {
  epoch: number;
  spent: number;
}

class Twins {
  nowMs: number;
  readonly #prefix: string;
  readonly #bank: LeaseBank;
  readonly #told = new Map<string, Told>();
  #seq = 0;

  constructor(prefix: string, startMs: number) {
    this.#prefix = prefix;
    this.nowMs = startMs;
    this.#bank = new LeaseBank({ clock: { nowMs: () => this.nowMs, schedule: () => ({ cancel: () => undefined }) } });
    for (const holder of HOLDERS) this.#bank.join(holder, (round) => this.#bank.returned(holder, round, []));
  }

  /** One trade; what the server answers, and what the bank does. */
  async trade(each: Step): Promise<readonly [TradeReply, TradeReply | null]> {
    this.nowMs += each.waitMs;
    const holder = HOLDERS[each.holder] ?? "a";
    const trade = this.#tradeOf(holder, each);
    let banked: TradeReply | null = null;
    this.#bank.trade(holder, trade, (reply) => (banked = reply));
    const keys = trade.reports.map(({ limit }) => `${this.#prefix}${limit.name}`);
    const message = JSON.stringify({ ...trade, holder, leaseMs: 1e11 });
    const time = [String(Math.floor(this.nowMs / 1000)), String((this.nowMs % 1000) * 1000)];
    const raw = await client?.eval(TIMED_SCRIPT, keys.length, ...keys, message, ...time);
    return [readReply(raw), banked];
  }

  #tradeOf(holder: string, each: Step): Trade {
    this.#seq += 1;
    const reports = each.reports.map((parts) => {
      const limit = LIMITS[parts.limit] as CountedLimit;
      const told = this.#toldOf(`${holder} ${limit.name}`, parts.isNew);
      const heard = told.spent;
      const recent = limit.window === null ? 0 : parts.spends;
      told.spent += recent + (limit.window === null ? 0 : parts.earlier);
      const recentAtMs = this.nowMs - parts.recentAgoMs;
      const { amount, lease, spare } = parts;
      return {
        limit,
        amount,
        epoch: told.epoch,
        lease,
        spent: told.spent,
        heard,
        recent,
        recentAtMs,
        earlierAtMs: recentAtMs - parts.earlierAgoMs,
        spare,
      };
    });
    // An ask has each limit once.
    const asks = each.asks.map((ask) => [...new Map(ask.map(([at, amount]) => [at % reports.length, amount]))]);
    return { seq: this.#seq, sentMs: this.nowMs, reports, asks };
  }

  #toldOf(name: string, isNew: boolean): Told {
    const known = this.#told.get(name);
    if (known !== undefined && !isNew) return known;
    const told = { epoch: this.#seq, spent: 0 };
    this.#told.set(name, told);
    return told;
  }
}

let plays = 0;

describe.skipIf(client === null)("the script in the server", () => {
  it("answers any trades as the bank does", async () => {
    expect(TIMED_SCRIPT).not.toBe(TRADE_SCRIPT);
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: Date.parse("2027-12-25"), max: Date.parse("2028-03-05") }),
        async (steps, startMs) => {
          plays += 1;
          const twins = new Twins(`test:${process.pid}:${plays}:`, startMs);
          for (const each of steps) {
            const [served, banked] = await twins.trade(each);
            expect(served).toEqual(banked);
          }
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it.each([
    "2026-01-31T23:59:59.999Z",
    "2026-12-31T12:00:00Z",
    "2027-02-28T23:59:59Z",
    "2028-02-29T00:00:00Z",
    "2100-02-28T12:00:00Z",
    "2000-02-29T12:00:00Z",
    "2026-03-01T00:00:00Z",
  ])("finds the month of %s", async (at) => {
    plays += 1;
    const twins = new Twins(`test:${process.pid}:${plays}:`, Date.parse(at));
    const month: Step["reports"][number] = {
      limit: 2,
      amount: 100,
      spends: 1,
      earlier: 0,
      recentAgoMs: 0,
      earlierAgoMs: 0,
      lease: 0,
      spare: 0,
      isNew: false,
    };
    const [served, banked] = await twins.trade({ waitMs: 0, holder: 0, reports: [month], asks: [] });
    expect(served).toEqual(banked);
  });
});

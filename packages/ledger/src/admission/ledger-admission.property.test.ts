// Random schedules of many tickets over a fake clock, against accounts that are kept apart from the ledger's own.
import type { HoldRequest, Principal, SettlementRule, Ticket } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { LimitConfig, Scope } from "../limits/index.ts";
import { call, FakeLedger, principal, TARGET, used } from "./fixtures/fake-ledger.ts";
import type { LimitsConfig } from "./limit-directory.ts";

const RUNS = 10_000;
const KEYS = ["k1", "k2"] as const;

const amount = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 3_000, max: 30_000 }));
const oneLimit: fc.Arbitrary<readonly LimitConfig[]> = fc
  .oneof(
    fc.record({ usd: amount.map((micro) => micro / 1e6), per: fc.constantFrom("minute", "day", "10m") }),
    fc.record({ tokens: amount, per: fc.constantFrom("minute", "hour", "30s") }),
    fc.record({ inputTokens: amount, per: fc.constant("minute") }),
    fc.record({ requests: fc.integer({ min: 0, max: 12 }), per: fc.constantFrom("minute", "1m") }),
    fc.record({ parallel: fc.integer({ min: 1, max: 5 }) }),
  )
  .map((limit) => [limit]);
const twoLimits: fc.Arbitrary<readonly LimitConfig[]> = fc
  .record({ usd: amount, tokens: amount })
  .map(({ usd, tokens }) => [{ usd: usd / 1e6, per: "hour" }, { tokens, per: "5m" }, { parallel: 6 }]);
// Most scopes have no limits in a run, or hardly a call would pass all of them.
const limits: fc.Arbitrary<readonly LimitConfig[]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: oneLimit },
  { weight: 1, arbitrary: twoLimits },
);
const config: fc.Arbitrary<LimitsConfig> = fc.record({
  keys: fc.record({ k1: limits, k2: limits }),
  owners: fc.record({ team: fc.record({ limits, eachKey: limits }) }),
  eachEndUser: limits,
  models: fc.record({ chat: limits }),
  deployments: fc.record({ d: limits }),
  global: limits,
});

type Step =
  | {
      readonly kind: "open";
      readonly key: number;
      readonly input: number;
      readonly output: number;
      readonly endUser: string | null;
    }
  | {
      readonly kind: "move";
      readonly ticket: number;
      readonly tokens: number;
      readonly output: number;
      readonly rule: SettlementRule;
      readonly next: "settle" | "leave" | "close";
    }
  | { readonly kind: "wait"; readonly ms: number };

const opening = fc.record({
  kind: fc.constant("open" as const),
  key: fc.nat(1),
  input: fc.nat(900),
  output: fc.nat(900),
  endUser: fc.constantFrom(null, "eve", "bob"),
});
const moving = fc.record({
  kind: fc.constant("move" as const),
  ticket: fc.nat(11),
  tokens: fc.nat(1_000),
  output: fc.nat(1_000),
  rule: fc.constantFrom<SettlementRule>(
    "actual",
    "failed_free",
    "failed_actual",
    "partial",
    "after_disconnect",
    "abandoned",
  ),
  next: fc.constantFrom(
    "settle" as const,
    "settle" as const,
    "settle" as const,
    "settle" as const,
    "leave" as const,
    "close" as const,
  ),
});
const waiting = fc.record({
  kind: fc.constant("wait" as const),
  ms: fc.constantFrom(1, 500, 9_000, 60_000, 700_000, 90_000_000),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: opening },
  { weight: 7, arbitrary: moving },
  { weight: 1, arbitrary: waiting },
);
const schedule = fc.array(step, { minLength: 10, maxLength: 40, size: "max" });

interface Running {
  readonly ticket: Ticket;
  /** The accounts that the ticket is held against. */
  readonly scopes: readonly (readonly [Scope, string])[];
  readonly request: HoldRequest;
  readonly input: number;
  state: "opened" | "held" | "attempting";
}

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["key", "k1"],
  ["key", "k2"],
  ["owner", "team"],
  ["each-key", "k1"],
  ["each-key", "k2"],
  ["end-user", "owner team\neve"],
  ["end-user", "owner team\nbob"],
  ["model", "chat"],
  ["deployment", "d"],
  ["global", ""],
];

/** Plays a schedule. `actual` says what an attempt turns out to have used. */
class Play {
  readonly ledger: FakeLedger;
  readonly running: Running[] = [];
  attempts = 0;
  refusals = 0;
  opened = 0;

  constructor(config: LimitsConfig, hold: "expected" | "worst") {
    this.ledger = new FakeLedger(config, { hold, learnedOutput: { initialTokens: 50 } });
  }

  take(step: Step, isHonest: boolean): void {
    if (step.kind === "wait") this.ledger.nowMs += step.ms;
    else if (step.kind === "open") this.#open(step);
    else if (this.running.length > 0) this.#move(step, isHonest);
    this.#checkNothingNegative();
  }

  finish(): void {
    for (const { ticket, state } of this.running.splice(0)) {
      if (state === "attempting") ticket.settle(this.ledger.settlement({ rule: "failed_free" }));
      ticket.close();
    }
    for (const [scope, id] of SCOPES) {
      const held = this.ledger.admission.standings(scope, id).reduce((sum, standing) => sum + standing.held, 0);
      const running = this.ledger.admission.running(scope, id);
      if (held + running > 0) throw new Error(`${scope} ${id}: ${held} held by ${running} calls when all had ended`);
    }
    if (this.ledger.store.size !== this.attempts)
      throw new Error(`${this.ledger.store.size} entries of ${this.attempts} attempts`);
  }

  #open({ key, input, output, endUser }: Step & { kind: "open" }): void {
    const who: Principal = principal({ id: KEYS[key] ?? "k1" });
    const ticket = this.ledger.open(who);
    if (ticket === null) {
      this.refusals += 1;
      return;
    }
    this.opened += 1;
    const scopes: (readonly [Scope, string])[] = [
      ["key", who.id],
      ["owner", "team"],
      ["each-key", who.id],
      ["model", "chat"],
      ["global", ""],
    ];
    if (endUser !== null) scopes.push(["end-user", `owner team\n${endUser}`]);
    const request = call(input, { maxOutputTokens: output, bodyBytes: 100, endUser });
    const { first: _, ...unaware } = request;
    this.running.push({
      ticket,
      scopes,
      input,
      // Half of the calls are held before anybody knows where they go.
      request: input % 2 === 0 ? request : unaware,
      state: "opened",
    });
  }

  #move(step: Step & { kind: "move" }, isHonest: boolean): void {
    const index = step.ticket % this.running.length;
    const each = this.running[index] as Running;
    const { ticket } = each;
    if (each.state === "opened") {
      if (ticket.hold(each.request) === null) {
        each.state = "held";
        this.#checkWithin(each.scopes);
        return;
      }
      this.refusals += 1;
    } else if (each.state === "held" && step.next === "settle") {
      const before = this.#held(each.scopes);
      if (ticket.attempt("d", TARGET) === null) {
        each.state = "attempting";
        this.attempts += 1;
        // What was held already was let in before, though others may have overdrawn the account since.
        if (this.#held(each.scopes) > before) this.#checkWithin(each.scopes);
        this.#checkWithin([["deployment", "d"]]);
        return;
      }
      this.refusals += 1;
    } else if (each.state === "attempting") {
      if (step.next === "leave") {
        ticket.releaseClient();
        return;
      }
      this.#settle(each, step, isHonest);
      each.state = "held";
      if (step.next === "settle") return;
    }
    ticket.close();
    this.running.splice(index, 1);
  }

  #settle(
    { ticket, request, input }: Running,
    { tokens, output, rule }: Step & { kind: "move" },
    isHonest: boolean,
  ): void {
    const [most, longest] = [input + (request.bodyBytes ?? 0), request.maxOutputTokens ?? 0];
    const usage = isHonest ? used(Math.min(tokens, most), Math.min(output, longest)) : used(tokens * 3, output * 3);
    ticket.settle(this.ledger.settlement({ rule, usage: rule === "failed_free" ? null : usage }));
  }

  #held(scopes: Running["scopes"]): number {
    return scopes
      .flatMap(([scope, id]) => this.ledger.admission.standings(scope, id))
      .reduce((sum, { held }) => sum + held, 0);
  }

  /** At the moment of an admission spent + held, the new estimate included, is within the limits of the scopes it concerns. */
  #checkWithin(scopes: Running["scopes"]): void {
    for (const [scope, id] of scopes)
      for (const { limit, spent, held } of this.ledger.admission.standings(scope, id))
        if (spent + held > limit.amount)
          throw new Error(`${scope} ${id}: ${spent} spent and ${held} held of ${limit.amount} ${limit.dimension}`);
  }

  #checkNothingNegative(): void {
    for (const [scope, id] of SCOPES) {
      if (this.ledger.admission.running(scope, id) < 0) throw new Error(`${scope} ${id}: fewer than no calls run`);
      for (const { spent, held } of this.ledger.admission.standings(scope, id))
        if (!(spent >= 0 && held >= 0)) throw new Error(`${scope} ${id}: ${spent} spent, ${held} held`);
    }
  }
}

describe("any schedule of calls", () => {
  it("keeps spent + held + estimate within every limit at admission, ends every ticket once and loses nothing", () => {
    let admitted = 0;
    let refused = 0;
    fc.assert(
      fc.property(config, schedule, (limitsConfig, steps) => {
        const play = new Play(limitsConfig, "expected");
        for (const each of steps) play.take(each, false);
        play.finish();
        admitted += play.attempts;
        refused += play.refusals;
      }),
      { numRuns: RUNS },
    );
    // A run in which nothing was let in, or nothing refused, would prove nothing.
    expect(Math.min(admitted, refused)).toBeGreaterThan(RUNS);
  });

  it("never passes a USD or token limit when the worst case is held", () => {
    let spentAnything = 0;
    fc.assert(
      fc.property(config, schedule, (limitsConfig, steps) => {
        const play = new Play(limitsConfig, "worst");
        for (const each of steps) {
          play.take(each, true);
          for (const [scope, id] of SCOPES)
            for (const { limit, spent, held } of play.ledger.admission.standings(scope, id)) {
              if (spent + held > limit.amount)
                throw new Error(
                  `${scope} ${id}: ${spent} spent and ${held} held of ${limit.amount} ${limit.dimension}`,
                );
              spentAnything += spent;
            }
        }
        play.finish();
      }),
      { numRuns: RUNS },
    );
    expect(spentAnything).toBeGreaterThan(RUNS * 1000);
  });

  it("spends in a window exactly what its entries say", () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const play = new Play(
          {
            global: [
              { usd: 1, per: "month" },
              { tokens: 1_000_000, per: "month" },
            ],
            keys: { k1: [{ usd: 1, per: "minute" }], k2: [{ usd: 1, per: "10m" }] },
          },
          "expected",
        );
        for (const each of steps) {
          play.take(each, false);
          const entries = [...play.ledger.store.entries()];
          const { nowMs } = play.ledger;
          const sum = (fromMs: number, key: string | null = null): number =>
            entries.reduce(
              (total, entry) =>
                entry.endedMs >= fromMs && (key === null || entry.key === key)
                  ? total + (entry.costNanoUsd ?? 0)
                  : total,
              0,
            );
          const [month] = play.ledger.admission.standings("global", "");
          if (month === undefined) continue;
          expect(month.spent).toBe(sum(month.windowStartMs));
          const [minute] = play.ledger.admission.standings("key", "k1");
          expect(minute?.spent ?? 0).toBe(minute === undefined ? 0 : sum(minute.windowStartMs, "k1"));
          const spent = play.ledger.admission.standings("key", "k2")[0]?.spent ?? 0;
          expect(spent).toBeGreaterThanOrEqual(sum(nowMs - 600_000 + 1, "k2"));
          expect(spent).toBeLessThanOrEqual(sum(nowMs - 610_000, "k2"));
        }
        play.finish();
      }),
      { numRuns: 2_000 },
    );
  });
});

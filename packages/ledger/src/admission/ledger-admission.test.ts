import { isGatewayError } from "@dragoman/core";
import type { Settlement, SettlementRule } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { MAX_TOKENS } from "../money/index.ts";
import { call, FakeLedger, MONDAY_MS, principal, TARGET, used, type PromptTicket } from "./fixtures/fake-ledger.ts";
import { createLimitDirectory, type LimitsConfig } from "./limit-directory.ts";

const opened = (ledger: FakeLedger, who = principal()): PromptTicket => {
  const ticket = ledger.open(who);
  if (ticket === null) throw new Error("refused");
  return ticket;
};

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (thrown) {
    return thrown;
  }
  return null;
}

const MICRO = 1000;

describe("limits per scope", () => {
  it.each<{ readonly scope: string; readonly limits: LimitsConfig }>([
    { scope: "key", limits: { keys: { app: [{ usd: 1, per: "day" }] } } },
    { scope: "owner", limits: { owners: { team: { limits: [{ usd: 1, per: "day" }] } } } },
    { scope: "each-key", limits: { owners: { team: { eachKey: [{ usd: 1, per: "day" }] } } } },
    { scope: "end-user", limits: { eachEndUser: [{ usd: 1, per: "day" }] } },
    { scope: "model", limits: { models: { chat: [{ usd: 1, per: "day" }] } } },
    { scope: "deployment", limits: { deployments: { d: [{ usd: 1, per: "day" }] } } },
    { scope: "global", limits: { global: [{ usd: 1, per: "day" }] } },
  ])("refuses beyond the budget of the $scope and names it with its end", ({ scope, limits }) => {
    const ledger = new FakeLedger(limits);
    expect(ledger.run(600_000, { endUser: "eve" })).toBeNull();
    const ticket = opened(ledger);
    const refusal = ticket.hold(call(500_000, { endUser: "eve" })) ?? ticket.attempt("d", TARGET);
    ticket.close();
    expect(refusal?.error).toMatchObject({
      class: "quota",
      origin: "gateway",
      code: "budget_exceeded",
      retrySame: false,
      fallback: scope === "deployment",
      retryAfterMs: 86_400_000 - 10_000,
      details: { scope, limit: "usd", per: "day", resetsAt: "2026-12-01T00:00:00.000Z" },
    });
    expect(ledger.run(400_000, { endUser: "eve" })).toBeNull();
    ledger.nowMs = Date.parse("2026-12-01T00:00:00Z");
    expect(ledger.run(1_000_000, { endUser: "eve" })).toBeNull();
  });

  it.each<{ readonly name: string; readonly limits: LimitsConfig; readonly admitted: number }>([
    { name: "requests", limits: { keys: { app: [{ requests: 3, per: "minute" }] } }, admitted: 3 },
    { name: "input tokens", limits: { keys: { app: [{ inputTokens: 250, per: "minute" }] } }, admitted: 2 },
    { name: "tokens", limits: { keys: { app: [{ tokens: 400, per: "10m" }] } }, admitted: 4 },
    {
      name: "the tightest of several",
      limits: {
        keys: {
          app: [
            { requests: 9, per: "minute" },
            { tokens: 100, per: "hour" },
          ],
        },
      },
      admitted: 1,
    },
  ])("counts $name up to the limit and not one further", ({ limits, admitted }) => {
    const ledger = new FakeLedger(limits);
    const outcomes = Array.from({ length: 10 }, () => ledger.run(100));
    expect(outcomes.filter((code) => code === null)).toHaveLength(admitted);
    expect(new Set(outcomes.slice(admitted))).toEqual(new Set(["rate_limited"]));
  });

  it("counts neither a request nor tokens anywhere when one scope refuses", () => {
    const ledger = new FakeLedger({
      keys: { app: [{ requests: 5, per: "day" }] },
      models: { chat: [{ requests: 1, per: "minute" }] },
    });
    expect([ledger.run(1), ledger.run(1), ledger.run(1)]).toEqual([null, "rate_limited", "rate_limited"]);
    expect(ledger.admission.standings("key", "app")[0]?.spent).toBe(1);
  });

  it("counts no request of a call that the budget refuses", () => {
    const ledger = new FakeLedger({
      keys: { app: [{ requests: 5, per: "day" }] },
      owners: { team: { limits: [{ usd: 1, per: "day" }] } },
    });
    expect([ledger.run(1_000_000), ledger.run(1), ledger.run(1)]).toEqual([null, "budget_exceeded", "budget_exceeded"]);
    expect(ledger.admission.standings("key", "app")[0]?.spent).toBe(1);
  });

  it("tells the wait of the scope that takes longest", () => {
    const ledger = new FakeLedger({
      keys: { app: [{ requests: 1, per: "minute" }] },
      owners: { team: { limits: [{ requests: 1, per: "day" }] } },
    });
    ledger.run(1);
    const ticket = opened(ledger);
    expect(ticket.hold(call(1))?.error).toMatchObject({
      class: "rate-limit",
      retryAfterMs: 86_390_000,
      details: { scope: "owner" },
    });
    ticket.close();
  });

  it("tells no wait for a request that is larger than the whole limit", () => {
    const ledger = new FakeLedger({ keys: { app: [{ inputTokens: 100, per: "minute" }] } });
    const ticket = opened(ledger);
    const error = ticket.hold(call(101))?.error;
    expect(error?.retryAfterMs).toBeUndefined();
    expect(error?.message).toContain("larger than the whole limit");
    ticket.close();
  });

  it("does not tell a caller the figures of the gateway's own budget", () => {
    const ledger = new FakeLedger({ global: [{ usd: 1.5, per: "day" }] });
    ledger.run(1_500_000);
    const ticket = opened(ledger);
    const message = (ticket.hold(call(1)) ?? ticket.attempt("d", TARGET))?.error.message;
    expect(message).toContain("this gateway");
    expect(message).not.toContain("1.5");
    ticket.close();
  });

  it("keeps end users of two owners apart", () => {
    const ledger = new FakeLedger({ eachEndUser: [{ requests: 1, per: "day" }] });
    const other = principal({ id: "other", owner: "team-b" });
    expect([
      ledger.run(1, { endUser: "eve" }),
      ledger.run(1, { endUser: "eve" }, other),
      ledger.run(1, { endUser: "eve" }),
    ]).toEqual([null, null, "rate_limited"]);
  });
});

describe("a nearly empty budget", () => {
  it.each([
    { each: 100_000, fit: 0 },
    { each: 50_000, fit: 1 },
    { each: 10_000, fit: 5 },
    { each: 1, fit: 10 },
  ])("admits exactly the $fit of ten simultaneous requests of $each micro-USD that fit", ({ each, fit }) => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    expect(ledger.run(950_000)).toBeNull();
    const tickets = Array.from({ length: 10 }, () => opened(ledger));
    const refusals = tickets.map((ticket) => ticket.hold(call(each)) ?? ticket.attempt("d", TARGET));
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(fit);
    for (const [index, ticket] of tickets.entries()) {
      if (refusals[index] === null) ticket.settle(ledger.settlement({ usage: used(each) }));
      ticket.close();
    }
    const [standing] = ledger.admission.standings("key", "app");
    expect(standing).toMatchObject({ spent: (950_000 + fit * each) * MICRO, held: 0 });
    expect(ledger.costNanoUsd).toBe(standing?.spent);
  });

  it("gives room back that an answer did not use", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    const ticket = opened(ledger);
    expect(ticket.hold(call(1_000_000)) ?? ticket.attempt("d", TARGET)).toBeNull();
    expect(ledger.run(1)).toBe("budget_exceeded");
    ticket.settle(ledger.settlement({ usage: used(10) }));
    expect(ledger.run(999_990)).toBeNull();
    ticket.close();
  });

  it("books a cost beyond the hold as overdrawn, and lets nothing in before the window ends", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    const ticket = opened(ledger);
    expect(ticket.hold(call(10)) ?? ticket.attempt("d", TARGET)).toBeNull();
    ticket.settle(ledger.settlement({ usage: used(1_500_000) }));
    ticket.close();
    expect(ledger.store.find("req_1/1")).toMatchObject({
      costNanoUsd: 1_500_000 * MICRO,
      overdrawnNanoUsd: 1_499_990 * MICRO,
    });
    expect(ledger.run(0)).toBe("budget_exceeded");
    ledger.nowMs += 86_400_000;
    expect(ledger.run(0)).toBeNull();
  });
});

describe("attempts", () => {
  it("keeps one entry for each, and holds again for the next one what the first has used up", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    const ticket = opened(ledger);
    expect(ticket.hold(call(600_000)) ?? ticket.attempt("d", TARGET)).toBeNull();
    ticket.settle(ledger.settlement({ rule: "failed_actual", usage: used(600_000) }));
    const refusal = ticket.attempt("e", TARGET);
    expect(refusal?.error.code).toBe("budget_exceeded");
    ticket.close();
    expect([...ledger.store.entries()].map(({ id, rule }) => [id, rule])).toEqual([["req_1/1", "failed_actual"]]);
  });

  it("refuses the attempt when the budget could not be asked before", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    const ticket = opened(ledger);
    const { first: _, ...unaware } = call(1_000_001);
    expect(ticket.hold(unaware)).toBeNull();
    expect(ticket.attempt("d", TARGET)?.error.code).toBe("budget_exceeded");
    ticket.close();
    expect(ledger.admission.standings("key", "app")[0]).toMatchObject({ spent: 0, held: 0 });
  });

  it("returns a deployment's slot when the attempt is settled, not when the client has read its answer", () => {
    const ledger = new FakeLedger({ deployments: { d: [{ parallel: 1 }] } });
    const [one, other] = [opened(ledger), opened(ledger)];
    expect(one.hold(call(1)) ?? one.attempt("d", TARGET)).toBeNull();
    expect(other.hold(call(1)) ?? other.attempt("d", TARGET)).toMatchObject({
      error: { code: "rate_limited", fallback: true, details: { limit: "parallel" } },
    });
    expect(other.attempt("e", TARGET)).toBeNull();
    one.settle(ledger.settlement({ usage: used(1) }));
    expect(ledger.admission.running("deployment", "d")).toBe(0);
    other.settle(ledger.settlement({ deploymentId: "e", usage: used(1) }));
    one.close();
    other.close();
  });

  it("holds more for a deployment that is dearer than what was held", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } }, { hold: "worst" });
    const ticket = opened(ledger);
    const first = { deploymentId: "small", target: { upstreamModel: "m", contextWindow: 450, maxOutputTokens: 200 } };
    expect(ticket.hold(call(100, { bodyBytes: 400, maxOutputTokens: 1000, first }))).toBeNull();
    expect(ledger.admission.standings("key", "app")[0]?.held).toBe(650 * MICRO + 10);
    expect(ticket.attempt("d", { upstreamModel: "m", contextWindow: 450, maxOutputTokens: 600 })).toBeNull();
    // 450 input tokens at most, 600 output tokens at most, and the allowance for rounding.
    expect(ledger.admission.standings("key", "app")[0]?.held).toBe(1050 * MICRO + 10);
    ticket.settle(ledger.settlement({ usage: used(450, 600) }));
    expect(ledger.admission.standings("key", "app")[0]).toMatchObject({ held: 0, spent: 1050 * MICRO });
    ticket.close();
  });
});

describe("unpriced models", () => {
  const unknown = { upstreamModel: "nobody-knows" };

  it("are refused under a budget", () => {
    const ledger = new FakeLedger({ owners: { team: { limits: [{ usd: 1, per: "day" }] } } });
    const ticket = opened(ledger);
    expect(ticket.hold(call(1))).toBeNull();
    expect(ticket.attempt("d", unknown)?.error).toMatchObject({
      class: "permission",
      code: "model_unpriced",
      fallback: true,
    });
    ticket.close();
  });

  it.each([
    {
      name: "where there is no budget",
      limits: { keys: { app: [{ tokens: 100, per: "day" }] } },
      unpriced: "refuse" as const,
    },
    {
      name: "under a budget that allows them",
      limits: { keys: { app: [{ usd: 1, per: "day" }] } },
      unpriced: "allow" as const,
    },
  ])("are let in $name, and their entries say that the cost is not known", ({ limits, unpriced }) => {
    const ledger = new FakeLedger(limits, { unpriced });
    const ticket = opened(ledger);
    expect(ticket.hold(call(1)) ?? ticket.attempt("d", unknown)).toBeNull();
    ticket.settle(ledger.settlement({ usage: used(1), upstreamModel: "nobody-knows" }));
    ticket.close();
    expect(ledger.store.find("req_1/1")).toMatchObject({ costNanoUsd: null, priceId: null, usage: { input: 1 } });
    expect(ledger.store.spend({ by: ["key"] })).toEqual([
      { group: { key: "app" }, entries: 1, inputTokens: 1, outputTokens: 0, costNanoUsd: 0n, unpriced: 1 },
    ]);
  });
});

describe("parallel slots", () => {
  const one: LimitsConfig = {
    keys: { app: [{ parallel: 1 }, { tokens: 1_000, per: "day" }] },
    owners: { team: { limits: [{ parallel: 5 }] } },
    models: { chat: [{ parallel: 5 }] },
  };
  const counts = (ledger: FakeLedger): readonly number[] => [
    ledger.admission.running("key", "app"),
    ledger.admission.running("owner", "team"),
    ledger.admission.running("model", "chat"),
  ];

  it("are taken at the door and refuse the next caller with 429", () => {
    const ledger = new FakeLedger(one);
    const ticket = opened(ledger);
    expect(ledger.admission.open(principal(), { requestId: "r", startedMs: 0 })).toMatchObject({
      ok: false,
      refusal: { error: { class: "rate-limit", code: "rate_limited", retryAfterMs: 1000 } },
    });
    ticket.close();
    expect(counts(ledger)).toEqual([0, 0, 0]);
  });

  it.each<{ readonly name: string; readonly end: (ticket: PromptTicket, ledger: FakeLedger) => void }>([
    { name: "a close before anything was held", end: (ticket) => ticket.close() },
    {
      name: "a refusal",
      end: (ticket) => {
        expect(ticket.hold(call(MAX_TOKENS))).not.toBeNull();
        ticket.close();
      },
    },
    {
      name: "an answer",
      end: (ticket, ledger) => {
        expect(ticket.hold(call(1)) ?? ticket.attempt("d", TARGET)).toBeNull();
        ticket.settle(ledger.settlement({ usage: used(1) }));
        ticket.close();
      },
    },
    {
      name: "an attempt that nobody settled",
      end: (ticket) => {
        expect(ticket.hold(call(1)) ?? ticket.attempt("d", TARGET)).toBeNull();
        ticket.close();
      },
    },
    {
      name: "a client that left before the attempt was settled",
      end: (ticket, ledger) => {
        expect(ticket.hold(call(1)) ?? ticket.attempt("d", TARGET)).toBeNull();
        ticket.releaseClient();
        ticket.releaseClient();
        ticket.settle(ledger.settlement({ usage: used(1) }));
        ticket.close();
      },
    },
  ])("come back exactly once after $name", ({ end }) => {
    const ledger = new FakeLedger(one);
    for (let time = 0; time < 3; time += 1) {
      end(opened(ledger), ledger);
      expect(counts(ledger)).toEqual([0, 0, 0]);
    }
  });

  it("come back when the client is gone, though the upstream is still read", () => {
    const ledger = new FakeLedger(one);
    const first = opened(ledger);
    expect(first.hold(call(1)) ?? first.attempt("d", TARGET)).toBeNull();
    first.releaseClient();
    const second = opened(ledger);
    first.settle(ledger.settlement({ rule: "after_disconnect", usage: used(1) }));
    first.close();
    expect(counts(ledger)).toEqual([1, 1, 0]);
    second.close();
    expect(counts(ledger)).toEqual([0, 0, 0]);
  });
});

describe("settlement", () => {
  const settleWith = (
    parts: Partial<Settlement>,
    request: Parameters<typeof call>[1] = {},
  ): ReturnType<FakeLedger["store"]["find"]> => {
    const ledger = new FakeLedger();
    const ticket = opened(ledger);
    expect(ticket.hold(call(500, { maxOutputTokens: 1000, ...request })) ?? ticket.attempt("d", TARGET)).toBeNull();
    ticket.settle(ledger.settlement(parts));
    ticket.close();
    return ledger.store.find("req_1/1");
  };

  it.each<{
    readonly rule: SettlementRule;
    readonly parts: Partial<Settlement>;
    readonly source: string;
    readonly micro: number;
    readonly note: string;
  }>([
    { rule: "actual", parts: { usage: used(300, 40) }, source: "provider", micro: 340, note: "the provider's usage" },
    {
      rule: "estimated",
      parts: { deliveredBytes: 400 },
      source: "estimate",
      micro: 600,
      note: "estimate in, delivered bytes out",
    },
    {
      rule: "after_disconnect",
      parts: { usage: used(300, 200) },
      source: "provider",
      micro: 500,
      note: "the provider's usage",
    },
    {
      rule: "partial",
      parts: { usage: used(300, 1, { final: false }), deliveredBytes: 80 },
      source: "estimate",
      micro: 320,
      note: "the last usage, with the output that was delivered",
    },
    {
      rule: "partial",
      parts: { usage: used(300, 90, { final: false }), deliveredBytes: 80 },
      source: "provider",
      micro: 390,
      note: "the last usage, where it tells more",
    },
    {
      rule: "partial",
      parts: { deliveredBytes: 80 },
      source: "estimate",
      micro: 520,
      note: "an estimate without usage",
    },
    {
      rule: "partial",
      parts: { deliveredBytes: 6000, contentTokens: 21 },
      source: "estimate",
      micro: 521,
      note: "the deltas of a stream and not by the bytes around them",
    },
    {
      rule: "partial",
      parts: { deliveredBytes: 1e9 },
      source: "estimate",
      micro: 1500,
      note: "never more output than was asked for",
    },
    {
      rule: "failed_actual",
      parts: { usage: used(300, 0) },
      source: "provider",
      micro: 300,
      note: "what the provider reported",
    },
    { rule: "failed_free", parts: {}, source: "none", micro: 0, note: "nothing" },
    { rule: "abandoned", parts: {}, source: "estimate", micro: 500, note: "the input that was sent" },
    { rule: "shared", parts: {}, source: "none", micro: 0, note: "nothing" },
  ])("charges $rule by $note", ({ rule, parts, source, micro }) => {
    expect(settleWith({ rule, ...parts })).toMatchObject({ rule, usageSource: source, costNanoUsd: micro * MICRO });
  });

  it("charges nothing for a token count", () => {
    expect(settleWith({ rule: "estimated", deliveredBytes: 20 }, { operation: "count-tokens" })).toMatchObject({
      usageSource: "none",
      costNanoUsd: 0,
      usage: null,
    });
  });

  it("writes who, what, where and by which price", () => {
    const ledger = new FakeLedger();
    const ticket = opened(ledger, principal({ tags: ["blue"] }));
    expect(ticket.hold(call(5, { endUser: "eve" })) ?? ticket.attempt("d", TARGET)).toBeNull();
    ticket.settle(ledger.settlement({ usage: used(5, 2, { cacheRead: 3 }), providerDialect: "b", deliveredBytes: 9 }));
    ticket.close();
    expect(ledger.store.find("req_1/1")).toEqual({
      id: "req_1/1",
      requestId: "req_1",
      adjusts: null,
      attempt: 1,
      rule: "actual",
      usageSource: "provider",
      usage: {
        input: 5,
        cacheRead: 3,
        cacheWrite: null,
        cacheWriteByTtl: null,
        inputAudio: null,
        inputImage: null,
        output: 2,
        reasoning: null,
        outputAudio: null,
        serverTools: null,
      },
      deliveredBytes: 9,
      priceId: "built-in:m@2026-11-30",
      costNanoUsd: 7000,
      overdrawnNanoUsd: 2000,
      openedMs: MONDAY_MS,
      startedMs: MONDAY_MS,
      endedMs: MONDAY_MS,
      key: "app",
      owner: "team",
      endUser: "eve",
      tags: ["blue"],
      model: "chat",
      deployment: "d",
      provider: "p",
      upstreamModel: "m",
      upstreamRequestId: "up_1",
      generation: 7,
      clientDialect: "a",
      providerDialect: "b",
    });
  });

  it("charges the whole reservation for an attempt that nobody settled", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    const ticket = opened(ledger);
    expect(ticket.hold(call(500, { maxOutputTokens: 100 })) ?? ticket.attempt("d", TARGET)).toBeNull();
    ticket.close();
    expect(ledger.store.find("req_1/1")).toMatchObject({
      rule: "abandoned",
      usageSource: "estimate",
      costNanoUsd: 600 * MICRO,
      provider: null,
    });
    expect(ledger.admission.standings("key", "app")[0]).toMatchObject({ held: 0, spent: 600 * MICRO });
  });
});

describe("a ticket out of order", () => {
  it.each<{ readonly name: string; readonly misuse: (ticket: PromptTicket, ledger: FakeLedger) => void }>([
    { name: "an attempt before the hold", misuse: (ticket) => ticket.attempt("d", TARGET) },
    { name: "a second hold", misuse: (ticket) => [ticket.hold(call(1)), ticket.hold(call(1))] },
    {
      name: "a settlement without an attempt",
      misuse: (ticket, ledger) => [ticket.hold(call(1)), ticket.settle(ledger.settlement())],
    },
    {
      name: "a second attempt before the first is settled",
      misuse: (ticket) => [ticket.hold(call(1)), ticket.attempt("d", TARGET), ticket.attempt("d", TARGET)],
    },
    { name: "a hold after the close", misuse: (ticket) => [ticket.close(), ticket.hold(call(1))] },
    { name: "a second close", misuse: (ticket) => [ticket.close(), ticket.close()] },
  ])("throws on $name", ({ misuse }) => {
    const ledger = new FakeLedger();
    const thrown = thrownBy(() => misuse(opened(ledger), ledger));
    expect(isGatewayError(thrown) && thrown.code).toBe("state_violation");
  });
});

describe("alerts", () => {
  it("are raised once per share and window, and once for refusals", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day", alertAt: [0.8, 0.5] }] } });
    const seen = (): readonly string[] =>
      ledger.alerts.splice(0).map(({ kind, scope, id, share }) => `${kind} ${scope} ${id} ${share}`);
    ledger.run(499_999);
    expect(seen()).toEqual([]);
    ledger.run(1);
    ledger.run(100_000);
    expect(seen()).toEqual(["soft key app 0.5"]);
    ledger.run(300_000);
    expect(seen()).toEqual(["soft key app 0.8"]);
    expect([ledger.run(200_000), ledger.run(200_000)]).toEqual(["budget_exceeded", "budget_exceeded"]);
    expect(seen()).toEqual(["hard key app 1"]);
    ledger.nowMs += 86_400_000;
    ledger.run(900_000);
    expect(seen()).toEqual(["soft key app 0.5", "soft key app 0.8"]);
  });
});

describe("changed limits", () => {
  it("keep what was spent in the same window, and what runs is given back as it was held", () => {
    const ledger = new FakeLedger({ keys: { app: [{ usd: 1, per: "day" }] } });
    ledger.run(600_000);
    const ticket = opened(ledger);
    expect(ticket.hold(call(300_000)) ?? ticket.attempt("d", TARGET)).toBeNull();
    ledger.admission.replace({
      limits: createLimitDirectory({
        keys: {
          app: [
            { usd: 2, per: "day" },
            { tokens: 50_000, per: "minute" },
          ],
        },
      }),
    });
    expect(ledger.run(1)).toBe("rate_limited");
    ticket.settle(ledger.settlement({ usage: used(300_000) }));
    ticket.close();
    ledger.nowMs += 60_000;
    expect(ledger.run(10)).toBeNull();
    expect(ledger.admission.standings("key", "app").map(({ spent, held }) => [spent, held])).toEqual([
      [900_010 * MICRO, 0],
      [10, 0],
    ]);
  });
});

describe("expected output", () => {
  it("is learned from answers and bounded by what the client allows", () => {
    const ledger = new FakeLedger(
      { keys: { app: [{ outputTokens: 100_000, per: "day" }] } },
      { learnedOutput: { initialTokens: 40 } },
    );
    const heldBy = (maxOutputTokens: number): number | undefined => {
      const ticket = opened(ledger);
      expect(ticket.hold(call(0, { maxOutputTokens })) ?? ticket.attempt("d", TARGET)).toBeNull();
      const held = ledger.admission.standings("key", "app")[0]?.held;
      ticket.settle(ledger.settlement({ usage: used(0, 400) }));
      ticket.close();
      return held;
    };
    expect([heldBy(4096), heldBy(4096), heldBy(100)]).toEqual([40, 600, 100]);
  });
});

describe("createLimitDirectory", () => {
  it("names every mistake and where it is", () => {
    expect(() =>
      createLimitDirectory({
        keys: { app: [{ usd: -1, per: "day" }] },
        owners: { team: { eachKey: [{ requests: 1, per: "year" }] } },
      }),
    ).toThrow(/keys\.app\/0\/usd: .*owners\.team\.eachKey\/0\/per: /);
  });
});

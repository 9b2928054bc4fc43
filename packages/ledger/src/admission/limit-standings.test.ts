import type { LimitStanding } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { call, FakeLedger, MONDAY_MS, TARGET, used } from "./fixtures/fake-ledger.ts";
import type { LimitsConfig } from "./limit-directory.ts";

/** What is told while a call of 100 tokens in runs. */
function standingsOf(
  limits: LimitsConfig,
  before: (ledger: FakeLedger) => void = () => undefined,
): readonly LimitStanding[] {
  const ledger = new FakeLedger(limits);
  before(ledger);
  const ticket = ledger.open();
  expect(ticket?.hold(call(100, { endUser: "eve" })) ?? ticket?.attempt("d", TARGET)).toBeNull();
  return ticket?.limitStandings() ?? [];
}

const NEXT_MINUTE_MS = MONDAY_MS + 50_000;
const NEXT_DAY_MS = MONDAY_MS - 10_000 + 86_400_000;

describe("a ticket's standings", () => {
  it.each<{
    readonly name: string;
    readonly limits: LimitsConfig;
    readonly before?: (ledger: FakeLedger) => void;
    readonly expected: readonly LimitStanding[];
  }>([
    { name: "nothing where the caller has no limits", limits: {}, expected: [] },
    {
      name: "spent and held",
      limits: { keys: { app: [{ tokens: 1_000, per: "day" }] } },
      before: (ledger) => ledger.run(300),
      expected: [{ dimension: "tokens", limit: 1_000, remaining: 600, resetMs: NEXT_DAY_MS }],
    },
    {
      name: "the request that runs",
      limits: { keys: { app: [{ requests: 5, per: "minute" }] } },
      before: (ledger) => ledger.run(1),
      expected: [{ dimension: "requests", limit: 5, remaining: 3, resetMs: NEXT_MINUTE_MS }],
    },
    {
      name: "of one thing the limit that leaves least, whoever's it is",
      limits: {
        keys: { app: [{ requests: 5, per: "minute" }] },
        owners: { team: { limits: [{ requests: 3, per: "day" }], eachKey: [{ requests: 4, per: "hour" }] } },
        models: { chat: [{ outputTokens: 70, per: "minute" }] },
        eachEndUser: [{ outputTokens: 60, per: "day" }],
      },
      expected: [
        { dimension: "requests", limit: 3, remaining: 2, resetMs: NEXT_DAY_MS },
        { dimension: "outputTokens", limit: 60, remaining: 60, resetMs: NEXT_DAY_MS },
      ],
    },
    {
      name: "of those that leave the same the one that lasts longest",
      limits: {
        keys: {
          app: [
            { requests: 5, per: "minute" },
            { requests: 5, per: "day" },
          ],
        },
      },
      expected: [{ dimension: "requests", limit: 5, remaining: 4, resetMs: NEXT_DAY_MS }],
    },
    {
      name: "neither money nor what is the operator's business",
      limits: {
        keys: { app: [{ usd: 1, per: "day" }, { parallel: 9 }] },
        global: [{ requests: 9, per: "day" }],
        deployments: { d: [{ tokens: 900, per: "day" }] },
      },
      expected: [],
    },
    {
      name: "of a sliding window the time at which all of it has passed",
      limits: { keys: { app: [{ requests: 5, per: "1m" }] } },
      // Sixty parts of a second; the part that a request is in counts whole, and one more.
      expected: [{ dimension: "requests", limit: 5, remaining: 4, resetMs: MONDAY_MS + 61_000 }],
    },
  ])("tell $name", ({ limits, before, expected }) => {
    expect(standingsOf(limits, before)).toEqual(expected);
  });

  it("leave nothing, and not less, of a limit that is overdrawn", () => {
    const ledger = new FakeLedger({ keys: { app: [{ inputTokens: 150, per: "minute" }] } });
    const ticket = ledger.open();
    expect(ticket?.hold(call(10)) ?? ticket?.attempt("d", TARGET)).toBeNull();
    ticket?.settle(ledger.settlement({ usage: used(200) }));
    expect(ticket?.limitStandings()).toEqual([
      { dimension: "inputTokens", limit: 150, remaining: 0, resetMs: NEXT_MINUTE_MS },
    ]);
  });
});

import { compileConfig, ConfigValidator, DialectRegistry } from "@dragoman/core";
import type { GatewayConfig, LimitConfig, Snapshot } from "@dragoman/core";
import { BUILT_IN_DIALECTS, BUILT_IN_KINDS } from "@dragoman/dialects";
import { NO_LIMITS, type LimitSet, type StoredKey } from "@dragoman/ledger";
import { describe, expect, it } from "vitest";

import { SnapshotLimits } from "./snapshot-limits.ts";
import { pricesOf } from "./snapshot-prices.ts";

const VALIDATOR = new ConfigValidator();
const REGISTRY = new DialectRegistry(BUILT_IN_DIALECTS, BUILT_IN_KINDS);
const requests = (count: number): readonly LimitConfig[] => [{ requests: count, per: "minute" }];
const HASH = `sha256:${"a".repeat(64)}`;

function snapshotOf(parts: Partial<GatewayConfig>): Snapshot {
  const compiled = compileConfig(
    {
      version: 1,
      providers: { openai: { kind: "openai", credentials: ["x"] } },
      models: { chat: ["openai/gpt-5-mini"] },
      ...parts,
    },
    { registry: REGISTRY, generation: 1, validator: VALIDATOR },
  );
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.snapshot;
}

const FULL = snapshotOf({
  limits: { global: requests(1), eachEndUser: requests(2) },
  owners: { team: { limits: requests(3), eachKey: requests(4) } },
  keys: [{ name: "app", hash: HASH, models: ["*"], limits: requests(5) }],
  models: {
    chat: {
      aliases: ["best"],
      limits: requests(6),
      deployments: [{ id: "d", provider: "openai", model: "gpt-5-mini" }],
    },
    other: { deployments: [{ id: "d", provider: "openai", model: "gpt-5-mini", limits: requests(7) }] },
    "openai/*": { limits: requests(8), deployments: [{ provider: "openai", model: "*" }] },
  },
});
const STORED: StoredKey = {
  id: "key_1",
  name: "stored",
  secrets: [{ hash: "b".repeat(64), untilMs: null }],
  owner: "group",
  tags: [],
  models: ["*"],
  debug: false,
  trusted: false,
  limits: requests(9),
  createdMs: 0,
  expiresMs: null,
  revokedMs: null,
};
const STORE = {
  keys: [STORED],
  owners: [
    { id: "group", limits: requests(10), eachKey: requests(11) },
    // The configuration has an owner of this name, and wins.
    { id: "team", limits: requests(12), eachKey: [] },
  ],
};

const amountOf = (set: LimitSet): number | null => set.limits[0]?.amount ?? null;

describe("SnapshotLimits", () => {
  const limits = new SnapshotLimits(FULL, STORE, null);
  const rows: readonly (readonly [name: string, set: LimitSet, expected: number | null])[] = [
    ["the gateway", limits.global(), 1],
    ["each end user", limits.eachEndUser(), 2],
    ["an owner of the configuration", limits.owner("team"), 3],
    ["each key of it", limits.eachKey("team"), 4],
    ["a key of the configuration", limits.key("app"), 5],
    ["a model", limits.model("chat"), 6],
    ["an alias of it", limits.model("best"), 6],
    ["a deployment, by whatever model names its limits", limits.deployment("d"), 7],
    ["a name of a glob model", limits.model("openai/gpt-5"), 8],
    ["a key of the store", limits.key("key_1"), 9],
    ["an owner of the store", limits.owner("group"), 10],
    ["each key of it", limits.eachKey("group"), 11],
    ["a key nobody knows", limits.key("x"), null],
    ["an owner nobody knows", limits.owner("toString"), null],
    ["a model nobody knows", limits.model("x"), null],
    ["a deployment nobody limits", limits.deployment("x"), null],
  ];
  it.each(rows)("knows the limits of %s", (_name, set, expected) => {
    expect(amountOf(set)).toBe(expected);
  });

  it("keeps the sets that did not change, and no others", () => {
    const next = new SnapshotLimits(snapshotOf({ limits: { global: requests(1) } }), null, limits);
    expect(next.global()).toBe(limits.global());
    expect(next.eachEndUser()).toBe(NO_LIMITS);
    const third = new SnapshotLimits(snapshotOf({ limits: { global: requests(2) } }), null, next);
    expect(amountOf(third.global())).toBe(2);
    expect(third.global()).not.toBe(limits.eachEndUser());
  });

  it("refuses a store's limits that nobody checked", () => {
    const keys = [{ ...STORED, limits: [{ requests: 1, per: "fortnight" }] }];
    expect(() => new SnapshotLimits(FULL, { keys, owners: [] }, null)).toThrow(/per/);
  });
});

describe("pricesOf", () => {
  const HOUR_MS = 3_600_000;
  it("takes a deployment's own price before the configuration's, and that before the package's", () => {
    const prices = pricesOf(
      snapshotOf({
        prices: { rows: [{ model: "gpt-5-mini", input: 2, output: 2 }] },
        models: {
          own: {
            deployments: [{ id: "own", provider: "openai", model: "gpt-5-mini", prices: { input: 1, output: 1 } }],
          },
        },
      }),
    );
    expect(prices.find("own", "gpt-5-mini", HOUR_MS)?.id).toContain("deployment own");
    expect(prices.find("other", "gpt-5-mini", HOUR_MS)?.id).toContain("config");
    expect(prices.find("other", "gpt-5", HOUR_MS)?.id).toContain("built-in");
    expect(prices.find("other", "nobody-sells-this", HOUR_MS)).toBeNull();
  });
});

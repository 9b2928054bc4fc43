import { describe, expect, it } from "vitest";

import type { LimitConfig } from "@dragoman/core";

import { compileLimits, describeLimit, MAX_LIMITS } from "./limit-config.ts";

describe("compileLimits", () => {
  it("reads every shape", () => {
    const reading = compileLimits([
      { requests: 600, per: "minute" },
      { usd: 0.1, per: "month", alertAt: [1, 0.8] },
      { tokens: 5, per: "10m" },
      { parallel: 8 },
      { parallel: 3 },
    ]);
    expect(reading).toEqual({
      ok: true,
      limits: {
        parallel: 3,
        limits: [
          {
            dimension: "requests",
            amount: 600,
            per: "minute",
            window: { kind: "calendar", unit: "minute" },
            alertAt: [],
          },
          {
            dimension: "nanoUsd",
            amount: 100_000_000,
            per: "month",
            window: { kind: "calendar", unit: "month" },
            alertAt: [0.8, 1],
          },
          { dimension: "tokens", amount: 5, per: "10m", window: { kind: "sliding", lengthMs: 600_000 }, alertAt: [] },
        ],
      },
    });
    expect(reading.ok && reading.limits.limits.map(describeLimit)).toEqual([
      "600 requests per minute",
      "0.1 USD per month",
      "5 tokens per 10m",
    ]);
  });

  it.each<{ readonly name: string; readonly configs: readonly LimitConfig[]; readonly says: string }>([
    { name: "nothing counted", configs: [{ per: "day" }], says: "/0: must have exactly one of" },
    { name: "two things counted", configs: [{ requests: 1, tokens: 1, per: "day" }], says: "exactly one of" },
    { name: "no window", configs: [{ requests: 1 }], says: "/0/per" },
    { name: "an unknown window", configs: [{ requests: 1, per: "year" }], says: "/0/per" },
    { name: "a sliding window one past an hour", configs: [{ requests: 1, per: "3601s" }], says: "/0/per" },
    { name: "a negative limit", configs: [{ requests: -1, per: "day" }], says: "/0/requests" },
    { name: "half a token", configs: [{ tokens: 0.5, per: "day" }], says: "/0/tokens" },
    { name: "money finer than a nano-USD", configs: [{ usd: 1e-10, per: "day" }], says: "/0/usd" },
    { name: "money beyond the bound", configs: [{ usd: 9_007_200, per: "day" }], says: "/0/usd" },
    { name: "an alert at 0", configs: [{ usd: 1, per: "day", alertAt: [0] }], says: "/0/alertAt" },
    { name: "an alert beyond the limit", configs: [{ usd: 1, per: "day", alertAt: [1.1] }], says: "/0/alertAt" },
    { name: "no call at once", configs: [{ parallel: 0 }], says: "/0/parallel" },
    { name: "calls at once per day", configs: [{ parallel: 1, per: "day" }], says: "neither per nor alertAt" },
    {
      name: "the same thing twice",
      configs: [
        { usd: 1, per: "day" },
        { usd: 2, per: "day" },
      ],
      says: "/1: must be the only limit of usd per day",
    },
    {
      name: "one limit too many",
      configs: Array.from({ length: MAX_LIMITS + 1 }, (_, index) => ({ requests: 1, per: `${index + 1}s` })),
      says: `at most ${MAX_LIMITS}`,
    },
  ])("refuses $name", ({ configs, says }) => {
    const reading = compileLimits(configs);
    expect(reading.ok ? [] : reading.problems.map(({ path, message }) => `${path}: ${message}`)).toContainEqual(
      expect.stringContaining(says),
    );
  });

  it.each<LimitConfig>([
    { requests: 1, per: "3600s" },
    { requests: 1, per: "1h" },
    { requests: 0, per: "1s" },
    { usd: 9_007_199, per: "day" },
  ])("takes %j", (config) => {
    expect(compileLimits([config]).ok).toBe(true);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MAX_NANO_USD } from "./nano-usd.ts";
import { chargedTokens, costOfTokens, MAX_RATE, MAX_TOKENS, rateOf } from "./rate.ts";

describe("rateOf", () => {
  it.each<{ readonly usd: number | string; readonly expected: number | null }>([
    { usd: 3, expected: 3_000_000 },
    { usd: 0.0375, expected: 37_500 },
    { usd: 15.625, expected: 15_625_000 },
    { usd: "0.000001", expected: 1 },
    { usd: 9000, expected: MAX_RATE },
    { usd: "9000.000001", expected: null },
    { usd: "0.0000001", expected: null },
    { usd: -1, expected: null },
  ])("reads $usd USD per million as $expected pico-USD", ({ usd, expected }) => {
    expect(rateOf(usd)).toBe(expected);
  });
});

describe("costOfTokens", () => {
  it.each([
    { tokens: 1, usd: 0.0375, nano: 38, why: "37.5 rounds up" },
    { tokens: 2, usd: 0.0375, nano: 75, why: "75 is whole" },
    { tokens: 1, usd: 0.0374, nano: 37, why: "37.4 rounds down" },
    { tokens: 12_304, usd: 3.75, nano: 46_140_000, why: "whole" },
    { tokens: 0, usd: 600, nano: 0, why: "nothing used" },
  ])("charges $nano nano-USD for $tokens tokens at $usd USD per million: $why", ({ tokens, usd, nano }) => {
    expect(costOfTokens(tokens, rateOf(usd) ?? Number.NaN)).toBe(nano);
  });

  it("equals exact integer arithmetic up to both bounds", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_TOKENS }), fc.integer({ min: 0, max: MAX_RATE }), (tokens, rate) => {
        const exact = (BigInt(tokens) * BigInt(rate) + 500n) / 1000n;
        const cost = costOfTokens(tokens, rate);
        expect(BigInt(cost)).toBe(exact);
        expect(cost).toBeLessThanOrEqual(MAX_NANO_USD);
      }),
      { numRuns: 2000 },
    );
    expect(BigInt(costOfTokens(MAX_TOKENS, MAX_RATE))).toBe(BigInt(MAX_TOKENS) * 9_000_000n);
  });
});

describe("chargedTokens", () => {
  it.each<{ readonly count: number | undefined; readonly expected: number }>([
    { count: undefined, expected: 0 },
    { count: -5, expected: 0 },
    { count: Number.NaN, expected: 0 },
    { count: 7.9, expected: 7 },
    { count: Number.POSITIVE_INFINITY, expected: MAX_TOKENS },
    { count: MAX_TOKENS, expected: MAX_TOKENS },
    { count: MAX_TOKENS + 1, expected: MAX_TOKENS },
  ])("charges $expected for a report of $count", ({ count, expected }) => {
    expect(chargedTokens(count)).toBe(expected);
  });
});

import type { Usage } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MAX_NANO_USD, MAX_TOKENS } from "../money/index.ts";
import { compilePrice, type Price, type PriceRow } from "../prices/index.ts";
import { cardOf, costOfUsage } from "./usage-cost.ts";
import { worstCost } from "./worst-cost.ts";

const priceOf = (row: Partial<PriceRow> & Pick<PriceRow, "input" | "output">): Price => {
  const reading = compilePrice({ model: "m", source: "test", day: "2026-11-30", ...row }, "test");
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.price;
};

const usage = (counts: Partial<Usage>): Usage => ({ input: 0, output: 0, source: "upstream", final: true, ...counts });

const SONNET = priceOf({
  input: 3,
  cacheRead: 0.3,
  cacheWrite: { 300: 3.75, 3600: 6 },
  output: 15,
  serverTools: { web_search: 0.01 },
});
const GPT = priceOf({ input: 1.25, cacheRead: 0.125, output: 10 });
const AUDIO = priceOf({ input: 2.5, inputAudio: 32, inputImage: 5, output: 10, outputAudio: 64 });
const TIERED = priceOf({
  input: 1.25,
  cacheRead: 0.125,
  output: 10,
  tiers: [{ aboveInputTokens: 200_000, input: 2.5, cacheRead: 0.25, output: 15 }],
});

describe("costOfUsage", () => {
  // Every amount was computed by hand: tokens × USD per million, in nano-USD.
  it.each<{ readonly name: string; readonly price: Price; readonly counts: Partial<Usage>; readonly nano: number }>([
    {
      name: "plain input and output",
      price: SONNET,
      counts: { input: 1000, output: 200 },
      nano: 3_000_000 + 3_000_000,
    },
    {
      name: "a provider's disjoint counts, summed by its decoder, charge written tokens once",
      price: SONNET,
      counts: { input: 3 + 12_304, cacheWrite: 12_304, cacheRead: 0, output: 550 },
      nano: 54_399_000, // 3 × 3000 + 12,304 × 3750 + 550 × 15,000 = 0.054399 USD, and not 0.091311
    },
    {
      name: "cached tokens that are a subset of the prompt are charged once",
      price: GPT,
      counts: { input: 2006, cacheRead: 1920, output: 300 },
      nano: 86 * 1250 + 1920 * 125 + 300 * 10_000, // 0.0033475 USD
    },
    {
      name: "a prompt read wholly from the cache",
      price: GPT,
      counts: { input: 1024, cacheRead: 1024, output: 0 },
      nano: 128_000,
    },
    {
      name: "writes by time to live at their own rates",
      price: SONNET,
      counts: { input: 1000, cacheWrite: 900, cacheWriteByTtl: { 300: 400, 3600: 500 }, output: 0 },
      nano: 100 * 3000 + 400 * 3750 + 500 * 6000,
    },
    {
      name: "the written rest without a time to live at the shortest one's rate",
      price: SONNET,
      counts: { input: 1000, cacheWrite: 900, cacheWriteByTtl: { 3600: 500 }, output: 0 },
      nano: 100 * 3000 + 500 * 6000 + 400 * 3750,
    },
    {
      name: "a time to live between the priced ones at the longer one's rate",
      price: SONNET,
      counts: { input: 100, cacheWrite: 100, cacheWriteByTtl: { 1800: 100 }, output: 0 },
      nano: 100 * 6000,
    },
    {
      name: "a time to live beyond the priced ones at the longest one's rate",
      price: SONNET,
      counts: { input: 100, cacheWrite: 100, cacheWriteByTtl: { 86_400: 100 }, output: 0 },
      nano: 100 * 6000,
    },
    {
      name: "reasoning as output, once",
      price: GPT,
      counts: { input: 0, output: 1000, reasoning: 900 },
      nano: 10_000_000,
    },
    {
      name: "reasoning at its own rate where it has one",
      price: priceOf({ input: 1, output: 10, reasoning: 4 }),
      counts: { input: 0, output: 1000, reasoning: 900 },
      nano: 100 * 10_000 + 900 * 4000,
    },
    {
      name: "audio and images in, audio out",
      price: AUDIO,
      counts: { input: 1000, inputAudio: 300, inputImage: 200, output: 500, outputAudio: 400 },
      nano: 500 * 2500 + 300 * 32_000 + 200 * 5000 + 100 * 10_000 + 400 * 64_000,
    },
    {
      name: "a prompt at the tier's border at the lower rates",
      price: TIERED,
      counts: { input: 200_000, output: 10 },
      nano: 250_000_000 + 100_000,
    },
    {
      name: "a prompt one past the border at the higher rates, all of it and the output too",
      price: TIERED,
      counts: { input: 200_001, cacheRead: 1, output: 10 },
      nano: 200_000 * 2500 + 250 + 150_000,
    },
    {
      name: "uses of server tools and a price per request",
      price: { ...SONNET, perRequestNanoUsd: 7 },
      counts: { input: 0, output: 0, serverTools: { web_search: 3, web_fetch: 5 } },
      nano: 30_000_000 + 7,
    },
    {
      name: "a component above its total only up to the total",
      price: GPT,
      counts: { input: 10, cacheRead: 50, output: 5, reasoning: 99 },
      nano: 1250 + 50_000,
    },
    {
      name: "nothing for negative and impossible counts",
      price: SONNET,
      counts: { input: -5, cacheRead: Number.NaN, output: -1 },
      nano: 0,
    },
    {
      name: "half a nano-USD rounded up",
      price: priceOf({ input: 0.0375, output: 0 }),
      counts: { input: 1 },
      nano: 38,
    },
  ])("charges $name", ({ price, counts, nano }) => {
    expect(costOfUsage(usage(counts), price)).toBe(nano);
  });

  const anyCount = fc.oneof(fc.nat(400_000), fc.constantFrom(-1, Number.NaN, MAX_TOKENS + 1, undefined));
  const anyUsage = fc
    .record({
      input: anyCount,
      cacheRead: anyCount,
      cacheWrite: anyCount,
      short: anyCount,
      long: anyCount,
      inputAudio: anyCount,
      inputImage: anyCount,
      output: anyCount,
      reasoning: anyCount,
      outputAudio: anyCount,
    })
    .map(({ short, long, ...counts }) =>
      usage({ ...counts, cacheWriteByTtl: { 300: short, 3600: long } } as Partial<Usage>),
    );

  it("is a whole number, never negative, never above the worst case of the same totals", () => {
    fc.assert(
      fc.property(anyUsage, fc.constantFrom(SONNET, GPT, AUDIO, TIERED), (counts, price) => {
        const cost = costOfUsage(counts, price);
        expect(Number.isSafeInteger(cost)).toBe(true);
        expect(cost).toBeGreaterThanOrEqual(0);
        expect(cost).toBeLessThanOrEqual(worstCost(price, counts.input, counts.output));
      }),
      { numRuns: 3000 },
    );
  });

  it("never charges a token at two rates: with all rates equal, components change nothing", () => {
    const flat = priceOf({ input: 2, output: 2 });
    fc.assert(
      fc.property(anyUsage, (counts) => {
        expect(costOfUsage(counts, flat)).toBe(
          costOfUsage(usage({ input: counts.input, output: counts.output }), flat),
        );
      }),
    );
  });

  it("stops at the largest amount", () => {
    const dear = priceOf({ input: 9000, output: 9000 });
    expect(costOfUsage(usage({ input: 1e300, output: 1e300 }), dear)).toBe(MAX_NANO_USD);
  });
});

describe("cardOf", () => {
  it.each([
    { tokens: 0, above: 0 },
    { tokens: 200_000, above: 0 },
    { tokens: 200_001, above: 200_000 },
  ])("takes the tier above $above for $tokens tokens", ({ tokens, above }) => {
    expect(cardOf(TIERED, tokens).aboveInputTokens).toBe(above);
  });
});

describe("worstCost", () => {
  it("takes the dearest rate of each side and the dearest tier the prompt can reach", () => {
    expect(worstCost(SONNET, 1000, 100)).toBe(1000 * 6000 + 100 * 15_000 + 10);
    expect(worstCost(TIERED, 200_000, 0)).toBe(250_000_000 + 10);
    expect(worstCost(TIERED, 200_001, 0)).toBe(200_001 * 2500 + 10);
  });
});

import { isGatewayError, type PriceRow } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { undatedModelId } from "./model-id.ts";
import { PriceBook } from "./price-book.ts";
import { compilePrices } from "./price.ts";
import { BUILT_IN_PRICES } from "./tables/built-in-prices.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const row = (model: string, input: number, more: Partial<PriceRow> = {}): PriceRow => ({
  model,
  input,
  output: 10,
  source: "test",
  day: "2026-11-30",
  ...more,
});
const inputOf = (book: PriceBook, model: string, deployment = "d", atMs = NOW): number | null => {
  const price = book.find(deployment, model, atMs);
  return price === null ? null : (price.cards[0]?.input ?? 0) / 1e6;
};

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (thrown) {
    return thrown;
  }
  return null;
}

describe("PriceBook", () => {
  const book = new PriceBook({
    deployments: new Map([
      ["own", [row("*", 1)]],
      ["special", [row("gpt-5", 2)]],
    ]),
    configured: [row("llama-3-70b-chat", 11)],
    rows: [
      row("gpt-5-mini", 3),
      row("llama-*", 4),
      row("llama-3-70b*", 5),
      row("gpt-4o-2024-11-20", 6),
      row("gpt-4o", 7),
    ],
    builtIn: [row("gpt-5", 8), row("gpt-5-mini", 9), row("llama-3-8b", 10)],
  });

  it.each<{
    readonly name: string;
    readonly deployment?: string;
    readonly model: string;
    readonly expected: number | null;
  }>([
    { name: "any model of a deployment with a price for all", deployment: "own", model: "gpt-5", expected: 1 },
    { name: "a deployment's price over the tables", deployment: "special", model: "gpt-5", expected: 2 },
    {
      name: "the tables for what a deployment does not price",
      deployment: "special",
      model: "gpt-5-mini",
      expected: 3,
    },
    { name: "the operator's file over the package's table", model: "gpt-5-mini", expected: 3 },
    { name: "the configuration over the operator's file", model: "llama-3-70b-chat", expected: 11 },
    { name: "the package's table", model: "gpt-5", expected: 8 },
    { name: "a snapshot at its model's price", model: "gpt-5-mini-2025-08-07", expected: 3 },
    { name: "a snapshot at its own price where it has one", model: "gpt-4o-2024-11-20", expected: 6 },
    { name: "another snapshot at the model's", model: "gpt-4o-2024-08-06", expected: 7 },
    { name: "the longest beginning", model: "llama-3-70b-instruct", expected: 5 },
    { name: "a shorter beginning", model: "llama-4-scout", expected: 4 },
    { name: "a beginning of the file over an exact id of the package", model: "llama-3-8b", expected: 4 },
    { name: "nothing for a longer name without a pattern", model: "gpt-5-ultra", expected: null },
    { name: "nothing for an unknown model", model: "nobody-knows", expected: null },
  ])("finds $name", ({ deployment, model, expected }) => {
    for (let time = 0; time < 2; time += 1) expect(inputOf(book, model, deployment)).toBe(expected);
  });

  it("takes the newest row that already holds", () => {
    const dated = new PriceBook({
      builtIn: [row("m", 1), row("m", 2, { from: "2026-12-01" }), row("m", 3, { from: "2027-01-01" })],
    });
    const days = [
      "2026-11-30T23:59:59.999Z",
      "2026-12-01T00:00:00Z",
      "2026-12-31T23:59:59.999Z",
      "2027-01-01T00:00:00Z",
    ];
    expect(days.map((day) => inputOf(dated, "m", "d", Date.parse(day)))).toEqual([1, 2, 2, 3]);
  });

  it("has no price before the first day of the only row", () => {
    const dated = new PriceBook({ builtIn: [row("m", 2, { from: "2026-12-01" })] });
    expect(inputOf(dated, "m")).toBeNull();
  });

  it("stays right and bounded when clients send more model names than it remembers", () => {
    for (let name = 0; name < 10_000; name += 1) expect(inputOf(book, `llama-${name}`)).toBe(4);
    expect(inputOf(book, "gpt-5")).toBe(8);
  });

  it.each<{ readonly name: string; readonly bad: Partial<PriceRow>; readonly says: string }>([
    { name: "a negative rate", bad: { input: -1 }, says: "input" },
    { name: "a rate finer than a pico-USD", bad: { output: 1e-7 }, says: "output" },
    { name: "a rate beyond the bound", bad: { cacheRead: 9001 }, says: "cacheRead" },
    { name: "a day that is none", bad: { day: "2026-02-30" }, says: "day" },
    { name: "a from that is no day", bad: { from: "soon" }, says: "from" },
    { name: "an empty source", bad: { source: "" }, says: "source" },
    { name: "a star in the middle", bad: { model: "a*b" }, says: "model" },
    {
      name: "tiers out of order",
      bad: {
        tiers: [
          { aboveInputTokens: 5, input: 1, output: 1 },
          { aboveInputTokens: 5, input: 1, output: 1 },
        ],
      },
      says: "/tiers/1/aboveInputTokens",
    },
    {
      name: "a tier without a rate that the row has",
      bad: { cacheRead: 1, tiers: [{ aboveInputTokens: 5, input: 1, output: 1 }] },
      says: '/tiers/0: must have the member "cacheRead"',
    },
    { name: "no times to live", bad: { cacheWrite: {} }, says: "cacheWrite" },
  ])("refuses $name and says where", ({ bad, says }) => {
    const thrown = thrownBy(() => new PriceBook({ rows: [row("m", 1, bad)] }));
    expect(isGatewayError(thrown) && [thrown.code, thrown.message]).toEqual([
      "config_invalid",
      expect.stringContaining(says),
    ]);
  });

  it("refuses two rows of one model that hold from the same day", () => {
    const other = row("m", 2, { day: "2026-11-01" });
    for (const rows of [
      [row("m", 1), row("m", 2)],
      [row("m", 1), other],
    ])
      expect(() => new PriceBook({ rows })).toThrow("/1: is the second price of m that holds from the same day");
  });
});

describe("compilePrices", () => {
  it("compiles a row that says neither where its price is from nor since when", () => {
    const { prices, problems } = compilePrices([{ model: "*", input: 1, output: 2 }], "deployment a");
    expect(problems).toEqual([]);
    expect(prices[0]).toMatchObject({ id: "deployment a:*", source: null, day: null, fromMs: 0 });
  });

  it("places problems by the index of their row", () => {
    const { problems } = compilePrices([row("m", 1), row("n", 1e-7), row("o", 1, { tiers: [] })], "file");
    expect(problems).toEqual([
      { path: "/1/input", message: "must be USD per million tokens from 0 to 9000 with at most six decimals" },
    ]);
  });
});

describe("undatedModelId", () => {
  it.each([
    ["gpt-5-2025-08-07", "gpt-5"],
    ["claude-haiku-4-5-20251001", "claude-haiku-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["gpt-5-chat-latest", "gpt-5-chat"],
    ["gpt-4.1", "gpt-4.1"],
    ["llama-3-70", "llama-3-70"],
  ])("takes %s to %s", (model, expected) => {
    expect(undatedModelId(model)).toBe(expected);
  });
});

describe("the package's own table", () => {
  const book = new PriceBook();

  // Read from the vendors' pages, the days in the rows; a wrong figure here is a wrong bill.
  it.each([
    { model: "claude-sonnet-5-5", day: "2026-10-01", input: 2, cacheRead: 0.2, output: 10 },
    { model: "claude-sonnet-5-5", day: "2026-11-30", input: 2, cacheRead: 0.1, output: 10 },
    { model: "claude-opus-5", day: "2026-11-30", input: 5, cacheRead: 0.5, output: 25 },
    { model: "claude-haiku-4-5-20251001", day: "2026-11-30", input: 1, cacheRead: 0.1, output: 5 },
    { model: "gpt-5-mini-2025-08-07", day: "2026-11-30", input: 0.25, cacheRead: 0.025, output: 2 },
    { model: "gpt-6.2-sol", day: "2026-11-30", input: 2, cacheRead: 0.1, output: 10 },
    { model: "gpt-5.6-luna", day: "2026-11-30", input: 0.2, cacheRead: 0.02, output: 1.2 },
    { model: "gemini-4-argon", day: "2026-11-30", input: 2, cacheRead: 0.1, output: 10 },
    { model: "gemini-4-argon", day: "2026-12-01", input: 4, cacheRead: 0.2, output: 20 },
  ])("prices $model on $day", ({ model, day, input, cacheRead, output }) => {
    const card = book.find("d", model, Date.parse(day))?.cards[0];
    expect([card?.input, card?.cacheRead, card?.output]).toEqual(
      [input, cacheRead, output].map((usd) => Math.round(usd * 1e6)),
    );
  });

  it("states an https page and a day in every row, and no pattern that could price an unknown model", () => {
    for (const { source, day, model } of BUILT_IN_PRICES) {
      expect(source).toMatch(/^https:\/\//);
      expect(day).toMatch(/^2026-\d\d-\d\d$/);
      expect(model).not.toContain("*");
    }
  });

  it("never has output cheaper than input, or cached input dearer than fresh input", () => {
    for (const { model } of BUILT_IN_PRICES)
      for (const card of book.find("d", model, NOW)?.cards ?? []) {
        expect(card.output).toBeGreaterThanOrEqual(card.input);
        expect(card.cacheRead).toBeLessThanOrEqual(card.input);
      }
  });
});

/**
 * OpenAI's list prices at the standard service tier. From GPT-5.6 on a cache write is priced apart, by how long the entry lives;
 * above 272,000 input tokens the whole call costs twice on the input side and one and a half times on the output side.
 */
import type { PriceRow } from "@dragoman/core";

import { vendorTable } from "./vendor-table.ts";

const PAGE = { source: "https://developers.openai.com/api/docs/pricing", day: "2026-11-05" };
const LONG_PROMPT = 272_000;

/** Rates of models without priced cache writes: input, cached input (null = not discounted), output. */
type Rates = readonly [input: number, cached: number | null, output: number];

const { row, above } = vendorTable(PAGE, ([input, cached, output]: Rates) => ({
  input,
  ...(cached === null ? {} : { cacheRead: cached }),
  output,
}));

const long = (rates: Rates): Partial<PriceRow> => above(LONG_PROMPT, rates);

/** Prices have at most six decimals; a product in binary may have more. */
const times = (usd: number, factor: number): number => Math.round(usd * factor * 1e6) / 1e6;

/** Half an hour and twelve hours. */
const writes = (halfHour: number, halfDay: number): { readonly cacheWrite: Readonly<Record<number, number>> } => ({
  cacheWrite: { 1800: halfHour, 43_200: halfDay },
});

/** Models with priced cache writes: a write costs 1.25 × input for half an hour and 2.5 × input for twelve hours. */
const newer = (
  model: string,
  [input, cached, output]: readonly [number, number, number],
  more: Partial<PriceRow> = {},
): PriceRow =>
  row(model, [input, cached, output], {
    ...writes(times(input, 1.25), times(input, 2.5)),
    tiers: [
      {
        aboveInputTokens: LONG_PROMPT,
        input: times(input, 2),
        cacheRead: times(cached, 2),
        ...writes(times(input, 2.5), times(input, 5)),
        output: times(output, 1.5),
      },
    ],
    ...more,
  });

const GPT_5: Rates = [1.25, 0.125, 10];
const GPT_5_2: Rates = [1.75, 0.175, 14];

/** OpenAI's models. */
export const OPENAI_PRICES: readonly PriceRow[] = [
  newer("gpt-6.2-astra", [8, 0.4, 40], { day: "2026-11-30" }),
  newer("gpt-6.2-sol", [2, 0.1, 10], {
    source: "https://developers.openai.com/api/docs/models/gpt-6.2-sol",
    day: "2026-11-30",
  }),
  newer("gpt-6.1-sol", [2, 0.1, 10]),
  newer("gpt-6.1-terra", [1, 0.05, 5]),
  newer("gpt-6-astra", [10, 1, 50]),
  newer("gpt-6-sol", [2, 0.2, 10]),
  newer("gpt-6-luna", [0.1, 0.01, 0.5]),
  newer("gpt-5.6-sol", [5, 0.5, 30]),
  newer("gpt-5.6-sol", [4, 0.4, 20], { from: "2026-08-21" }),
  newer("gpt-5.6-terra", [2.5, 0.25, 15]),
  newer("gpt-5.6-terra", [2, 0.2, 12], { from: "2026-07-30" }),
  newer("gpt-5.6-luna", [1, 0.1, 6]),
  newer("gpt-5.6-luna", [0.2, 0.02, 1.2], { from: "2026-07-30" }),
  row("gpt-5.5", [5, 0.5, 30], long([10, 1, 45])),
  row("gpt-5.5-pro", [30, null, 180], long([60, null, 270])),
  row("gpt-5.4", [2.5, 0.25, 15], long([5, 0.5, 22.5])),
  row("gpt-5.4-mini", [0.75, 0.075, 4.5]),
  row("gpt-5.4-nano", [0.2, 0.02, 1.25]),
  row("gpt-5.4-pro", [30, null, 180], long([60, null, 270])),
  row("gpt-5.3-codex", GPT_5_2),
  row("gpt-5.3-chat", GPT_5_2),
  row("gpt-5.2", GPT_5_2),
  row("gpt-5.2-chat", GPT_5_2),
  row("gpt-5.2-codex", GPT_5_2),
  row("gpt-5.2-pro", [21, null, 168]),
  row("gpt-5.1", GPT_5),
  row("gpt-5.1-chat", GPT_5),
  row("gpt-5.1-codex", GPT_5),
  row("gpt-5.1-codex-max", GPT_5),
  row("gpt-5.1-codex-mini", [0.25, 0.025, 2]),
  row("gpt-5", GPT_5),
  row("gpt-5-chat", GPT_5),
  row("gpt-5-codex", GPT_5),
  row("gpt-5-mini", [0.25, 0.025, 2]),
  row("gpt-5-nano", [0.05, 0.005, 0.4]),
  row("gpt-5-pro", [15, null, 120]),
  row("gpt-4.1", [2, 0.5, 8]),
  row("gpt-4.1-mini", [0.4, 0.1, 1.6]),
  row("gpt-4.1-nano", [0.1, 0.025, 0.4]),
  row("gpt-4o-2024-05-13", [5, null, 15]),
  row("gpt-4o", [2.5, 1.25, 10]),
  row("gpt-4o-mini", [0.15, 0.075, 0.6]),
  row("gpt-audio", [2.5, null, 10], { inputAudio: 32, outputAudio: 64 }),
  row("gpt-audio-mini", [0.6, null, 2.4], { inputAudio: 10, outputAudio: 20 }),
  row("o4-mini", [1.1, 0.275, 4.4]),
  row("o3", [2, 0.5, 8]),
  row("o3-mini", [1.1, 0.55, 4.4]),
  row("o3-pro", [20, null, 80]),
  row("o1", [15, 7.5, 60]),
  row("o1-pro", [150, null, 600]),
];

/** Google's list prices of the Gemini API, paid tier, standard mode. Thinking is billed as output; storage of explicit caches is not part of a call. */
import type { PriceRow } from "@dragoman/core";

import { vendorTable } from "./vendor-table.ts";

const PAGE = { source: "https://ai.google.dev/gemini-api/docs/pricing", day: "2026-11-16" };
const LONG_PROMPT = 200_000;

/** Input, cached input, output. */
type Rates = readonly [input: number, cached: number, output: number];

const { row, above } = vendorTable(PAGE, ([input, cacheRead, output]: Rates) => ({ input, cacheRead, output }));

const long = (rates: Rates): Partial<PriceRow> => above(LONG_PROMPT, rates);

const FLASH_NOW: Rates = [0.75, 0.075, 3.75];
const FLASH_2027: Rates = [1.5, 0.15, 7.5];

/** Gemini models. */
export const GEMINI_PRICES: readonly PriceRow[] = [
  row("gemini-4-neon", [3, 0.15, 15]),
  row("gemini-4-carbon", [2, 0.1, 10]),
  row("gemini-4-carbon", [4, 0.2, 20], { from: "2026-12-01" }),
  row("gemini-4-argon", [2, 0.1, 10]),
  row("gemini-4-argon", [4, 0.2, 20], { from: "2026-12-01" }),
  row("gemini-4-hydrogen", [1.5, 0.075, 7.5]),
  row("gemini-3.8-flash", FLASH_NOW),
  row("gemini-3.8-flash", FLASH_2027, { from: "2027-01-01" }),
  row("gemini-3.7-flash", FLASH_NOW),
  row("gemini-3.7-flash", FLASH_2027, { from: "2027-01-01" }),
  row("gemini-3.6-flash", FLASH_NOW),
  row("gemini-3.6-flash", FLASH_2027, { from: "2027-01-01" }),
  row("gemini-3.5-flash", [1.5, 0.15, 9]),
  row("gemini-3.5-flash-lite", [0.3, 0.03, 2.5]),
  row("gemini-3.1-pro-preview", [2, 0.2, 12], long([4, 0.4, 18])),
  row("gemini-3.1-flash-lite", [0.25, 0.025, 1.5], { inputAudio: 0.5 }),
  row("gemini-3-flash-preview", [0.5, 0.05, 3], { inputAudio: 1 }),
  row("gemini-2.5-pro", [1.25, 0.125, 10], long([2.5, 0.25, 15])),
  row("gemini-2.5-flash", [0.3, 0.03, 2.5], { inputAudio: 1 }),
  row("gemini-2.5-flash-lite", [0.1, 0.01, 0.4], { inputAudio: 0.3 }),
];

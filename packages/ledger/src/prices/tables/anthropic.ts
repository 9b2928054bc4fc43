/**
 * Anthropic's list prices. Cache writes cost 1.25 × input for five minutes and 2 × input for an hour; cache reads are stated per
 * model. Web searches are 10 USD per 1,000, on every model.
 */
import type { PriceRow } from "@dragoman/core";

import { vendorTable } from "./vendor-table.ts";

const PAGE = {
  source: "https://platform.claude.com/docs/en/about-claude/pricing",
  day: "2026-10-24",
  serverTools: { web_search: 0.01 },
};

/** Rates in the order of the vendor's table: input, write 5 min, write 1 h, read, output. */
type Rates = readonly [input: number, write5m: number, write1h: number, read: number, output: number];

const { row, above } = vendorTable(PAGE, ([input, write5m, write1h, cacheRead, output]: Rates) => ({
  input,
  cacheRead,
  cacheWrite: { 300: write5m, 3600: write1h },
  output,
}));

const OPUS_4: Rates = [15, 18.75, 30, 1.5, 75];
const OPUS_4_5: Rates = [5, 6.25, 10, 0.5, 25];
const SONNET_4: Rates = [3, 3.75, 6, 0.3, 15];

/** Claude models. */
export const ANTHROPIC_PRICES: readonly PriceRow[] = [
  row("claude-fable-5-2", [8, 10, 16, 0.2, 40], { day: "2026-11-30" }),
  row("claude-fable-5-1", [10, 12.5, 20, 0.25, 50]),
  row("claude-mythos-5-1", [10, 12.5, 20, 0.25, 50]),
  row("claude-fable-5", [10, 12.5, 20, 1, 50]),
  row("claude-mythos-5", [10, 12.5, 20, 1, 50]),
  row("claude-opus-5-5", [4, 5, 8, 0.2, 20]),
  row("claude-opus-5", OPUS_4_5),
  row("claude-opus-4-8", OPUS_4_5),
  row("claude-opus-4-7", OPUS_4_5),
  row("claude-opus-4-6", OPUS_4_5),
  row("claude-opus-4-5", OPUS_4_5),
  row("claude-opus-4-1", OPUS_4),
  row("claude-opus-4-0", OPUS_4),
  row("claude-opus-4", OPUS_4),
  row("claude-sonnet-5-5", [2, 2.5, 4, 0.2, 10]),
  row("claude-sonnet-5-5", [2, 2.5, 4, 0.1, 10], { from: "2026-10-07" }),
  row("claude-sonnet-5", [2, 2.5, 4, 0.2, 10]),
  row("claude-sonnet-4-6", SONNET_4),
  row("claude-sonnet-4-5", SONNET_4, above(200_000, [6, 7.5, 12, 0.6, 22.5])),
  row("claude-sonnet-4-0", SONNET_4, above(200_000, [6, 7.5, 12, 0.6, 22.5])),
  row("claude-sonnet-4", SONNET_4, above(200_000, [6, 7.5, 12, 0.6, 22.5])),
  row("claude-haiku-5-5", [0.1, 0.125, 0.2, 0.01, 0.5], above(100_000, [0.5, 0.625, 1, 0.05, 2.5])),
  row("claude-haiku-4-5", [1, 1.25, 2, 0.1, 5]),
  row("claude-3-7-sonnet", SONNET_4),
  row("claude-3-5-haiku", [0.8, 1, 1.6, 0.08, 4]),
  row("claude-3-haiku", [0.25, 0.3, 0.5, 0.03, 1.25]),
];

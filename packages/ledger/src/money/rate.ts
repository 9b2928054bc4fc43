/**
 * Prices per token. One USD per million tokens is 10^6 pico-USD a token, so every published price is a whole number of pico-USD.
 * Invariants: a rate is a whole number up to `MAX_RATE`; the cost of one component is rounded half up to a nano-USD once, at the
 * end; within the bounds no step leaves the exact integers of a double.
 */
import { scaleDecimal, type NanoUsd } from "./nano-usd.ts";

/** A price per token in pico-USD: a whole number from 0 to `MAX_RATE`. */
export type Rate = number;

/** Largest rate: 9,000 USD per million tokens. With `MAX_TOKENS` of it a component stays below 2^53 nano-USD. */
export const MAX_RATE: Rate = 9_000_000_000;

/** Most tokens that one call is charged for. A larger report is a defect of the provider and is cut to this. */
export const MAX_TOKENS = 1_000_000_000;

/** Reads USD per million tokens; null when negative, finer than a pico-USD a token, or beyond `MAX_RATE`. */
export function rateOf(usdPerMillion: number | string): Rate | null {
  const rate = scaleDecimal(usdPerMillion, 6);
  return rate !== null && rate <= MAX_RATE ? rate : null;
}

/** A token count as it is charged: a whole number from 0 to `MAX_TOKENS`, whatever the provider sent. */
export function chargedTokens(count: number | undefined): number {
  if (count === undefined || !(count > 0)) return 0;
  return count < MAX_TOKENS ? Math.floor(count) : MAX_TOKENS;
}

/** Cost of `tokens` at a rate, rounded half up to a nano-USD. Exact for counts from `chargedTokens`. */
export function costOfTokens(tokens: number, rate: Rate): NanoUsd {
  // Split in nano and pico parts: the plain product could leave the exact integers before the division brings it back.
  const picoPart = rate % 1000;
  const nanoPart = (rate - picoPart) / 1000;
  return tokens * nanoPart + Math.floor((tokens * picoPart + 500) / 1000);
}

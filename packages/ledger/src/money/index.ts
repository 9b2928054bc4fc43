/** Amounts and rates in whole numbers. */
export { NO_AMOUNTS, ONE_REQUEST } from "./amounts.ts";
export type { Amounts } from "./amounts.ts";
export { addNanoUsd, formatUsd, MAX_NANO_USD, NANO_PER_USD, nanoUsdOf } from "./nano-usd.ts";
export type { NanoUsd } from "./nano-usd.ts";
export { chargedTokens, costOfTokens, MAX_TOKENS, rateOf } from "./rate.ts";
export type { Rate } from "./rate.ts";

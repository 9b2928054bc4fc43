/** What a call takes or is thought to take, in everything that limits count. */
import type { NanoUsd } from "./nano-usd.ts";

/** Whole numbers, none negative. Made with all members in this order, so that all have one shape. */
export interface Amounts {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: NanoUsd;
}

/** Nothing at all. */
export const NO_AMOUNTS: Amounts = { requests: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };

/** One request, before it has taken anything else. */
export const ONE_REQUEST: Amounts = { requests: 1, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };

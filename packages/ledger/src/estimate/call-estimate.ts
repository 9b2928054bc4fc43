/** What a call is expected to take, or can take at most, before it is made. */
import type { AttemptTarget, HoldRequest, Usage } from "@dragoman/core";

import { costOfUsage, worstCost } from "../cost/index.ts";
import { chargedTokens, NO_AMOUNTS, type Amounts } from "../money/index.ts";
import type { Price } from "../prices/index.ts";

/** How much a reservation holds: what calls like this one take, or the most that it can take. */
export type HoldMode = "expected" | "worst";

/** Largest output held where neither the client nor the deployment bounds it: what the longest-winded public models can write. */
export const LARGEST_OUTPUT_TOKENS = 128_000;

/** What is known about a call before it is made. */
export interface CallFacts {
  readonly request: HoldRequest;
  /** The client dialect's estimate, media included. */
  readonly inputTokens: number;
  /** Output that answers of this model to this key have had. */
  readonly expectedOutput: number;
}

/** Tokens and money to hold for one attempt. Without a price the money is 0. */
export function estimateCall(mode: HoldMode, facts: CallFacts, target: AttemptTarget, price: Price | null): Amounts {
  if (facts.request.operation === "count-tokens") return NO_AMOUNTS;
  return mode === "worst" ? worstCall(facts, target, price) : expectedCall(facts, target, price);
}

function expectedCall(
  { request, inputTokens, expectedOutput }: CallFacts,
  target: AttemptTarget,
  price: Price | null,
): Amounts {
  const input = chargedTokens(inputTokens);
  const output = Math.min(chargedTokens(expectedOutput), mostOutput(request, target));
  const nanoUsd = price === null ? 0 : costOfUsage(plainUsage(input, output), price);
  return { requests: 0, inputTokens: input, outputTokens: output, nanoUsd };
}

/**
 * The upper bound of a call. A token stands for at least one byte of text, and media is in the dialect's estimate; neither can pass
 * the context window.
 */
function worstCall({ request, inputTokens }: CallFacts, target: AttemptTarget, price: Price | null): Amounts {
  const bound = chargedTokens(inputTokens) + chargedTokens(request.bodyBytes);
  const input = chargedTokens(Math.min(bound, target.contextWindow ?? bound));
  const output = mostOutput(request, target);
  const nanoUsd = price === null ? 0 : worstCost(price, input, output);
  return { requests: 0, inputTokens: input, outputTokens: output, nanoUsd };
}

/** The most output a call can have: what the client allows, else what the model can write, for each answer asked for. */
export function mostOutput(request: HoldRequest, target: AttemptTarget): number {
  if (request.operation === "embed" || request.operation === "count-tokens") return 0;
  const each = Math.min(
    request.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    target.maxOutputTokens ?? Number.POSITIVE_INFINITY,
  );
  const bound = each === Number.POSITIVE_INFINITY ? LARGEST_OUTPUT_TOKENS : each;
  return chargedTokens(bound * Math.max(request.choices ?? 1, 1));
}

/** Usage of text alone, as estimates know it. */
export function plainUsage(input: number, output: number): Usage {
  return { input, output, source: "estimated", final: true };
}

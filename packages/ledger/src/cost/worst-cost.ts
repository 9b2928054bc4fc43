/** The most a call can cost, for reservations that must never be passed. */
import { addNanoUsd, chargedTokens, costOfTokens, type NanoUsd } from "../money/index.ts";
import type { Price, RateCard } from "../prices/index.ts";

/**
 * The highest cost of a call with at most so many tokens in and out, whatever of it is cached, written, heard, seen or thought.
 * Uses of server tools are not part of it: nobody knows their number before the call.
 */
export function worstCost(price: Price, inputTokens: number, outputTokens: number): NanoUsd {
  const input = chargedTokens(inputTokens);
  const output = chargedTokens(outputTokens);
  let worst = 0;
  for (const card of price.cards) {
    if (input <= card.aboveInputTokens && card.aboveInputTokens > 0) break;
    // Components are rounded apart, so up to ten of them can each gain half a nano-USD.
    const cost = addNanoUsd(costOfTokens(input, highestInput(card)), costOfTokens(output, highestOutput(card)));
    worst = Math.max(worst, addNanoUsd(cost, ROUNDING));
  }
  return addNanoUsd(worst, price.perRequestNanoUsd);
}

const ROUNDING = 10;

function highestInput(card: RateCard): number {
  let highest = Math.max(card.input, card.cacheRead, card.inputAudio, card.inputImage);
  for (const { rate } of card.cacheWrites) if (rate > highest) highest = rate;
  return highest;
}

const highestOutput = (card: RateCard): number => Math.max(card.output, card.reasoning, card.outputAudio);

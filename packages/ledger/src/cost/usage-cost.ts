/**
 * What a call costs: a pure function of its usage and its price. Usage totals include their components, so every token is charged
 * once, at the rate of the narrowest component it is in. Invariants: never negative; no component is charged beyond its total.
 */
import type { Usage } from "@dragoman/core";

import { addNanoUsd, chargedTokens, costOfTokens, type NanoUsd } from "../money/index.ts";
import type { Price, RateCard } from "../prices/index.ts";

/** Cost of one call. Components are rounded half up to a nano-USD, each once. */
export function costOfUsage(usage: Usage, price: Price): NanoUsd {
  const input = chargedTokens(usage.input);
  const card = cardOf(price, input);
  let cost = addNanoUsd(inputCost(usage, input, card), outputCost(usage, card));
  cost = addNanoUsd(cost, price.perRequestNanoUsd);
  return usage.serverTools === undefined || price.serverTools.size === 0
    ? cost
    : addNanoUsd(cost, toolCost(usage.serverTools, price));
}

/** The rates for a prompt of so many tokens: the longest tier that it is longer than. */
export function cardOf(price: Price, inputTokens: number): RateCard {
  const { cards } = price;
  let index = cards.length - 1;
  while (index > 0 && inputTokens <= (cards[index] as RateCard).aboveInputTokens) index -= 1;
  return cards[index] as RateCard;
}

function inputCost(usage: Usage, total: number, card: RateCard): NanoUsd {
  let left = total;
  const cacheRead = Math.min(chargedTokens(usage.cacheRead), left);
  left -= cacheRead;
  const cacheWrite = Math.min(chargedTokens(usage.cacheWrite), left);
  left -= cacheWrite;
  const audio = Math.min(chargedTokens(usage.inputAudio), left);
  left -= audio;
  const image = Math.min(chargedTokens(usage.inputImage), left);
  left -= image;
  const cost =
    costOfTokens(left, card.input) +
    costOfTokens(cacheRead, card.cacheRead) +
    costOfTokens(audio, card.inputAudio) +
    costOfTokens(image, card.inputImage);
  return cacheWrite === 0 ? cost : addNanoUsd(cost, writeCost(usage.cacheWriteByTtl, cacheWrite, card));
}

/** Writes whose time to live is not told are charged as the shortest one, the providers' default. */
function writeCost(byTtl: Usage["cacheWriteByTtl"], total: number, card: RateCard): NanoUsd {
  let left = total;
  let cost = 0;
  if (byTtl !== undefined)
    for (const ttl in byTtl) {
      const tokens = Math.min(chargedTokens(byTtl[ttl]), left);
      left -= tokens;
      cost = addNanoUsd(cost, costOfTokens(tokens, writeRate(card, Number(ttl))));
    }
  return addNanoUsd(cost, costOfTokens(left, writeRate(card, 0)));
}

/** A time to live between two priced ones costs as the longer; one beyond all as the longest. */
function writeRate({ cacheWrites }: RateCard, seconds: number): number {
  const write = cacheWrites.find((each) => each.seconds >= seconds) ?? cacheWrites.at(-1);
  return (write as RateCard["cacheWrites"][number]).rate;
}

function outputCost(usage: Usage, card: RateCard): NanoUsd {
  let left = chargedTokens(usage.output);
  const audio = Math.min(chargedTokens(usage.outputAudio), left);
  left -= audio;
  const reasoning = Math.min(chargedTokens(usage.reasoning), left);
  left -= reasoning;
  return (
    costOfTokens(left, card.output) + costOfTokens(audio, card.outputAudio) + costOfTokens(reasoning, card.reasoning)
  );
}

function toolCost(uses: Readonly<Record<string, number>>, price: Price): NanoUsd {
  let cost = 0;
  for (const [name, each] of price.serverTools) cost = addNanoUsd(cost, chargedTokens(uses[name]) * each);
  return cost;
}

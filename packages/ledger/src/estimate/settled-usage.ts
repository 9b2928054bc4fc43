/** Which usage a settlement is charged by: the provider's, the provider's completed by an estimate, an estimate, or none. */
import type { AttemptTarget, HoldRequest, Settlement, Usage } from "@dragoman/core";

import { chargedTokens } from "../money/index.ts";
import { mostOutput, plainUsage } from "./call-estimate.ts";

/** Where an entry's counts come from. */
export type UsageSource = "provider" | "estimate" | "none";

/** The usage to charge. */
export interface SettledUsage {
  readonly usage: Usage | null;
  readonly source: UsageSource;
}

/** What was known about the attempt when it began. */
export interface AttemptFacts {
  readonly request: HoldRequest;
  readonly target: AttemptTarget;
  /** The client dialect's estimate. */
  readonly inputTokens: number;
}

const NONE: SettledUsage = { usage: null, source: "none" };

/** Bytes of answer per token, for whole answers whose usage nobody told. English is about four, code and other scripts fewer. */
const BYTES_PER_TOKEN = 4;

/** Chooses by the settlement's rule. */
export function settledUsage(settlement: Settlement, facts: AttemptFacts): SettledUsage {
  if (facts.request.operation === "count-tokens") return NONE;
  switch (settlement.rule) {
    case "failed_free":
    case "shared":
      return NONE;
    case "actual":
    case "after_disconnect":
    case "failed_actual":
    case "estimated":
    case "partial":
    case "abandoned":
    case "recovered":
      return settlement.usage === null ? estimated(settlement, facts) : reported(settlement.usage, settlement, facts);
  }
}

function estimated(settlement: Settlement, facts: AttemptFacts): SettledUsage {
  const usage = plainUsage(chargedTokens(facts.inputTokens), broughtTokens(settlement, facts));
  return { usage, source: "estimate" };
}

/** Counts that a stream may still have replaced tell the input, but only the beginning of the output. */
function reported(usage: Usage, settlement: Settlement, facts: AttemptFacts): SettledUsage {
  const source = usage.source === "upstream" ? "provider" : "estimate";
  if (usage.final) return { usage, source };
  const output = Math.max(usage.output, broughtTokens(settlement, facts));
  const input = usage.input > 0 ? usage.input : chargedTokens(facts.inputTokens);
  if (output === usage.output && input === usage.input) return { usage, source };
  return { usage: { ...usage, input, output }, source: "estimate" };
}

/** Output that the attempt brought: what a stream's deltas were, else the bytes of a whole answer. */
function broughtTokens({ contentTokens, deliveredBytes }: Settlement, { request, target }: AttemptFacts): number {
  const tokens = contentTokens ?? Math.ceil(chargedTokens(deliveredBytes) / BYTES_PER_TOKEN);
  return Math.min(chargedTokens(tokens), mostOutput(request, target));
}

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

const NONE: SettledUsage = { usage: null, source: "none" };

/** Bytes of answer text per token, for answers whose usage nobody told. English is about four, code and other scripts fewer. */
const BYTES_PER_TOKEN = 4;

/** Chooses by the settlement's rule. `inputTokens` is the estimate made for the call. */
export function settledUsage(
  settlement: Settlement,
  request: HoldRequest,
  target: AttemptTarget,
  inputTokens: number,
): SettledUsage {
  if (request.operation === "count-tokens") return NONE;
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
      return settlement.usage === null
        ? estimated(settlement, request, target, inputTokens)
        : reported(settlement.usage, settlement, request, target, inputTokens);
  }
}

function estimated(
  { deliveredBytes }: Settlement,
  request: HoldRequest,
  target: AttemptTarget,
  inputTokens: number,
): SettledUsage {
  return {
    usage: plainUsage(chargedTokens(inputTokens), deliveredTokens(deliveredBytes, request, target)),
    source: "estimate",
  };
}

/** Counts that a stream may still have replaced tell the input, but only the beginning of the output. */
function reported(
  usage: Usage,
  { deliveredBytes }: Settlement,
  request: HoldRequest,
  target: AttemptTarget,
  inputTokens: number,
): SettledUsage {
  const source = usage.source === "upstream" ? "provider" : "estimate";
  if (usage.final) return { usage, source };
  const output = Math.max(usage.output, deliveredTokens(deliveredBytes, request, target));
  const input = usage.input > 0 ? usage.input : chargedTokens(inputTokens);
  if (output === usage.output && input === usage.input) return { usage, source };
  return { usage: { ...usage, input, output }, source: "estimate" };
}

function deliveredTokens(bytes: number, request: HoldRequest, target: AttemptTarget): number {
  return Math.min(Math.ceil(chargedTokens(bytes) / BYTES_PER_TOKEN), mostOutput(request, target));
}

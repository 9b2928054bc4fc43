// Reasoning control for a chat server, which knows one word: the effort. Budgets and switches of other dialects are mapped to it.
import { numToNumber } from "@dragoman/core";
import type { Effort, NeutralRequest, Num } from "@dragoman/core";

import type { ChatEncoding } from "./encoding.ts";

const EFFORT_ORDER: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Thinking budgets below these bounds count as the effort beside them. */
const BUDGET_EFFORTS: readonly (readonly [below: number, effort: Effort])[] = [
  [2_048, "low"],
  [8_192, "medium"],
  [24_576, "high"],
];

/** Writes `reasoning_effort`. */
export function encodeReasoning(encoding: ChatEncoding): void {
  const { request, issues, capabilities } = encoding;
  const { reasoning } = request;
  const at = encoding.originOf("reasoning");
  const { support, canDisable, defaultOn, efforts } = capabilities.reasoning;
  if (reasoning === undefined) {
    if (defaultOn && !encoding.isOwn)
      issues.adapt("reasoning_default", at, "The model reasons unless it is told otherwise.");
    return;
  }
  if (reasoning.mode === "between-tools") {
    issues.drop("reasoning_control_unsupported", at, "Servers of this dialect cannot reason between tools only.");
    return;
  }
  if (isReasoningOff(request)) {
    if (!support) return;
    const knowsWord = encoding.isOwn || efforts.length === 0 || efforts.includes("none");
    if (canDisable && knowsWord)
      encoding.optionalMember("reasoning_effort", "reasoning_control_unsupported", at)?.string("none");
    else if (!defaultOn && canDisable) return;
    else if (issues.drop("reasoning_control_unsupported", at, "The model cannot stop reasoning."))
      writeEffort(encoding, lowestEffort(efforts), at);
    return;
  }
  const wanted = reasoning.effort ?? effortOfBudget(reasoning.budgetTokens);
  if (wanted === undefined) return;
  if (!support) {
    issues.drop("reasoning_control_unsupported", at, "The model does not reason.");
    return;
  }
  if (reasoning.effort === undefined) issues.adapt("effort_mapped", at, "The budget is expressed as an effort.");
  const isBound = !capabilities.tools.withReasoning && request.tools.length > 0;
  if (isBound) issues.adapt("effort_mapped", at, "The model uses tools without reasoning only.");
  writeEffort(encoding, isBound ? "none" : wanted, at);
}

/** Whether the client turned reasoning off. */
export function isReasoningOff({ reasoning }: NeutralRequest): boolean {
  return reasoning?.mode === "off" || reasoning?.effort === "none";
}

function effortOfBudget(budget: Num | undefined): Effort | undefined {
  if (budget === undefined) return undefined;
  const tokens = numToNumber(budget);
  // −1 leaves the budget to the model, which is what saying nothing does here.
  if (tokens < 0) return undefined;
  return BUDGET_EFFORTS.find(([below]) => tokens < below)?.[1] ?? "xhigh";
}

const lowestEffort = (efforts: readonly Effort[]): Effort =>
  EFFORT_ORDER.find((effort) => effort !== "none" && efforts.includes(effort)) ?? "low";

function writeEffort(encoding: ChatEncoding, wanted: Effort, at: string): void {
  const effort = nearestEffort(wanted, encoding.capabilities.reasoning.efforts);
  if (effort !== wanted) encoding.issues.adapt("effort_mapped", at, `The model's nearest effort is ${effort}.`);
  encoding.optionalMember("reasoning_effort", "reasoning_control_unsupported", at)?.string(effort);
}

/** The word itself where it is listed or nothing is; else the nearest lower one that is listed, else the nearest higher one. */
function nearestEffort(wanted: Effort, listed: readonly Effort[]): Effort {
  if (listed.length === 0 || listed.includes(wanted)) return wanted;
  const place = EFFORT_ORDER.indexOf(wanted);
  const thinking = EFFORT_ORDER.filter((effort) => effort !== "none" && listed.includes(effort));
  const lower = thinking.filter((effort) => EFFORT_ORDER.indexOf(effort) < place);
  return lower.at(-1) ?? thinking[0] ?? wanted;
}

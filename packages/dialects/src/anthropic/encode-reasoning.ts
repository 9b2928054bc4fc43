/** Plans thinking: which mode, budget and effort express what the request asks of the model's reasoning. */
import { numToNumber, type Effort, type Num } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";
import type { Turn } from "./plan-turns.ts";

const MIN_BUDGET = 1024;

/** Share of the output limit that each effort may think with, and the budget where no limit is known. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none">, { readonly share: number; readonly fallback: number }>> = {
  minimal: { share: 0, fallback: 1024 },
  low: { share: 0.1, fallback: 4096 },
  medium: { share: 0.3, fallback: 8192 },
  high: { share: 0.6, fallback: 16_384 },
  xhigh: { share: 0.9, fallback: 24_576 },
  max: { share: 0.95, fallback: 24_576 },
};

const RISING: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];
const USUAL_EFFORTS: readonly Effort[] = ["low", "medium", "high"];

/** The nearest lower effort that a model lists, else the nearest higher one. */
function nearestEffort(effort: Effort, listed: readonly Effort[]): Effort {
  const known = listed.length === 0 ? USUAL_EFFORTS : listed;
  const wanted = RISING.indexOf(effort === "minimal" ? "low" : effort);
  for (let index = wanted; index >= 0; index--)
    if (known.includes(RISING[index] as Effort)) return RISING[index] as Effort;
  return RISING.find((candidate) => known.includes(candidate)) ?? "low";
}

/** The effort that stands for a budget where only efforts are known. */
function effortOfBudget(budget: number): Effort {
  if (budget < 2048) return "low";
  if (budget < 8192) return "medium";
  return budget < 24_576 ? "high" : "xhigh";
}

/** What goes upstream about thinking. */
export interface ThinkingPlan {
  /** The `thinking` member, without `display`, or null for none. */
  readonly mode: "adaptive" | "enabled" | "disabled" | "between_tools" | null;
  readonly budgetTokens: Num | null;
  readonly effort: Effort | null;
  readonly display: "summarized" | "omitted" | null;
}

const NOTHING: ThinkingPlan = { mode: null, budgetTokens: null, effort: null, display: null };

class ThinkingPlanner {
  readonly #encoding: Encoding;
  readonly #maxTokens: number | null;

  constructor(encoding: Encoding, maxTokens: number | null) {
    this.#encoding = encoding;
    this.#maxTokens = maxTokens;
  }

  plan(): ThinkingPlan {
    const { request, target } = this.#encoding;
    const { reasoning } = request;
    const { reasoning: able } = target.capabilities;
    if (reasoning === undefined) {
      if (able.defaultOn && request.source !== "anthropic")
        this.#adapt("reasoning_default", "The model reasons by default.");
      return NOTHING;
    }
    const { mode, effort, budgetTokens } = reasoning;
    if (mode === "off" || effort === "none") return this.#planOff();
    const isAsking = mode !== undefined || effort !== undefined || budgetTokens !== undefined;
    if (!able.support) {
      if (isAsking) this.#drop("The model does not reason.");
      return NOTHING;
    }
    if (mode === "between-tools") return this.#planBetweenTools(effort);
    if (mode === "budget" || budgetTokens !== undefined) return this.#planBudget(budgetTokens, effort);
    if (mode === "adaptive") return this.#planAdaptive(effort);
    return effort === undefined ? NOTHING : this.#planEffort(effort);
  }

  #planOff(): ThinkingPlan {
    const { reasoning: able } = this.#encoding.target.capabilities;
    // A model that never reasons has nothing to be turned off.
    if (!able.support) return NOTHING;
    if (able.canDisable) return { ...NOTHING, mode: "disabled" };
    if (!this.#drop("The model's reasoning cannot be turned off.")) return NOTHING;
    if (able.betweenTools) return { ...NOTHING, mode: "between_tools" };
    return able.adaptive ? { ...NOTHING, mode: "adaptive", effort: nearestEffort("low", able.efforts) } : NOTHING;
  }

  #planBetweenTools(effort: Effort | undefined): ThinkingPlan {
    const { reasoning: able } = this.#encoding.target.capabilities;
    if (able.betweenTools) return { ...NOTHING, mode: "between_tools", effort: this.#mapped(effort) };
    this.#drop("The model does not reason between tool calls only.");
    return effort === undefined ? NOTHING : this.#planEffort(effort);
  }

  #planAdaptive(effort: Effort | undefined): ThinkingPlan {
    const { reasoning: able } = this.#encoding.target.capabilities;
    if (able.adaptive) return { ...NOTHING, mode: "adaptive", effort: this.#mapped(effort) };
    // The vendor's own default where a request says no effort.
    return this.#planEffort(effort ?? "high");
  }

  /** An effort alone. This dialect's own clients may send it without turning thinking on. */
  #planEffort(effort: Effort): ThinkingPlan {
    const { request, target } = this.#encoding;
    const { reasoning: able } = target.capabilities;
    const isOwn = request.source === "anthropic" && request.reasoning?.mode === undefined;
    if (able.adaptive) return { ...NOTHING, mode: isOwn ? null : "adaptive", effort: this.#mapped(effort) };
    if (able.budget) return this.#budgetOfEffort(effort);
    this.#drop("The model takes neither an effort nor a budget.");
    return NOTHING;
  }

  #budgetOfEffort(effort: Effort): ThinkingPlan {
    const { share, fallback } = BUDGETS[effort === "none" ? "minimal" : effort];
    const limit = this.#maxTokens;
    const wanted = limit === null ? fallback : Math.max(MIN_BUDGET, Math.floor(limit * share));
    if (limit !== null && wanted >= limit) {
      this.#drop("The output limit leaves no room for the smallest thinking budget.");
      return NOTHING;
    }
    this.#adapt("effort_mapped", "The effort became a thinking budget.");
    return { ...NOTHING, mode: "enabled", budgetTokens: wanted };
  }

  #planBudget(budget: Num | undefined, effort: Effort | undefined): ThinkingPlan {
    const { reasoning: able } = this.#encoding.target.capabilities;
    const tokens = budget === undefined ? -1 : numToNumber(budget);
    if (tokens < 0) return able.adaptive ? this.#planAdaptive(effort) : NOTHING;
    if (able.budget) return this.#fitBudget(budget as Num, tokens, effort);
    if (!able.adaptive) {
      this.#drop("The model takes no thinking budget.");
      return NOTHING;
    }
    this.#adapt("effort_mapped", "The thinking budget became an effort.");
    return { ...NOTHING, mode: "adaptive", effort: nearestEffort(effort ?? effortOfBudget(tokens), able.efforts) };
  }

  #fitBudget(budget: Num, tokens: number, effort: Effort | undefined): ThinkingPlan {
    const plan = (budgetTokens: Num): ThinkingPlan => ({
      ...NOTHING,
      mode: "enabled",
      budgetTokens,
      // Models with budgets take an effort only where they list some.
      effort:
        effort === undefined || this.#encoding.target.capabilities.reasoning.efforts.length === 0
          ? null
          : this.#mapped(effort),
    });
    const raised = Math.max(tokens, MIN_BUDGET);
    const limit = this.#maxTokens;
    if (limit !== null && raised >= limit) {
      if (limit - 1 < MIN_BUDGET) {
        const detail = "The output limit leaves no room for the smallest thinking budget.";
        this.#encoding.issues.reject("reasoning_control_unsupported", this.#encoding.originOf("reasoning"), detail);
        return NOTHING;
      }
      this.#adapt("value_adapted", "The thinking budget was lowered below the output limit.");
      return plan(limit - 1);
    }
    if (raised === tokens) return plan(budget);
    this.#adapt("value_adapted", "The thinking budget was raised to the smallest one.");
    return plan(raised);
  }

  #mapped(effort: Effort | undefined): Effort | null {
    if (effort === undefined) return null;
    const mapped = nearestEffort(effort, this.#encoding.target.capabilities.reasoning.efforts);
    if (mapped !== effort)
      this.#adapt("effort_mapped", "The effort was replaced by the nearest one that the model has.");
    return mapped;
  }

  #adapt(code: "effort_mapped" | "value_adapted" | "reasoning_default", detail: string): void {
    this.#encoding.issues.adapt(code, this.#encoding.originOf("reasoning"), detail);
  }

  #drop(detail: string): boolean {
    return this.#encoding.issues.drop("reasoning_control_unsupported", this.#encoding.originOf("reasoning"), detail);
  }
}

/** Whether thinking text is to be shown; it needs a mode, which a model that thinks by default is given. */
function withDisplay(plan: ThinkingPlan, { request, target }: Encoding): ThinkingPlan {
  const show = request.reasoning?.show;
  const { reasoning: able } = target.capabilities;
  if (show === undefined || !able.support) return plan;
  const display = show === "summary" ? "summarized" : "omitted";
  if (plan.mode === "adaptive" || plan.mode === "enabled") return { ...plan, display };
  if (plan.mode === null && able.defaultOn && able.adaptive) return { ...plan, mode: "adaptive", display };
  return plan;
}

/**
 * With a budget, the turn that is still in its tool loop must begin with a thinking block of the model; a history that lost it would
 * be refused (extended thinking documentation, preserving thinking blocks).
 */
function checkToolLoop(plan: ThinkingPlan, turns: readonly Turn[], encoding: Encoding): ThinkingPlan {
  if (plan.mode !== "enabled") return plan;
  const last = turns.at(-1);
  const before = turns.at(-2);
  const isInLoop = last?.role === "user" && last.parts[0]?.type === "tool-result" && before?.role === "assistant";
  if (!isInLoop || before.parts[0]?.type === "reasoning") return plan;
  const detail = "The tool loop's assistant turn has no thinking block, so thinking with a budget would be refused.";
  encoding.issues.drop("reasoning_control_unsupported", encoding.originOf("reasoning"), detail);
  return NOTHING;
}

/** Plans the thinking of a request. `maxTokens` is the output limit that will be sent, or null in a counting call. */
export function planThinking(encoding: Encoding, turns: readonly Turn[], maxTokens: number | null): ThinkingPlan {
  const plan = withDisplay(new ThinkingPlanner(encoding, maxTokens).plan(), encoding);
  return checkToolLoop(plan, turns, encoding);
}

/** What follows a failed attempt, as a pure table over error, phase and attempt number. The attempt loop obeys it. */
import type { NeutralError } from "../ir/index.ts";

/** `same`: the same deployment after a pause; `next`: another one; `next-larger`: one with a larger context window; `stop`: none. */
export type Step = "same" | "next" | "next-larger" | "stop";

/** Everything the decision depends on. */
export interface StepInput {
  readonly error: NeutralError;
  readonly isCommitted: boolean;
  readonly isClientGone: boolean;
  /** Attempts made so far on this deployment, this one included. */
  readonly attemptsOnDeployment: number;
  /** Attempts that a deployment gets. */
  readonly maxAttempts: number;
  /** Whether the retry budget would grant one more attempt on the same deployment. */
  readonly hasRetryBudget: boolean;
  /** How long an upstream may ask us to wait before the next candidate is the better choice, in milliseconds. */
  readonly maxRetryAfterMs: number;
  /** Codes or classes that the model's policy sends to the next candidate although the table says stop. */
  readonly nextOn: ReadonlySet<string>;
}

/** Decides what follows a failed attempt. */
export function nextStep(input: StepInput): Step {
  const { error } = input;
  if (input.isCommitted || input.isClientGone) return "stop";
  if (mayRetrySame(input)) return "same";
  if (error.fallback === "larger-window") return "next-larger";
  if (error.fallback || isSentOn(input)) return "next";
  return "stop";
}

const isSentOn = ({ error, nextOn }: StepInput): boolean =>
  nextOn.has(error.class) || (error.code !== undefined && nextOn.has(error.code));

const mayRetrySame = (input: StepInput): boolean => {
  const { error } = input;
  if (!error.retrySame || !input.hasRetryBudget) return false;
  if (input.attemptsOnDeployment >= attemptLimit(input)) return false;
  return (error.retryAfterMs ?? 0) <= input.maxRetryAfterMs;
};

/** A broken answer is worth one more try: the second one of the same kind is no accident. */
const attemptLimit = (input: StepInput): number =>
  input.error.class === "protocol" ? Math.min(2, input.maxAttempts) : input.maxAttempts;

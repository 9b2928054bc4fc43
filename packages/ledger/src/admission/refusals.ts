/** Refusals as clients are told: what is used up, whose it is, and when it is worth asking again. */
import type { AdmissionRefusal, NeutralError } from "@dragoman/core";

import { describeLimit, type Blocked, type Scope } from "../limits/index.ts";

const WHOSE: Readonly<Record<Scope, string>> = {
  key: "this key",
  owner: "this key's owner",
  "each-key": "this key",
  "end-user": "this end user",
  model: "this model",
  deployment: "this model's deployment",
  global: "this gateway",
};

/** Scopes whose figures are the operator's business, not the caller's. */
const PRIVATE_SCOPES: ReadonlySet<Scope> = new Set<Scope>(["deployment", "global"]);

/** The refusal by a limit: 429 for rates and calls at once, a spent budget otherwise. */
export function refuseBlocked(blocked: Blocked): AdmissionRefusal {
  const { limit, scope, retryAfterMs } = blocked;
  const kind: Pick<NeutralError, "class" | "code"> =
    limit?.dimension === "nanoUsd"
      ? { class: "quota", code: "budget_exceeded" }
      : { class: "rate-limit", code: "rate_limited" };
  const error: NeutralError = {
    ...kind,
    origin: "gateway",
    message: messageOf(blocked),
    retrySame: false,
    fallback: scope === "deployment",
    details: detailsOf(blocked),
  };
  return { error: retryAfterMs === null ? error : { ...error, retryAfterMs } };
}

/** The refusal of a model without a price where a budget would have to know it. */
export function refuseUnpriced(model: string): AdmissionRefusal {
  const message = `The model "${model}" has no price, so it cannot be used under a budget.`;
  return {
    error: {
      class: "permission",
      origin: "gateway",
      message,
      code: "model_unpriced",
      retrySame: false,
      fallback: true,
    },
  };
}

/** The refusal while limits cannot be counted and nothing may be let in without. */
export function refuseUncounted(): AdmissionRefusal {
  return {
    error: {
      class: "overloaded",
      origin: "gateway",
      message: "Limits cannot be counted now, so no request is let in.",
      code: "ledger_unavailable",
      retrySame: false,
      fallback: false,
      retryAfterMs: UNCOUNTED_RETRY_MS,
    },
  };
}

const UNCOUNTED_RETRY_MS = 1_000;

function messageOf({ limit, scope, retryAfterMs, resetMs }: Blocked): string {
  if (limit === null) return `As many calls of ${WHOSE[scope]} are running as may run at once.`;
  const figures = PRIVATE_SCOPES.has(scope) ? "" : ` (${describeLimit(limit)})`;
  const name = limit.dimension === "nanoUsd" ? "budget" : "limit";
  if (retryAfterMs === null) return `The request is larger than the whole ${name} of ${WHOSE[scope]}${figures}.`;
  const reset = resetMs === null ? "" : ` It resets at ${new Date(resetMs).toISOString()}.`;
  return `The ${name} of ${WHOSE[scope]}${figures} has no room for the request.${reset}`;
}

function detailsOf({ limit, scope, resetMs }: Blocked): Readonly<Record<string, unknown>> {
  return {
    scope,
    limit: limit === null ? "parallel" : limit.dimension === "nanoUsd" ? "usd" : limit.dimension,
    ...(limit === null ? {} : { per: limit.per }),
    ...(resetMs === null ? {} : { resetsAt: new Date(resetMs).toISOString() }),
  };
}

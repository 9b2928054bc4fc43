/** Which deployment serves a request, and what follows when one fails. Pure decisions and their state; no sockets. */
export { nextStep } from "./next-step.ts";
export type { Step, StepInput } from "./next-step.ts";
export { backoffMs, DEFAULT_BACKOFF } from "./backoff.ts";
export type { BackoffLimits } from "./backoff.ts";
export { RetryBudget } from "./retry-budget.ts";
export { DEFAULT_BREAKER, DeploymentHealth } from "./health.ts";
export type { BreakerLimits, HealthCall, Unavailability } from "./health.ts";
export { CREDENTIAL_RETRY_MS, HealthBoard } from "./health-board.ts";
export { orderByWeight } from "./order.ts";
export { chooseDialect, Plan } from "./plan.ts";
export type { PlanCandidate, EncodeFor, PlanOptions, RefusedDeployment, RestingDeployment } from "./plan.ts";

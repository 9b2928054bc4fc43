/** One log line per exchange: who asked for what, who served it, how it ended. No content, no secret. */
import type { ExchangeOutcome, Logger } from "@dragoman/core";

import type { Gateway } from "../create-gateway.ts";

/** Writes a line for each outcome from now on. */
export function logOutcomes(gateway: Gateway, logger: Logger): void {
  gateway.events.on("outcome", (outcome) => {
    logger.info(describeOutcome(outcome), "request");
  });
}

const describeOutcome = (outcome: ExchangeOutcome): Readonly<Record<string, unknown>> => ({
  requestId: outcome.requestId,
  generation: outcome.generation,
  dialect: outcome.clientDialect,
  operation: outcome.operation,
  principal: outcome.principalId,
  model: outcome.model,
  stream: outcome.isStream,
  status: outcome.status,
  error: outcome.error === null ? null : (outcome.error.code ?? outcome.error.class),
  errorDetail: outcome.error?.origin === "upstream" ? outcome.error.class : null,
  clientGone: outcome.isClientGone,
  deployment: outcome.deploymentId,
  attempts: outcome.attempts.map(({ deploymentId, rule, upstreamRequestId, startedMs, endedMs }) => ({
    deployment: deploymentId,
    rule,
    upstreamRequestId,
    ms: endedMs - startedMs,
  })),
  inputTokens: outcome.usage?.input ?? null,
  outputTokens: outcome.usage?.output ?? null,
  stop: outcome.stopWord,
  adaptations: [...new Set(outcome.issues.map(({ code }) => code))],
  ms: outcome.endedMs - outcome.startedMs,
  counts: outcome.counts,
});

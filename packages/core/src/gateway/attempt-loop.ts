/** Tries a plan's candidates until one has answered, as `nextStep` says, and chooses the error to report when none has. */
import type { Credential, Deployment, ResolvedModel } from "../config/index.ts";
import type { NeutralError } from "../ir/index.ts";
import { scan } from "../json/index.ts";
import { backoffMs, nextStep, type PlanCandidate, type Plan, type Step } from "../route/index.ts";
import type { ErrorAnswer } from "./answer-error.ts";
import type { AttemptResult } from "./attempt-host.ts";
import { Attempt } from "./attempt.ts";
import { Deadline } from "./deadlines.ts";
import type { Exchange } from "./exchange.ts";
import { allResting, noCredential } from "./failures.ts";
import { maskSecrets } from "./mask-secrets.ts";
import type { AdmissionRefusal, AttemptTarget, MaybeAsync } from "./ports.ts";
import { refusePlan } from "./refusal.ts";

interface FailedAttempt {
  readonly error: NeutralError;
  readonly answer: ErrorAnswer | null;
  readonly candidate: PlanCandidate;
}

/** Runs the attempts. Null = the client has its answer, was told, or is gone. */
export async function runAttempts(exchange: Exchange, plan: Plan, model: ResolvedModel): Promise<NeutralError | null> {
  const { engine } = exchange;
  let candidate = plan.next(exchange.clock.nowMs());
  if (candidate === null) return answerEstimate(exchange, model) ? null : explainEmpty(exchange, plan);
  const holding = hold(exchange, model, candidate.deployment);
  const held = holding instanceof Promise ? await holding : holding;
  if (held !== null) return held.error;
  if (exchange.expiry !== null) return exchange.expiry;
  if (exchange.isClientGone) return null;
  engine.retryBudget.earn();
  setExchangeDeadlines(exchange, candidate);
  exchange.deploymentsTried += 1;
  const failures: FailedAttempt[] = [];
  let attemptsOnDeployment = 0;
  while (candidate !== null) {
    exchange.candidate = candidate;
    exchange.issues = candidate.issues;
    const { result, credential } = await runOne(exchange, candidate);
    attemptsOnDeployment += 1;
    if (result.kind !== "failed") {
      if (result.kind === "broken") exchange.answers.note(result.error);
      return exchange.delivery.isIdle ? exchange.expiry : null;
    }
    failures.push({ error: result.error, answer: result.answer, candidate });
    if (exchange.expiry !== null) return exchange.expiry;
    if (exchange.isClientGone) return null;
    if (hasOtherCredential(exchange, candidate, credential, result.error)) {
      attemptsOnDeployment -= 1;
      continue;
    }
    const step = decide(exchange, model, candidate, result.error, attemptsOnDeployment);
    if (step === "same") {
      engine.retryBudget.spend(exchange.clock.nowMs());
      await exchange.pause(
        backoffMs(attemptsOnDeployment, engine.ports.random.next(), result.error.retryAfterMs, engine.backoff),
      );
      if (exchange.expiry !== null) return exchange.expiry;
      if (exchange.isClientGone) return null;
      continue;
    }
    if (step === "stop") break;
    const minWindow: number | null =
      step === "next-larger" ? (candidate.deployment.capabilities.contextWindow ?? 0) : null;
    candidate = plan.next(exchange.clock.nowMs(), minWindow);
    if (candidate !== null) exchange.deploymentsTried += 1;
    attemptsOnDeployment = 0;
  }
  return report(exchange, failures);
}

function decide(
  exchange: Exchange,
  model: ResolvedModel,
  candidate: PlanCandidate,
  error: NeutralError,
  attemptsOnDeployment: number,
): Step {
  const { health, retryBudget } = exchange.engine;
  const nowMs = exchange.clock.nowMs();
  const nextOn = model.model.options["nextOn"];
  // A deployment whose breaker this very failure has opened is not hit again.
  const isOpen = health.deployment(candidate.deployment).unavailable(nowMs)?.cause === "breaker";
  return nextStep({
    error,
    isCommitted: false,
    isClientGone: exchange.isClientGone,
    attemptsOnDeployment,
    maxAttempts: model.model.attempts,
    hasRetryBudget: !isOpen && retryBudget.hasRoom(nowMs),
    maxRetryAfterMs: exchange.limits.maxRetryAfterMs,
    nextOn: new Set(Array.isArray(nextOn) ? (nextOn as readonly string[]) : []),
  });
}

function hold(exchange: Exchange, model: ResolvedModel, first: Deployment): MaybeAsync<AdmissionRefusal | null> {
  const { document, client, ticket } = exchange;
  if (ticket === null) return null;
  return ticket.hold({
    ...(document === null ? null : client.readBounds?.(document)),
    ...(exchange.endUser === null ? null : { endUser: exchange.endUser }),
    model: model.name,
    operation: exchange.operation,
    first: { deploymentId: first.id, target: targetOf(first) },
    bodyBytes: document === null ? 0 : exchange.body.bytes.byteLength,
    estimateInputTokens: () => (document === null ? 0 : client.estimateInputTokens(document)),
  });
}

function setExchangeDeadlines(exchange: Exchange, candidate: PlanCandidate): void {
  const { totalMs, commitAfterMs } = candidate.deployment.timeouts;
  exchange.deadlines.set(Deadline.total, totalMs);
  if (commitAfterMs !== null && exchange.isStream) exchange.deadlines.set(Deadline.commitAfter, commitAfterMs);
}

/** One attempt with its holds, its health verdict and its one settlement. */
async function runOne(
  exchange: Exchange,
  candidate: PlanCandidate,
): Promise<{ readonly result: AttemptResult; readonly credential: Credential | null }> {
  const { engine, ticket, clock } = exchange;
  const { deployment } = candidate;
  const credential = engine.health.pickCredential(
    deployment.provider.id,
    deployment.provider.credentials,
    exchange.snapshot.generation,
    clock.nowMs(),
  );
  if (credential === null) return { result: { kind: "failed", error: noCredential(), answer: null }, credential: null };
  // The last step before the call: from here on exactly one settlement follows.
  const entering = ticket?.attempt(deployment.id, targetOf(deployment)) ?? null;
  const refusal = entering instanceof Promise ? await entering : entering;
  if (refusal !== null)
    return { result: { kind: "failed", error: { ...refusal.error, fallback: true }, answer: null }, credential: null };
  const attempt = new Attempt(exchange, candidate, credential);
  if (exchange.expiry !== null || exchange.isClientGone) {
    // Nobody waits any more: it was let in too late, and nothing is sent.
    const settlement = attempt.settlement();
    exchange.settlements.push(settlement);
    ticket?.settle(settlement);
    return { result: { kind: "abandoned" }, credential: null };
  }
  const health = engine.health.deployment(deployment);
  exchange.attempt = attempt;
  exchange.attemptsStarted += 1;
  const call = health.begin(clock.nowMs());
  attempt.start();
  const result = await attempt.result;
  const settlement = attempt.settlement();
  exchange.settlements.push(settlement);
  ticket?.settle(settlement);
  if (attempt.hasTrailingConnection) attempt.trail(exchange.limits.trailingMs, engine.tracker.begin());
  if (result.kind === "answered") health.succeed(call, clock.nowMs());
  else if (result.kind === "abandoned") health.abandon(call);
  else {
    health.fail(call, result.error, clock.nowMs(), exchange.limits.maxCooldownMs);
    if (isCredentialFault(result.error))
      engine.health.markCredentialDead(credential.id, exchange.snapshot.generation, clock.nowMs());
  }
  return { result, credential };
}

function targetOf({ provider, model, capabilities: { contextWindow, maxOutputTokens } }: Deployment): AttemptTarget {
  return {
    provider: provider.id,
    upstreamModel: model,
    ...(contextWindow === undefined ? null : { contextWindow }),
    ...(maxOutputTokens === undefined ? null : { maxOutputTokens }),
  };
}

const isCredentialFault = (error: NeutralError): boolean =>
  error.origin === "upstream" && (error.class === "auth" || error.class === "permission");

/** A refused credential is no verdict about the deployment when the account has another one. */
function hasOtherCredential(
  exchange: Exchange,
  candidate: PlanCandidate,
  used: Credential | null,
  error: NeutralError,
): boolean {
  if (used === null || !isCredentialFault(error)) return false;
  const { health } = exchange.engine;
  const nowMs = exchange.clock.nowMs();
  return candidate.deployment.provider.credentials.some(
    (other) => other.id !== used.id && !health.isCredentialDead(other.id, exchange.snapshot.generation, nowMs),
  );
}

/** A model may have its token counts estimated where no deployment can count; the answer is then the gateway's own. */
function answerEstimate(exchange: Exchange, model: ResolvedModel): boolean {
  const { document, client } = exchange;
  if (exchange.operation !== "count-tokens" || model.model.options["countEstimate"] !== true || document === null)
    return false;
  exchange.count("tokens_estimated");
  exchange.answers.local(client.encodeTokenCount(client.estimateInputTokens(document)));
  return true;
}

/** No candidate was left to try at all. */
function explainEmpty(exchange: Exchange, plan: Plan): NeutralError {
  if (plan.resting.length > 0) return allResting(Math.min(...plan.resting.map((resting) => resting.retryAfterMs)));
  return exchange.neutralError ?? refusePlan(plan.refused, exchange.principal?.debug === true);
}

/**
 * The error to tell: a rate limit if any attempt met one, with the shortest wait among them, else the last attempt's. A body of
 * the request's own fault goes to clients of the same dialect as the provider wrote it, since agents match its wording.
 */
function report(exchange: Exchange, failures: readonly FailedAttempt[]): NeutralError | null {
  const limited = failures.filter((failure) => failure.error.class === "rate-limit");
  const waitOf = (failure: FailedAttempt): number => failure.error.retryAfterMs ?? Number.POSITIVE_INFINITY;
  const chosen =
    limited.length > 0
      ? limited.reduce((best, failure) => (waitOf(failure) < waitOf(best) ? failure : best))
      : failures.at(-1);
  if (chosen === undefined) return null;
  const verbatim = verbatimBody(chosen);
  if (verbatim === null || !exchange.delivery.isIdle) return chosen.error;
  exchange.answers.verbatim(chosen.answer?.status ?? 400, chosen.error, verbatim);
  return null;
}

const OWN_FAULT = new Set<NeutralError["class"]>(["invalid-request", "context-length", "content-policy"]);

function verbatimBody({ error, answer, candidate }: FailedAttempt): Uint8Array | null {
  if (answer === null || !answer.isWhole || !candidate.isForward || !OWN_FAULT.has(error.class)) return null;
  if (answer.status < 400 || answer.status >= 500) return null;
  const scanned = scan(answer.body, { duplicates: "last-wins" });
  if (!scanned.ok || !scanned.document.isObject(scanned.document.root)) return null;
  const text = Buffer.from(answer.body).toString("utf8");
  const secrets = candidate.deployment.provider.credentials.map((credential) => credential.secret);
  return Buffer.from(maskSecrets(text, secrets), "utf8");
}

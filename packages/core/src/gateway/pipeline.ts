/** The steps of an exchange, in order: authenticate, admit, read, plan, hold, attempt, deliver. Each step is a value or the error that ends it. */
import { findHeader, type EncodeResult, type EncodeTarget, type ProviderDialect } from "../dialect/index.ts";
import { isModelAllowed, type ResolvedModel } from "../config/index.ts";
import type { NeutralError } from "../ir/index.ts";
import { Plan } from "../route/index.ts";
import { runAttempts } from "./attempt-loop.ts";
import { Deadline } from "./deadlines.ts";
import { isOnlyAccount, makeTarget } from "./encode-target.ts";
import { ExchangeTiming } from "./exchange-timing.ts";
import type { Exchange } from "./exchange.ts";
import {
  bodyFailure,
  forbiddenModel,
  internalFailure,
  jsonFailure,
  tooManyFailures,
  unauthorized,
  unknownModel,
  unsupportedMedia,
} from "./failures.ts";
import { listModels } from "./model-list.ts";
import { readTrustedNames } from "./trusted-headers.ts";
import type { AdmissionResult, BodyBuffer, MaybeAsync } from "./ports.ts";

/**
 * Runs one exchange to its end; with a `refusal` that end comes at once. Never rejects: what is thrown inside ends the exchange
 * with an internal error.
 */
export async function runExchange(exchange: Exchange, refusal: NeutralError | null): Promise<void> {
  try {
    const error = refusal ?? (await serve(exchange));
    if (error !== null) exchange.answers.refuse(error);
    // A step that ends without an answer or an error is a defect; the client must not wait for it.
    else if (exchange.delivery.isIdle) exchange.answers.refuse(internalFailure());
  } catch (thrown) {
    exchange.reportDefect(thrown);
    endAfterDefect(exchange);
  }
  if (exchange.delivery.isOpen) exchange.deadlines.set(Deadline.stall, exchange.limits.clientStallMs);
  await exchange.delivered();
  closeTicket(exchange);
  const outcome = exchange.close();
  for (const observer of exchange.engine.observers) {
    try {
      observer.onOutcome(outcome);
    } catch (thrown) {
      exchange.reportDefect(thrown);
    }
  }
  const { hooks } = exchange.engine;
  if (hooks.hooks.length > 0) await hooks.runOutcomeHooks(outcome);
}

/** The dialect that failed may fail again when it is to write the error: then the connection is all that is left to tell by. */
function endAfterDefect(exchange: Exchange): void {
  try {
    if (exchange.delivery.isIdle) exchange.answers.refuse(internalFailure());
  } catch (thrown) {
    exchange.reportDefect(thrown);
  }
  exchange.delivery.abort();
}

function closeTicket(exchange: Exchange): void {
  try {
    exchange.ticket?.close();
  } catch (thrown) {
    exchange.reportDefect(thrown);
  }
}

async function serve(exchange: Exchange): Promise<NeutralError | null> {
  const stranger =
    authenticate(exchange) ?? exchange.client.checkHeaders(exchange.request.headers) ?? readTrusted(exchange);
  if (stranger !== null) return stranger;
  if (exchange.isDebug) exchange.timing = new ExchangeTiming(exchange.clock);
  const admitting = admit(exchange);
  const refusal = admitting instanceof Promise ? await admitting : admitting;
  if (refusal !== null) return refusal;
  const operation = exchange.route?.operation;
  if (operation === "list-models" || operation === "get-model") return listModels(exchange, operation);
  const unreadable = checkMedia(exchange) ?? (await readBody(exchange));
  if (unreadable !== null) return unreadable;
  const asked = resolveModel(exchange);
  if ("class" in asked) return asked;
  const hooked = exchange.engine.hooks.hasRequestHooks ? await runRequestHooks(exchange) : null;
  if (hooked !== null) return hooked;
  // A hook may have changed the model; permission is checked on what is dispatched.
  const model = exchange.engine.hooks.hasRequestHooks ? resolveModel(exchange) : asked;
  if ("class" in model) return model;
  if (exchange.isClientGone) return null;
  return runAttempts(exchange, makePlan(exchange, model), model);
}

/** Finds who is calling, by headers and query alone: no byte of a body is read for a stranger. Only failures are throttled. */
function authenticate(exchange: Exchange): NeutralError | null {
  if (exchange.principal !== null) return null;
  const failure = identify(exchange);
  if (failure === null) return null;
  const { engine, request, snapshot, startedMs } = exchange;
  const waitMs = engine.authThrottle?.fail(request, snapshot.server, startedMs) ?? null;
  return waitMs === null ? failure : tooManyFailures(waitMs);
}

/** A trusted caller may say whose the request is. Of anybody else these headers are not even read. */
function readTrusted(exchange: Exchange): NeutralError | null {
  const { principal } = exchange;
  if (principal?.isTrusted !== true) return null;
  const names = readTrustedNames(exchange.request.headers);
  if ("class" in names) return names;
  exchange.endUser = names.endUser;
  if (names.tags.length > 0)
    exchange.principal = { ...principal, tags: [...new Set([...principal.tags, ...names.tags])] };
  return null;
}

function identify(exchange: Exchange): NeutralError | null {
  const reading = exchange.client.readCredential(exchange.request.headers, exchange.request.query);
  if (!reading.ok) return unauthorized("The request carries two different credentials; send one.");
  if (reading.secret === null)
    return unauthorized(
      "The request carries no API key. Send it as `Authorization: Bearer …` or in the header that your client's API uses.",
    );
  const { ports, authenticatorOf } = exchange.engine;
  const hash = ports.hasher.sha256Hex(reading.secret);
  exchange.principal = authenticatorOf(exchange.snapshot).authenticate(hash, exchange.startedMs);
  return exchange.principal === null ? unauthorized("Incorrect API key provided.") : null;
}

function admit(exchange: Exchange): MaybeAsync<NeutralError | null> {
  const { principal } = exchange;
  if (principal === null) return internalFailure();
  const admission = exchange.engine.ports.admission.open(principal, {
    requestId: exchange.requestId,
    startedMs: exchange.startedMs,
    generation: exchange.snapshot.generation,
    clientDialect: exchange.client.id,
  });
  return admission instanceof Promise
    ? admission.then((result) => takeTicket(exchange, result))
    : takeTicket(exchange, admission);
}

/** A client that left while limits were asked for elsewhere never held a place for long. */
function takeTicket(exchange: Exchange, admission: AdmissionResult): NeutralError | null {
  if (!admission.ok) return admission.refusal.error;
  exchange.ticket = admission.ticket;
  if (exchange.isClientGone) admission.ticket.releaseClient();
  return null;
}

/** Bodies are JSON, not encoded; a missing content type is taken as JSON, which the scan then shows. */
function checkMedia(exchange: Exchange): NeutralError | null {
  const contentType = findHeader(exchange.request.headers, "content-type");
  if (contentType !== undefined && !/^\s*application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i.test(contentType))
    return unsupportedMedia("The content type of the request must be application/json.");
  const encoding = findHeader(exchange.request.headers, "content-encoding");
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity")
    return unsupportedMedia("The request body must not be compressed: send it without content-encoding.");
  return null;
}

async function readBody(exchange: Exchange): Promise<NeutralError | null> {
  const { maxBodyBytes } = exchange.limits;
  const reading = await exchange.request.readBody(maxBodyBytes);
  if (!reading.ok) return bodyFailure(reading.reason, maxBodyBytes);
  exchange.hasUnreadBody = false;
  exchange.timing?.markBody();
  exchange.requestBody.keep(reading.body);
  return readRequest(exchange);
}

/** Scans the body that the exchange holds and reads its head. */
function readRequest(exchange: Exchange): NeutralError | null {
  const document = exchange.requestBody.scan();
  if ("code" in document) return jsonFailure(document);
  if (exchange.route === null) return internalFailure();
  const head = exchange.client.readHead(document, exchange.route);
  if (!head.ok) return head.error;
  exchange.head = head.head;
  return null;
}

/** Asks the request hooks in order; each sees what the one before it left. */
async function runRequestHooks(exchange: Exchange): Promise<NeutralError | null> {
  const { hooks } = exchange.engine;
  for (const hook of hooks.hooks) {
    const view = exchange.hookView();
    if (view === null) return internalFailure();
    const decision = await hooks.runRequestHook(hook, { ...view, document: exchange.document });
    if (decision.kind === "refused") return decision.error;
    if (decision.kind === "continue") continue;
    exchange.replaceBody(plainBody(decision.body));
    const unreadable = readRequest(exchange);
    if (unreadable !== null) return unreadable;
  }
  return null;
}

/** A body outside the pool: the garbage collector is its owner. */
const plainBody = (bytes: Uint8Array): BodyBuffer => ({ bytes, retain: () => undefined, release: () => undefined });

function resolveModel(exchange: Exchange): ResolvedModel | NeutralError {
  const name = exchange.head.model;
  const model = exchange.snapshot.findModel(name);
  if (model === null) return unknownModel(name);
  const allowed = exchange.principal?.models ?? [];
  return isModelAllowed(allowed, name) || isModelAllowed(allowed, model.name) ? model : forbiddenModel(name);
}

function makePlan(exchange: Exchange, model: ResolvedModel): Plan {
  const { engine } = exchange;
  const isSole = isOnlyAccount(model.tiers);
  return new Plan({
    model,
    clientDialect: exchange.client.id,
    operation: exchange.operation,
    registry: engine.registry,
    health: engine.health,
    random: () => engine.ports.random.next(),
    encode: (deployment, provider, isForward) =>
      encodeFor(exchange, makeTarget(deployment, provider, isSole), provider, isForward),
  });
}

const NOT_ENCODED: EncodeResult = { ok: false, issues: [] };

function encodeFor(
  exchange: Exchange,
  target: EncodeTarget,
  provider: ProviderDialect,
  isForward: boolean,
): EncodeResult {
  const { document, head, request, operation } = exchange;
  if (document === null) return NOT_ENCODED;
  if (isForward) return provider.forwardRequest(document, head, operation, request.headers, target);
  const neutral = decodeOnce(exchange);
  return neutral === null ? NOT_ENCODED : provider.encodeRequest(neutral, target);
}

/** The neutral request is made on first need and shared by all candidates of other dialects. */
function decodeOnce(exchange: Exchange): Exchange["neutral"] {
  if (exchange.neutral !== null || exchange.neutralError !== null) return exchange.neutral;
  if (exchange.document === null || exchange.route === null) return null;
  const decoded = exchange.client.decodeRequest(
    exchange.document,
    exchange.head,
    exchange.route,
    exchange.request.headers,
  );
  if (decoded.ok) exchange.neutral = decoded.request;
  else exchange.neutralError = decoded.error;
  return exchange.neutral;
}

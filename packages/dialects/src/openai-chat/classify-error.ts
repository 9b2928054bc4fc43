// Upstream errors of this dialect in the one classification: by code and type first, then by status, then by the few texts that have
// no code. Error bodies come in many envelopes, as HTML, or not at all; all of that is tolerated.
import { ABSENT, Scanner, findHeader } from "@dragoman/core";
import type {
  DecodeContext,
  Document,
  ErrorClass,
  HeaderList,
  NeutralError,
  NodeIndex,
  UpstreamErrorAnswer,
} from "@dragoman/core";

import { isContextLengthText, isSpendingText } from "../shared/error-text.ts";
import { fixedTextOf, upstreamError } from "../shared/neutral-error.ts";
import { readRetryAfterMs, readShouldRetry, relayedRetryAfter } from "../shared/retry-after.ts";
import { stringOf } from "../shared/string-value.ts";

/** What an error body says, whatever its envelope. */
interface ErrorFacts {
  readonly message: string;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** A numeric `code` of an HTTP error range, where streams have no status of their own. */
  readonly numericCode: number | undefined;
}

const NO_FACTS: ErrorFacts = {
  message: "",
  type: undefined,
  code: undefined,
  param: undefined,
  numericCode: undefined,
};

/** Error codes and types with a class of their own (OpenAI API reference, error codes; vendors' additions). */
const CLASS_OF_WORD: Readonly<Record<string, ErrorClass>> = {
  context_length_exceeded: "context-length",
  content_policy_violation: "content-policy",
  content_filter: "content-policy",
  moderation_blocked: "content-policy",
  ResponsibleAIPolicyViolation: "content-policy",
  insufficient_quota: "quota",
  credit_balance_exhausted: "quota",
  organization_spend_limit_exceeded: "quota",
  project_spend_limit_exceeded: "quota",
  organization_usage_limit_exceeded: "quota",
  billing_hard_limit_reached: "quota",
  invalid_api_key: "auth",
  authentication_error: "auth",
  model_not_found: "not-found",
  DeploymentNotFound: "not-found",
  unsupported_country_region_territory: "permission",
  permission_denied: "permission",
  permission_error: "permission",
  rate_limit_exceeded: "rate-limit",
  rate_limit_error: "rate-limit",
  slow_down: "rate-limit",
  tokens: "rate-limit",
  requests: "rate-limit",
  server_is_overloaded: "overloaded",
  service_unavailable_error: "overloaded",
  service_unavailable: "overloaded",
  overloaded_error: "overloaded",
  capacity_exceeded: "overloaded",
  timeout: "timeout",
  timeout_error: "timeout",
  server_error: "upstream-5xx",
  internal_server_error: "upstream-5xx",
  api_error: "upstream-5xx",
  invalid_request_error: "invalid-request",
};

/** Words that decide only where no HTTP status does, or under the statuses named here. */
const WORDS_BY_STATUS: Readonly<Record<number, ReadonlySet<ErrorClass>>> = {
  400: new Set<ErrorClass>(["context-length", "content-policy"]),
  403: new Set<ErrorClass>(["content-policy"]),
  413: new Set<ErrorClass>(["context-length"]),
  422: new Set<ErrorClass>(["context-length", "content-policy"]),
  429: new Set<ErrorClass>(["quota"]),
};

/** Classifies an HTTP error answer. `body` was cut at a bound by the caller. */
export function classifyError(answer: UpstreamErrorAnswer, context: DecodeContext): NeutralError {
  const { status, headers, nowMs } = answer;
  const facts = readErrorBody(answer.body);
  const errorClass = classOfStatus(status, facts, context);
  return upstreamError(errorClass, facts.message === "" ? fixedTextOf(errorClass) : facts.message, {
    status,
    code: facts.code,
    type: facts.type,
    param: facts.param,
    retryAfterMs: readRetryAfterMs(headers, nowMs),
    retryAfterHeaders: relayedRetryAfter(headers),
    // A redirect is never followed; the next try would be redirected too.
    retrySame: status >= 300 && status < 400 ? false : readShouldRetry(headers),
    upstreamRequestId: requestIdOf(headers),
  });
}

/** Classifies an error record inside a stream, or an `error` member of an answer with status 200. */
export function classifyErrorNode(document: Document, node: NodeIndex, context: DecodeContext): NeutralError {
  const facts = factsOf(document, node);
  const errorClass = classOfFacts(facts, context);
  return upstreamError(errorClass, facts.message === "" ? fixedTextOf(errorClass) : facts.message, {
    code: facts.code,
    type: facts.type,
    param: facts.param,
    upstreamRequestId: requestIdOf(context.headers),
  });
}

function classOfFacts(facts: ErrorFacts, context: DecodeContext): ErrorClass {
  const byWord = classOfWords(facts);
  if (byWord === "invalid-request" && isTooLong(facts, 400, context)) return "context-length";
  if (byWord !== undefined) return byWord;
  if (facts.numericCode !== undefined) return classOfStatus(facts.numericCode, facts, context);
  return isTooLong(facts, undefined, context) ? "context-length" : "upstream-5xx";
}

function classOfWords(facts: ErrorFacts): ErrorClass | undefined {
  return wordClass(facts.code) ?? wordClass(facts.type);
}

const wordClass = (word: string | undefined): ErrorClass | undefined =>
  word !== undefined && Object.hasOwn(CLASS_OF_WORD, word) ? CLASS_OF_WORD[word] : undefined;

function classOfStatus(status: number, facts: ErrorFacts, context: DecodeContext): ErrorClass {
  const words = WORDS_BY_STATUS[status];
  const byCode = wordClass(facts.code);
  const byType = wordClass(facts.type);
  if (byCode !== undefined && words?.has(byCode) === true) return byCode;
  if (byType !== undefined && words?.has(byType) === true) return byType;
  if (status < 300) return "protocol";
  switch (status) {
    case 400:
    case 422:
      return isTooLong(facts, status, context) ? "context-length" : "invalid-request";
    case 401:
      return "auth";
    case 402:
      return "quota";
    case 403:
      return "permission";
    case 404:
      return "not-found";
    case 408:
    case 504:
    case 524:
      return "timeout";
    case 409:
      return /lock/i.test(facts.message) ? "timeout" : "invalid-request";
    case 413:
      return isTooLong(facts, status, context) ? "context-length" : "too-large";
    case 429:
      return isOutOfMoney(facts, context) ? "quota" : "rate-limit";
    case 498:
    case 503:
    case 529:
      return "overloaded";
    default:
      return classOfRange(status);
  }
}

function classOfRange(status: number): ErrorClass {
  if (status < 400) return "protocol";
  return status < 500 ? "invalid-request" : "upstream-5xx";
}

function isTooLong(facts: ErrorFacts, status: number | undefined, context: DecodeContext): boolean {
  if (!isContextLengthText(facts.message, status)) return false;
  context.count("error_text_match");
  return true;
}

/** Only where no code speaks: a rate limit's text may name billing pages. */
function isOutOfMoney(facts: ErrorFacts, context: DecodeContext): boolean {
  if (classOfWords(facts) !== undefined || !isSpendingText(facts.message)) return false;
  context.count("error_text_match");
  return true;
}

function requestIdOf(headers: HeaderList): string | undefined {
  return findHeader(headers, "x-request-id") ?? findHeader(headers, "apim-request-id");
}

/** Bytes of a body that is no JSON which may serve as a message. */
const MAX_TEXT_BYTES = 512;

function readErrorBody(body: Uint8Array): ErrorFacts {
  const document = new Scanner({ duplicates: "last-wins" }).scan(body, 0, body.length);
  if (document !== null) return factsOf(document, document.root);
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, MAX_TEXT_BYTES)).toString("utf8");
  // A page is for a browser; its markup says nothing to a client.
  return /^\s*</.test(text) ? NO_FACTS : { ...NO_FACTS, message: text.trim() };
}

/** Finds the error inside its envelope: `error`, `errors`, `detail`, the object itself, or the first element of a list. */
function factsOf(document: Document, root: NodeIndex): ErrorFacts {
  const node = document.isArray(root) ? document.firstElement(root) : root;
  if (document.isString(node)) return { ...NO_FACTS, message: document.string(node) };
  if (!document.isObject(node)) return NO_FACTS;
  for (const name of ["error", "errors", "detail"]) {
    const inner = document.member(node, name);
    if (inner === ABSENT || document.isNull(inner)) continue;
    if (name === "error" && document.isObject(inner)) return factsOfObject(document, inner, node);
    return { ...factsOfObject(document, node, node), message: textOf(document, inner) };
  }
  return factsOfObject(document, node, node);
}

function factsOfObject(document: Document, node: NodeIndex, envelope: NodeIndex): ErrorFacts {
  const code = document.member(node, "code");
  const number = document.isNumber(code) ? document.number(code) : statusText(wordOf(document, code));
  const status = document.member(envelope, "status");
  const inner = wordOf(document, document.member(document.member(node, "innererror"), "code"));
  const word = stringOf(document, code) ?? inner;
  return {
    message: textOf(document, document.member(node, "message")),
    type: wordOf(document, document.member(node, "type")),
    code: word,
    param: wordOf(document, document.member(node, "param")),
    numericCode: number ?? (document.isNumber(status) ? document.number(status) : undefined),
  };
}

const statusText = (word: string | undefined): number | undefined =>
  word !== undefined && /^[345]\d\d$/.test(word) ? Number(word) : undefined;

const wordOf = (document: Document, node: NodeIndex): string | undefined =>
  document.isString(node) && document.end(node) - document.start(node) < 256 ? document.string(node) : undefined;

/** Validation problems that are joined to one text. */
const MAX_DETAILS = 8;

/** A message that is text, a list of problems `{loc, msg}`, or an object around such a list (FastAPI and its relatives). */
function textOf(document: Document, node: NodeIndex): string {
  if (document.isString(node)) return document.string(node);
  if (document.isObject(node)) {
    const text = document.member(node, "msg");
    if (document.isString(text)) return locationOf(document, node) + document.string(text);
    const message = document.member(node, "message");
    return textOf(document, message === ABSENT ? document.member(node, "detail") : message);
  }
  const texts: string[] = [];
  for (let item = document.firstElement(node); item !== ABSENT; item = document.nextElement(item)) {
    if (texts.length === MAX_DETAILS) break;
    const text = textOf(document, item);
    if (text !== "") texts.push(text);
  }
  return texts.join("; ");
}

function locationOf(document: Document, node: NodeIndex): string {
  const steps: string[] = [];
  const location = document.member(node, "loc");
  for (let step = document.firstElement(location); step !== ABSENT; step = document.nextElement(step)) {
    if (document.isString(step)) steps.push(document.string(step));
    else if (document.isNumber(step)) steps.push(String(document.number(step)));
  }
  return steps.length === 0 ? "" : `${steps.join(".")}: `;
}

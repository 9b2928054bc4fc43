// Constructors of neutral errors, the fixed texts that clients see for each class, and the masking of secrets in texts that come
// from upstreams. A message that leaves here names no host, key or body content.
import type { ErrorClass, NeutralError } from "@dragoman/core";

/** What a client reads where the upstream's own text must not pass. */
const FIXED_TEXTS: Readonly<Record<ErrorClass, string>> = {
  auth: "The gateway's provider credentials were rejected.",
  permission: "The gateway's provider credentials were rejected.",
  "not-found": "The provider does not know the model of this deployment.",
  "method-not-allowed": "This method is not allowed here.",
  "invalid-request": "The provider refused the request as invalid.",
  "unsupported-media-type": "The content type of the request is not supported.",
  "too-large": "The request is too large for the model provider.",
  "context-length": "The request is longer than the model's context window.",
  "content-policy": "The provider refused the request because of its content policy.",
  "rate-limit": "The model provider limits the rate of requests.",
  quota: "Provider quota or budget is used up.",
  overloaded: "The model provider is overloaded.",
  timeout: "The model provider took too long to answer.",
  "upstream-5xx": "The model provider failed to answer.",
  network: "The provider connection was lost.",
  protocol: "The model provider sent an invalid answer.",
  "no-deployment": "No deployment can serve this request.",
  cancelled: "The request was cancelled.",
  internal: "The gateway failed to process the request.",
};

/** Classes whose upstream text reaches the client, masked, because it speaks about the client's own request. */
const PASSING_CLASSES: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  "invalid-request",
  "context-length",
  "content-policy",
  "rate-limit",
]);

/**
 * The text a client reads: the error's own message where it speaks about the client's request or comes from the gateway, the fixed
 * text of its class otherwise.
 */
export function clientTextOf(error: NeutralError): string {
  if (error.message === "") return FIXED_TEXTS[error.class];
  const isOurs = error.origin !== "upstream";
  return isOurs || PASSING_CLASSES.has(error.class) || error.class === "protocol"
    ? error.message
    : FIXED_TEXTS[error.class];
}

/** The fixed text of a class, for errors that have no text of their own. */
export function fixedTextOf(errorClass: ErrorClass): string {
  return FIXED_TEXTS[errorClass];
}

/**
 * A request that cannot be read. `at` is the JSON Pointer of the member (RFC 6901); `param` names the same place with dots, as
 * clients that show a parameter expect it.
 */
export function invalidRequest(message: string, at?: string, code?: string): NeutralError {
  return {
    class: "invalid-request",
    origin: "client",
    message,
    ...(code === undefined ? null : { code }),
    ...(at === undefined || at === "" ? null : { param: paramOf(at) }),
    retrySame: false,
    fallback: false,
  };
}

/** As `invalidRequest`, for one member: its place is part of the message too, for clients that show nothing else. */
export function invalidMember(message: string, at: string): NeutralError {
  return invalidRequest(at === "" ? message : `${at}: ${message}`, at);
}

/** An answer that does not follow its dialect. It may be a passing fault, so the same deployment gets another try. */
export function protocolError(message: string = FIXED_TEXTS.protocol): NeutralError {
  return { class: "protocol", origin: "upstream", message, retrySame: true, fallback: true };
}

/** An answer that stopped before its end. */
export function truncatedError(): NeutralError {
  return protocolError("The provider's answer ended early.");
}

/** What an upstream said beside its text; whatever is undefined is left out of the error. */
export interface UpstreamErrorInit {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly param?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly retryAfterHeaders?: readonly string[] | undefined;
  /** Overrides what the class says about the same deployment. */
  readonly retrySame?: boolean | undefined;
  readonly upstreamRequestId?: string | undefined;
}

/** Classes that a wait may cure, so that the same deployment gets another try. */
const RETRIABLE_CLASSES: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  "rate-limit",
  "overloaded",
  "timeout",
  "upstream-5xx",
  "network",
  "protocol",
]);

/** Classes that every deployment would answer alike. */
const REQUEST_CLASSES: ReadonlySet<ErrorClass> = new Set<ErrorClass>(["invalid-request", "content-policy"]);

/** An error that an upstream reported, with the retry rules of its class; secrets in its text are masked here. */
export function upstreamError(errorClass: ErrorClass, message: string, init: UpstreamErrorInit = {}): NeutralError {
  const isTooLong = errorClass === "context-length";
  return {
    class: errorClass,
    origin: "upstream",
    message: maskSecrets(message),
    ...(init.status === undefined ? null : { status: init.status }),
    ...(init.code === undefined ? null : { code: maskSecrets(init.code) }),
    ...(init.type === undefined ? null : { type: maskSecrets(init.type) }),
    ...(init.param === undefined ? null : { param: maskSecrets(init.param) }),
    ...(init.retryAfterMs === undefined ? null : { retryAfterMs: init.retryAfterMs }),
    ...(init.retryAfterHeaders === undefined ? null : { retryAfterHeaders: init.retryAfterHeaders }),
    retrySame: init.retrySame ?? RETRIABLE_CLASSES.has(errorClass),
    fallback: isTooLong ? "larger-window" : !REQUEST_CLASSES.has(errorClass),
    ...(init.upstreamRequestId === undefined ? null : { upstreamRequestId: init.upstreamRequestId }),
  };
}

/** Turns a JSON Pointer into a dotted path: `/messages/0/content` becomes `messages[0].content`. */
export function paramOf(pointer: string): string {
  let param = "";
  for (const step of pointer.split("/").slice(1)) {
    if (/^\d+$/.test(step)) param += `[${step}]`;
    else param += `${param === "" ? "" : "."}${step.replaceAll("~1", "/").replaceAll("~0", "~")}`;
  }
  return param;
}

/** Longest upstream text that is kept. */
const MAX_MESSAGE_LENGTH = 2_000;

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // URLs and what looks like host:port or an IP address: no internal topology leaves.
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]}]+/gi, "[url]"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, "[host]"],
  [/\b(?:localhost|[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,6}):\d{2,5}\b/gi, "[host]"],
  [/\b[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}\.(?:internal|local|lan|svc|corp|intra)\b/gi, "[host]"],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=*-]{6,}/gi, "$1 [secret]"],
  // Key prefixes of vendors, also half-masked by the vendor itself ("sk-abcd****wxyz").
  [/\b(?:sk|pk|rk|gsk|xai|dgm|hf|pplx|nvapi|glpat|ghp)[-_][A-Za-z0-9_*.…-]{6,}/g, "[secret]"],
  [/\b(?:key|api|org|proj)[-_](?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{16,}/g, "[secret]"],
  [/\bAIza[A-Za-z0-9_*-]{10,}/g, "[secret]"],
  [/\bAKIA[A-Z0-9]{12,}/g, "[secret]"],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g, "[secret]"],
  [/((?:api[-_ ]?key|token|secret|password)["']?\s*(?:provided|is|was)?\s*[:=]\s*["']?)[^\s"',;)]{6,}/gi, "$1[secret]"],
  // Long unbroken runs that mix letters and digits are credentials more often than words.
  [/\b(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9_-]{40,}\b/g, "[secret]"],
];

/** Replaces credentials, URLs and hosts in a text from an upstream, and bounds its length. */
export function maskSecrets(text: string): string {
  let masked = text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
  for (const [pattern, replacement] of SECRETS) masked = masked.replace(pattern, replacement);
  return masked;
}

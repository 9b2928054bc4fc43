/**
 * Upstream errors of this dialect in the one classification: by the error's type and code first, then by status, then by the few
 * wordings that have no code. Proxies may answer in other envelopes, in HTML or with nothing; all of that is tolerated.
 */
import {
  findHeader,
  Scanner,
  type DecodeContext,
  type Document,
  type ErrorClass,
  type NeutralError,
  type NodeIndex,
  type UpstreamErrorAnswer,
} from "@dragoman/core";

import { isContextLengthText } from "../shared/error-text.ts";
import { upstreamError } from "../shared/neutral-error.ts";
import { readRetryAfterMs, readShouldRetry, relayedRetryAfter } from "../shared/retry-after.ts";
import { stringOf } from "../shared/string-value.ts";

/** The usual status of each error type (Claude platform documentation, errors page, read 2026-11-30). */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const CLASS_OF_STATUS: Readonly<Record<number, ErrorClass>> = {
  401: "auth",
  402: "quota",
  403: "permission",
  404: "not-found",
  408: "timeout",
  413: "too-large",
  429: "rate-limit",
  504: "timeout",
  524: "timeout",
  529: "overloaded",
};

const SPEND_CODES: ReadonlySet<string> = new Set(["enforced_spend_limit_reached", "contract_spend_limit_reached"]);
const SPEND_TEXT = /credit balance|spend(?:ing)? limit|usage limits?\b.*\bspend/i;

/** What an error body says, as far as it can be read. */
interface ErrorBody {
  readonly type: string | null;
  readonly message: string;
  readonly code: string | null;
  readonly requestId: string | null;
}

const EMPTY_BODY: ErrorBody = { type: null, message: "", code: null, requestId: null };

const readString = (document: Document, object: NodeIndex, name: string): string | null => {
  const node = document.member(object, name);
  return stringOf(document, node) ?? null;
};

/** Reads an error envelope: this dialect's own, the flat or nested ones of proxies, or a bare text. */
function readErrorBody(document: Document, root: NodeIndex): ErrorBody {
  const error = document.member(root, "error");
  if (document.isString(error)) return { ...EMPTY_BODY, message: document.string(error) };
  const object = document.isObject(error) ? error : root;
  if (!document.isObject(object)) return EMPTY_BODY;
  const details = document.member(object, "details");
  return {
    type: readString(document, object, "type"),
    message: readString(document, object, "message") ?? readString(document, object, "detail") ?? "",
    code: readString(document, details, "error_code") ?? readString(document, object, "code"),
    requestId: readString(document, root, "request_id"),
  };
}

/** The status to judge by: a specific type outweighs the transport's status, a general one does not. */
function effectiveStatus(status: number | null, type: string | null): number {
  const usual = type === null ? undefined : STATUS_OF_TYPE[type];
  if (usual === undefined) return status ?? 500;
  if (status === null || status < 300) return usual;
  const isGeneral = type === "invalid_request_error" || type === "api_error";
  return isGeneral && status >= 400 ? status : usual;
}

function classOf(status: number, body: ErrorBody, hasRetryAfter: boolean): ErrorClass {
  if (status >= 300 && status < 400) return "protocol";
  const { message, code } = body;
  if (status === 400) {
    if (isContextLengthText(message, status)) return "context-length";
    if (code === "organization_on_hold") return "permission";
    return (code !== null && SPEND_CODES.has(code)) || SPEND_TEXT.test(message) ? "quota" : "invalid-request";
  }
  if (status === 429) {
    if (code !== null && SPEND_CODES.has(code)) return "quota";
    return !hasRetryAfter && SPEND_TEXT.test(message) ? "quota" : "rate-limit";
  }
  const known = CLASS_OF_STATUS[status];
  if (known !== undefined) return known;
  return status >= 500 ? "upstream-5xx" : "invalid-request";
}

const parseBody = (bytes: Uint8Array): ErrorBody => {
  const scanner = new Scanner({ duplicates: "last-wins" });
  const document = scanner.scan(bytes, 0, bytes.length);
  if (document === null) return EMPTY_BODY;
  const first = document.isArray(document.root) ? document.firstElement(document.root) : document.root;
  return readErrorBody(document, first);
};

/** Classifies an HTTP error answer. */
export function classifyError(answer: UpstreamErrorAnswer, context: DecodeContext): NeutralError {
  const { headers, nowMs } = answer;
  const body = parseBody(answer.body);
  const retryAfterMs = readRetryAfterMs(headers, nowMs);
  const kind = classOf(effectiveStatus(answer.status, body.type), body, retryAfterMs !== undefined);
  if (kind === "context-length") context.count("error_text_match");
  return upstreamError(kind, body.message, {
    status: answer.status,
    code: body.code ?? undefined,
    type: body.type ?? undefined,
    retryAfterMs,
    retryAfterHeaders: relayedRetryAfter(headers),
    retrySame: readShouldRetry(headers),
    upstreamRequestId: findHeader(headers, "request-id") ?? body.requestId ?? undefined,
  });
}

/** Classifies an error that came inside a 200: a stream event, or a whole body. */
export function classifyErrorEvent(document: Document, context: DecodeContext): NeutralError {
  const body = readErrorBody(document, document.root);
  const kind = classOf(effectiveStatus(null, body.type), body, false);
  if (kind === "context-length") context.count("error_text_match");
  return upstreamError(kind, body.message, {
    code: body.code ?? undefined,
    type: body.type ?? undefined,
    upstreamRequestId: body.requestId ?? findHeader(context.headers, "request-id"),
  });
}

// Errors for clients of this dialect: one envelope, one status, type and code per class, and hints whether a retry makes sense.
import { encodeString } from "@dragoman/core";
import type { EncodedError, ErrorClass, NeutralError } from "@dragoman/core";

import { clientTextOf } from "../shared/neutral-error.ts";
import { retryHintHeaders } from "../shared/retry-after.ts";
import { identify } from "./identity.ts";

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly shouldRetry: boolean;
}

const row = (status: number, type: string, code: string | null, shouldRetry: boolean): ErrorRow => ({
  status,
  type,
  code,
  shouldRetry,
});

/** Errors of the client's request and of the gateway itself. */
const ROWS: Readonly<Record<ErrorClass, ErrorRow>> = {
  auth: row(401, "invalid_request_error", "invalid_api_key", false),
  permission: row(403, "invalid_request_error", "permission_denied", false),
  "not-found": row(404, "invalid_request_error", "model_not_found", false),
  "method-not-allowed": row(405, "invalid_request_error", "method_not_allowed", false),
  "invalid-request": row(400, "invalid_request_error", null, false),
  "unsupported-media-type": row(415, "invalid_request_error", "unsupported_media_type", false),
  "too-large": row(413, "invalid_request_error", "request_too_large", false),
  "context-length": row(400, "invalid_request_error", "context_length_exceeded", false),
  "content-policy": row(400, "invalid_request_error", "content_policy_violation", false),
  "rate-limit": row(429, "rate_limit_error", "rate_limit_exceeded", true),
  quota: row(429, "insufficient_quota", "budget_exceeded", false),
  overloaded: row(503, "service_unavailable_error", "server_is_overloaded", true),
  timeout: row(504, "server_error", "timeout", true),
  "upstream-5xx": row(502, "server_error", "upstream_error", true),
  network: row(502, "server_error", "upstream_unreachable", true),
  protocol: row(502, "server_error", "upstream_protocol_error", true),
  "no-deployment": row(400, "invalid_request_error", "unsupported_request", false),
  // Nobody reads this one; 499 is what logs call a request whose client left.
  cancelled: row(499, "server_error", "cancelled", false),
  internal: row(500, "server_error", "internal_error", false),
};

/** Where the fault lies with the operator's account at the provider: never the client's own status. */
const UPSTREAM_ROWS: Partial<Record<ErrorClass, ErrorRow>> = {
  auth: row(502, "server_error", "upstream_credential_rejected", false),
  permission: row(502, "server_error", "upstream_credential_rejected", false),
  "not-found": row(502, "server_error", "upstream_model_not_found", false),
  "method-not-allowed": row(502, "server_error", "upstream_error", false),
  "unsupported-media-type": row(502, "server_error", "upstream_error", false),
  quota: row(503, "server_error", "upstream_quota_exhausted", false),
};

/** Clients wait at most this long for what `retry-after` says; longer waits are cut short by the vendor's own SDK. */
const MAX_HINT_MS = 60_000;

/** The request's own body came too slowly (RFC 9110 §15.5.9); every other timeout is one of an upstream. */
const SLOW_CLIENT_ROW: ErrorRow = row(408, "invalid_request_error", "body_timeout", true);

function rowOf(error: NeutralError): ErrorRow {
  if (error.origin === "client" && error.class === "timeout") return SLOW_CLIENT_ROW;
  const upstream = error.origin === "upstream" ? UPSTREAM_ROWS[error.class] : undefined;
  return upstream ?? ROWS[error.class];
}

/** Our own codes pass; of an upstream's, only those that speak about the client's request. */
function codeOf(error: NeutralError, { code }: ErrorRow): string | null {
  if (error.origin !== "upstream") return error.code ?? code;
  return error.class === "invalid-request" ? (error.code ?? null) : code;
}

function envelopeOf(error: NeutralError): string {
  const errorRow = rowOf(error);
  const code = codeOf(error, errorRow);
  const param = error.param === undefined ? "null" : encodeString(error.param);
  const head = `{"error":{"message":${encodeString(clientTextOf(error))},"type":${encodeString(errorRow.type)}`;
  return `${head},"param":${param},"code":${code === null ? "null" : encodeString(code)}}}`;
}

function shouldRetry(
  error: NeutralError,
  isRetriable: boolean,
  hints: readonly string[],
  hasFallenBack: boolean,
): boolean {
  if (error.class === "rate-limit") {
    return (error.retryAfterMs ?? 0) <= MAX_HINT_MS && (!hasFallenBack || hints.length > 0);
  }
  // The gateway's own fallbacks are used up: a client's retries on top of them would be a storm.
  if (hasFallenBack) return error.class === "overloaded" && hints.length > 0;
  return isRetriable;
}

/** A plain error answer. */
export function encodeError(
  error: NeutralError,
  context: { readonly requestId: string; readonly hasFallenBack: boolean },
): EncodedError {
  const { status, shouldRetry: isRetriable } = rowOf(error);
  const hints = retryHintHeaders(error);
  const retry = shouldRetry(error, isRetriable, hints, context.hasFallenBack);
  return {
    status,
    headers: [...identify(context.requestId), ...hints, "x-should-retry", String(retry)],
    body: Buffer.from(envelopeOf(error), "utf8"),
  };
}

/** The error record of a stream that has begun. Nothing follows it, `[DONE]` neither. */
export function encodeStreamError(error: NeutralError): Uint8Array {
  return Buffer.from(`data: ${envelopeOf(error)}\n\n`, "utf8");
}

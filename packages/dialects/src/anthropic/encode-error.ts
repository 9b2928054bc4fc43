/** Errors for this dialect's clients: one envelope, with the status and type that its SDKs map to exceptions and retries. */
import type { EncodedError, ErrorClass, NeutralError } from "@dragoman/core";

import { clientTextOf } from "../shared/neutral-error.ts";
import { retryHintHeaders } from "../shared/retry-after.ts";

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly isRetryable: boolean;
}

const row = (status: number, type: string, isRetryable = false): ErrorRow => ({ status, type, isRetryable });

const ROWS: Readonly<Record<ErrorClass, ErrorRow>> = {
  auth: row(401, "authentication_error"),
  permission: row(403, "permission_error"),
  "not-found": row(404, "not_found_error"),
  "method-not-allowed": row(405, "invalid_request_error"),
  "invalid-request": row(400, "invalid_request_error"),
  "unsupported-media-type": row(415, "invalid_request_error"),
  "too-large": row(413, "request_too_large"),
  "context-length": row(400, "invalid_request_error"),
  "content-policy": row(400, "invalid_request_error"),
  "rate-limit": row(429, "rate_limit_error", true),
  quota: row(402, "billing_error"),
  overloaded: row(529, "overloaded_error", true),
  timeout: row(504, "timeout_error", true),
  "upstream-5xx": row(502, "api_error", true),
  network: row(502, "api_error", true),
  protocol: row(502, "api_error", true),
  "no-deployment": row(400, "invalid_request_error"),
  // Nobody reads it; the status is the customary one of a client that left.
  cancelled: row(499, "api_error"),
  internal: row(500, "api_error"),
};

/** Classes that speak about the gateway's own account when they come from an upstream: not the client's fault. */
const OPERATOR_ROWS: Partial<Readonly<Record<ErrorClass, ErrorRow>>> = {
  auth: row(502, "api_error"),
  permission: row(502, "api_error"),
  "not-found": row(502, "api_error"),
  quota: row(503, "api_error"),
};

/** Nothing upstream was slow: the client's own body did not arrive (RFC 9110 §15.5.9). */
const SLOW_CLIENT_ROW = row(408, "invalid_request_error", true);

const rowOf = ({ class: kind, origin }: NeutralError): ErrorRow => {
  if (origin === "client" && kind === "timeout") return SLOW_CLIENT_ROW;
  return (origin === "upstream" ? OPERATOR_ROWS[kind] : undefined) ?? ROWS[kind];
};

/** Clients of this dialect recognise an overlong prompt by these words. */
const CONTEXT_LENGTH_WORDS = "prompt is too long: ";

const textOf = (error: NeutralError): string => {
  const text = clientTextOf(error);
  return error.class === "context-length" && !text.startsWith(CONTEXT_LENGTH_WORDS)
    ? CONTEXT_LENGTH_WORDS + text
    : text;
};

/** SDKs sleep as long as `retry-after` says; beyond this a client should decide for itself. */
const LONGEST_RETRY_MS = 60_000;

function shouldRetry(error: NeutralError, hasFallenBack: boolean): boolean {
  const { isRetryable } = rowOf(error);
  if (!isRetryable) return false;
  const { retryAfterMs } = error;
  if (error.class === "rate-limit" && retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_MS) return false;
  if (!hasFallenBack) return true;
  const saysWhen = retryAfterMs !== undefined || error.retryAfterHeaders !== undefined;
  return (error.class === "rate-limit" || error.class === "overloaded") && saysWhen;
}

/** What the SDK's tool runner needs to go on without a server-side thread (`@anthropic-ai/sdk` 1.14.0). */
const THREAD_DETAILS = { error_code: "thread_unsupported_request", unsupported: [] };

/** Details that this dialect's clients know: `error_code` and what goes with it. */
function detailsOf(error: NeutralError): Readonly<Record<string, unknown>> | null {
  const { details } = error;
  if (details !== undefined && error.origin === "gateway" && typeof details["scope"] === "string")
    return limitDetails(error, details);
  if (details !== undefined && typeof details["error_code"] === "string") return details;
  const issues = details?.["issues"];
  const namesThread = Array.isArray(issues) && issues.some((issue: unknown) => isThreadIssue(issue));
  return namesThread ? THREAD_DETAILS : null;
}

/** Which limit of the gateway refuses. The envelope's types do not tell a budget from a provider's bill, its code does. */
function limitDetails(
  { code = "" }: NeutralError,
  { scope, limit, per = null, resetsAt = null }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return { error_code: code, scope, limit, per, resets_at: resetsAt };
}

const isThreadIssue = (issue: unknown): boolean =>
  typeof issue === "object" && issue !== null && "path" in issue && issue.path === "/thread";

function envelope(error: NeutralError, requestId: string): string {
  const details = detailsOf(error);
  return JSON.stringify({
    type: "error",
    error: { type: rowOf(error).type, message: textOf(error), ...(details === null ? null : { details }) },
    request_id: requestId,
  });
}

/** Writes a plain error answer. */
export function encodeError(
  error: NeutralError,
  context: { readonly requestId: string; readonly hasFallenBack: boolean },
): EncodedError {
  const { requestId, hasFallenBack } = context;
  return {
    status: rowOf(error).status,
    headers: [
      "request-id",
      requestId,
      "x-should-retry",
      String(shouldRetry(error, hasFallenBack)),
      ...retryHintHeaders(error),
    ],
    body: Buffer.from(envelope(error, requestId), "utf8"),
  };
}

/** Writes the error event that ends a stream. */
export function encodeStreamError(error: NeutralError, context: { readonly requestId: string }): Uint8Array {
  return Buffer.from(`event: error\ndata: ${envelope(error, context.requestId)}\n\n`, "utf8");
}

import { describe, expect, test } from "vitest";

import type { ErrorClass, NeutralError } from "@dragoman/core";

import { openaiChatClient } from "./client.ts";

const error = (errorClass: ErrorClass, more: Partial<NeutralError> = {}): NeutralError => ({
  class: errorClass,
  origin: "upstream",
  message: "the upstream's own words",
  retrySame: false,
  fallback: false,
  ...more,
});

function encode(
  of: NeutralError,
  hasFallenBack = false,
): { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly error: unknown } {
  const encoded = openaiChatClient.encodeError(of, { requestId: "req_t1", hasFallenBack });
  const headers: Record<string, string> = {};
  for (let index = 0; index < encoded.headers.length; index += 2)
    headers[encoded.headers[index] ?? ""] = encoded.headers[index + 1] ?? "";
  return {
    status: encoded.status,
    headers,
    error: (JSON.parse(Buffer.from(encoded.body).toString()) as { error: unknown }).error,
  };
}

describe("encodeError", () => {
  test.each<[string, NeutralError, number, string, string | null, string, string]>([
    [
      "the client's key",
      error("auth", { origin: "client", message: "Unknown key." }),
      401,
      "invalid_request_error",
      "invalid_api_key",
      "Unknown key.",
      "false",
    ],
    [
      "our credential",
      error("auth", { message: "sk-1" }),
      502,
      "server_error",
      "upstream_credential_rejected",
      "The gateway's provider credentials were rejected.",
      "false",
    ],
    [
      "our account's rights",
      error("permission"),
      502,
      "server_error",
      "upstream_credential_rejected",
      "The gateway's provider credentials were rejected.",
      "false",
    ],
    [
      "the client's rights",
      error("permission", { origin: "gateway", message: "Not this model.", code: "model_unpriced" }),
      403,
      "invalid_request_error",
      "model_unpriced",
      "Not this model.",
      "false",
    ],
    [
      "an unknown model",
      error("not-found", { origin: "gateway", message: "No such model.", code: "model_not_found" }),
      404,
      "invalid_request_error",
      "model_not_found",
      "No such model.",
      "false",
    ],
    [
      "a model that the provider lost",
      error("not-found"),
      502,
      "server_error",
      "upstream_model_not_found",
      "The provider does not know the model of this deployment.",
      "false",
    ],
    [
      "a wrong method",
      error("method-not-allowed", { origin: "gateway", message: "Use POST." }),
      405,
      "invalid_request_error",
      "method_not_allowed",
      "Use POST.",
      "false",
    ],
    [
      "a wrong content type",
      error("unsupported-media-type", { origin: "client", message: "Send JSON." }),
      415,
      "invalid_request_error",
      "unsupported_media_type",
      "Send JSON.",
      "false",
    ],
    [
      "a request that the provider refused",
      error("invalid-request", { code: "bad", param: "messages" }),
      400,
      "invalid_request_error",
      "bad",
      "the upstream's own words",
      "false",
    ],
    [
      "a request without a code",
      error("invalid-request"),
      400,
      "invalid_request_error",
      null,
      "the upstream's own words",
      "false",
    ],
    [
      "a dry run without a deployment",
      error("no-deployment", { origin: "gateway", message: "None.", code: "unsupported_request" }),
      400,
      "invalid_request_error",
      "unsupported_request",
      "None.",
      "false",
    ],
    [
      "too many bytes",
      error("too-large", { origin: "client", message: "Too large." }),
      413,
      "invalid_request_error",
      "request_too_large",
      "Too large.",
      "false",
    ],
    [
      "too many tokens",
      error("context-length", { code: "string_above_max_length" }),
      400,
      "invalid_request_error",
      "context_length_exceeded",
      "the upstream's own words",
      "false",
    ],
    [
      "content policy",
      error("content-policy"),
      400,
      "invalid_request_error",
      "content_policy_violation",
      "the upstream's own words",
      "false",
    ],
    [
      "the provider's empty account",
      error("quota"),
      503,
      "server_error",
      "upstream_quota_exhausted",
      "Provider quota or budget is used up.",
      "false",
    ],
    [
      "the client's own budget",
      error("quota", { origin: "gateway", message: "Budget used up." }),
      429,
      "insufficient_quota",
      "budget_exceeded",
      "Budget used up.",
      "false",
    ],
    [
      "an overload",
      error("overloaded"),
      503,
      "service_unavailable_error",
      "server_is_overloaded",
      "The model provider is overloaded.",
      "true",
    ],
    [
      "the client's own body came too slowly",
      error("timeout", { origin: "client", code: "body_timeout", message: "The body did not arrive in time." }),
      408,
      "invalid_request_error",
      "body_timeout",
      "The body did not arrive in time.",
      "true",
    ],
    [
      "a timeout",
      error("timeout"),
      504,
      "server_error",
      "timeout",
      "The model provider took too long to answer.",
      "true",
    ],
    [
      "a provider's fault",
      error("upstream-5xx"),
      502,
      "server_error",
      "upstream_error",
      "The model provider failed to answer.",
      "true",
    ],
    [
      "a lost connection",
      error("network"),
      502,
      "server_error",
      "upstream_unreachable",
      "The provider connection was lost.",
      "true",
    ],
    [
      "a broken answer",
      error("protocol", { message: "The provider's answer ended early." }),
      502,
      "server_error",
      "upstream_protocol_error",
      "The provider's answer ended early.",
      "true",
    ],
    [
      "our fault",
      error("internal", { origin: "gateway", message: "" }),
      500,
      "server_error",
      "internal_error",
      "The gateway failed to process the request.",
      "false",
    ],
  ])("%s", (_, of, status, type, code, message, retry) => {
    const encoded = encode(of);
    expect(encoded).toEqual({
      status,
      headers: { "x-request-id": "req_t1", "x-should-retry": retry },
      error: { message, type, param: of.param ?? null, code },
    });
  });

  test.each<[string, Partial<NeutralError>, boolean, string | undefined, string]>([
    [
      "relays what the upstream said",
      { retryAfterHeaders: ["retry-after", "12"], retryAfterMs: 12_000 },
      false,
      "12",
      "true",
    ],
    ["rounds our own wait up to seconds", { retryAfterMs: 1_200 }, false, "2", "true"],
    [
      "keeps clients from waiting for more than a minute",
      { retryAfterHeaders: ["retry-after", "287441"], retryAfterMs: 287_441_000 },
      false,
      "287441",
      "false",
    ],
    ["lets clients retry without a hint", {}, false, undefined, "true"],
    ["keeps clients from retrying after our own fallbacks", {}, true, undefined, "false"],
    ["lets them retry after fallbacks where the wait is known", { retryAfterMs: 3_000 }, true, "3", "true"],
  ])("a rate limit %s", (_, more, hasFallenBack, retryAfter, retry) => {
    const { headers } = encode(error("rate-limit", more), hasFallenBack);
    expect([headers["retry-after"], headers["x-should-retry"]]).toEqual([retryAfter, retry]);
  });

  test("stops retries of any other error after our own fallbacks", () => {
    expect(encode(error("upstream-5xx"), true).headers["x-should-retry"]).toBe("false");
    expect(encode(error("overloaded"), true).headers["x-should-retry"]).toBe("false");
    expect(encode(error("overloaded", { retryAfterMs: 1_000 }), true).headers["x-should-retry"]).toBe("true");
  });
});

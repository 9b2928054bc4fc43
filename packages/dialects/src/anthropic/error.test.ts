import type { ErrorClass, NeutralError } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { classifyError } from "./classify-error.ts";
import { encodeError, encodeStreamError } from "./encode-error.ts";
import { decodeContext } from "./test-exchange.ts";

const classify = (status: number, body: unknown, headers: readonly string[] = []): NeutralError =>
  classifyError(
    {
      status,
      headers,
      body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
      nowMs: 1_790_000_000_000,
    },
    decodeContext(),
  );
const envelope = (type: string, message = "x", extra: object = {}): object => ({
  type: "error",
  error: { type, message, ...extra },
});

describe("classifyError", () => {
  const rows: {
    readonly status: number;
    readonly body: unknown;
    readonly headers?: readonly string[];
    readonly expected: ErrorClass;
  }[] = [
    { status: 400, body: envelope("invalid_request_error", "messages: bad"), expected: "invalid-request" },
    {
      status: 400,
      body: envelope("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
      expected: "context-length",
    },
    {
      status: 400,
      body: envelope("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2"),
      expected: "context-length",
    },
    {
      status: 400,
      body: envelope("invalid_request_error", "Your credit balance is too low to access the API."),
      expected: "quota",
    },
    {
      status: 400,
      body: envelope("invalid_request_error", "on hold", { details: { error_code: "organization_on_hold" } }),
      expected: "permission",
    },
    { status: 401, body: envelope("authentication_error", "invalid x-api-key"), expected: "auth" },
    { status: 402, body: envelope("billing_error"), expected: "quota" },
    { status: 403, body: envelope("permission_error"), expected: "permission" },
    { status: 404, body: envelope("not_found_error", "model: x"), expected: "not-found" },
    { status: 409, body: envelope("conflict_error"), expected: "invalid-request" },
    { status: 413, body: envelope("request_too_large"), expected: "too-large" },
    { status: 429, body: envelope("rate_limit_error"), headers: ["retry-after", "7"], expected: "rate-limit" },
    {
      status: 429,
      body: envelope("rate_limit_error", "slow", { details: { error_code: "ramp_limit_exceeded" } }),
      expected: "rate-limit",
    },
    {
      status: 429,
      body: envelope("rate_limit_error", "x", { details: { error_code: "enforced_spend_limit_reached" } }),
      expected: "quota",
    },
    { status: 429, body: envelope("rate_limit_error", "You have reached your spend limit."), expected: "quota" },
    {
      status: 429,
      body: envelope("rate_limit_error", "You have reached your spend limit."),
      headers: ["retry-after", "7"],
      expected: "rate-limit",
    },
    { status: 500, body: envelope("api_error"), expected: "upstream-5xx" },
    { status: 504, body: envelope("timeout_error"), expected: "timeout" },
    { status: 529, body: envelope("overloaded_error"), expected: "overloaded" },
    { status: 503, body: envelope("overloaded_error"), expected: "overloaded" },
    { status: 504, body: envelope("api_error"), expected: "timeout" },
    { status: 408, body: "", expected: "timeout" },
    { status: 418, body: "", expected: "invalid-request" },
    { status: 502, body: "<html>bad gateway</html>", expected: "upstream-5xx" },
    { status: 302, body: "", expected: "protocol" },
    {
      status: 429,
      body: { error: { message: "slow", type: "requests", code: "rate_limit_exceeded" } },
      expected: "rate-limit",
    },
    { status: 400, body: { error: "plain text" }, expected: "invalid-request" },
    { status: 500, body: "[[[", expected: "upstream-5xx" },
  ];
  it.each(rows)("$status $body is $expected", ({ status, body, headers, expected }) => {
    expect(classify(status, body, headers)).toMatchObject({ class: expected, origin: "upstream", status });
  });

  const retries: {
    readonly status: number;
    readonly type: string;
    readonly retrySame: boolean;
    readonly fallback: boolean | string;
  }[] = [
    { status: 529, type: "overloaded_error", retrySame: true, fallback: true },
    { status: 401, type: "authentication_error", retrySame: false, fallback: true },
    { status: 400, type: "invalid_request_error", retrySame: false, fallback: false },
    { status: 402, type: "billing_error", retrySame: false, fallback: true },
  ];
  it.each(retries)(
    "$type may be retried: $retrySame, elsewhere: $fallback",
    ({ status, type, retrySame, fallback }) => {
      expect(classify(status, envelope(type))).toMatchObject({ retrySame, fallback });
    },
  );

  it("obeys x-should-retry, and relays when to come back", () => {
    const headers = ["x-should-retry", "false", "Retry-After", "12", "request-id", "req_u"];
    expect(classify(529, envelope("overloaded_error"), headers)).toMatchObject({
      retrySame: false,
      retryAfterMs: 12_000,
      retryAfterHeaders: ["retry-after", "12"],
      upstreamRequestId: "req_u",
    });
  });

  it("looks at other deployments with a larger window when the prompt is too long", () => {
    expect(classify(400, envelope("invalid_request_error", "prompt is too long")).fallback).toBe("larger-window");
  });
});

describe("encodeError", () => {
  const error = (
    kind: ErrorClass,
    origin: NeutralError["origin"],
    extra: Partial<NeutralError> = {},
  ): NeutralError => ({
    class: kind,
    origin,
    message: "M",
    retrySame: false,
    fallback: false,
    ...extra,
  });
  const encode = (neutral: NeutralError, hasFallenBack = false) => {
    const { status, headers, body } = encodeError(neutral, { requestId: "req_t1", hasFallenBack });
    const { error: inner, ...rest } = JSON.parse(Buffer.from(body).toString("utf8")) as {
      error: Record<string, unknown>;
    };
    const fields = Object.fromEntries(
      Array.from({ length: headers.length / 2 }, (_, index) => [headers[2 * index], headers[2 * index + 1]]),
    );
    return { status, fields, inner, rest };
  };

  const rows: readonly (readonly [ErrorClass, NeutralError["origin"], number, string, string])[] = [
    ["auth", "gateway", 401, "authentication_error", "false"],
    ["auth", "upstream", 502, "api_error", "false"],
    ["permission", "gateway", 403, "permission_error", "false"],
    ["permission", "upstream", 502, "api_error", "false"],
    ["not-found", "gateway", 404, "not_found_error", "false"],
    ["not-found", "upstream", 502, "api_error", "false"],
    ["method-not-allowed", "client", 405, "invalid_request_error", "false"],
    ["unsupported-media-type", "client", 415, "invalid_request_error", "false"],
    ["invalid-request", "client", 400, "invalid_request_error", "false"],
    ["no-deployment", "gateway", 400, "invalid_request_error", "false"],
    ["too-large", "gateway", 413, "request_too_large", "false"],
    ["context-length", "upstream", 400, "invalid_request_error", "false"],
    ["content-policy", "upstream", 400, "invalid_request_error", "false"],
    ["rate-limit", "upstream", 429, "rate_limit_error", "true"],
    ["quota", "gateway", 402, "billing_error", "false"],
    ["quota", "upstream", 503, "api_error", "false"],
    ["overloaded", "upstream", 529, "overloaded_error", "true"],
    ["timeout", "upstream", 504, "timeout_error", "true"],
    ["timeout", "gateway", 504, "timeout_error", "true"],
    ["timeout", "client", 408, "invalid_request_error", "true"],
    ["upstream-5xx", "upstream", 502, "api_error", "true"],
    ["network", "upstream", 502, "api_error", "true"],
    ["protocol", "upstream", 502, "api_error", "true"],
    ["internal", "gateway", 500, "api_error", "false"],
  ];
  it.each(rows)("%s of the %s is %d %s", (kind, origin, status, type, retry) => {
    const encoded = encode(error(kind, origin));
    expect(encoded).toMatchObject({ status, inner: { type }, rest: { type: "error", request_id: "req_t1" } });
    expect(encoded.fields).toMatchObject({ "request-id": "req_t1", "x-should-retry": retry });
  });

  const texts: readonly (readonly [ErrorClass, NeutralError["origin"], string])[] = [
    ["auth", "upstream", "The gateway's provider credentials were rejected."],
    ["quota", "upstream", "Provider quota or budget is used up."],
    ["overloaded", "upstream", "The model provider is overloaded."],
    ["network", "upstream", "The provider connection was lost."],
    ["invalid-request", "upstream", "M"],
    ["rate-limit", "upstream", "M"],
    ["context-length", "upstream", "prompt is too long: M"],
    ["auth", "gateway", "M"],
  ];
  it.each(texts)("the text of %s of the %s is: %s", (kind, origin, text) => {
    expect(encode(error(kind, origin)).inner["message"]).toBe(text);
  });

  it("tells which limit of the gateway refuses, and when it resets", () => {
    const budget = error("quota", "gateway", {
      code: "budget_exceeded",
      retryAfterMs: 1_500,
      details: { scope: "key", limit: "usd", per: "day", resetsAt: "2026-12-01T00:00:00.000Z" },
    });
    expect(encode(budget)).toMatchObject({
      status: 402,
      fields: { "retry-after": "2", "x-should-retry": "false" },
      inner: {
        type: "billing_error",
        details: {
          error_code: "budget_exceeded",
          scope: "key",
          limit: "usd",
          per: "day",
          resets_at: "2026-12-01T00:00:00.000Z",
        },
      },
    });
  });

  it("says once that a prompt is too long", () => {
    expect(encode(error("context-length", "upstream", { message: "prompt is too long: 5 > 4" })).inner["message"]).toBe(
      "prompt is too long: 5 > 4",
    );
  });

  it("relays or computes retry-after", () => {
    expect(encode(error("rate-limit", "upstream", { retryAfterMs: 1500 })).fields["retry-after"]).toBe("2");
    expect(
      encode(error("rate-limit", "upstream", { retryAfterMs: 1500, retryAfterHeaders: ["retry-after", "1.5"] })).fields[
        "retry-after"
      ],
    ).toBe("1.5");
  });

  it("tells clients not to retry after fallbacks, or for too long a wait", () => {
    expect(encode(error("timeout", "upstream"), true).fields["x-should-retry"]).toBe("false");
    expect(encode(error("overloaded", "upstream"), true).fields["x-should-retry"]).toBe("false");
    expect(encode(error("overloaded", "upstream", { retryAfterMs: 1000 }), true).fields["x-should-retry"]).toBe("true");
    expect(encode(error("rate-limit", "upstream", { retryAfterMs: 61_000 })).fields["x-should-retry"]).toBe("false");
  });

  it("tells the SDK's tool runner that a thread cannot be served", () => {
    const details = { issues: [{ code: "stateful_unsupported", path: "/thread" }] };
    expect(encode(error("no-deployment", "gateway", { details })).inner["details"]).toEqual({
      error_code: "thread_unsupported_request",
      unsupported: [],
    });
    expect(encode(error("no-deployment", "gateway", { details: { issues: [] } })).inner).not.toHaveProperty("details");
  });

  it("writes the error event of a stream", () => {
    expect(
      Buffer.from(encodeStreamError(error("network", "upstream", { message: "" }), { requestId: "req_t1" })).toString(
        "utf8",
      ),
    ).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The provider connection was lost."},"request_id":"req_t1"}\n\n',
    );
  });
});

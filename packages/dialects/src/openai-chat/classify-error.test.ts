import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { classifyError } from "./classify-error.ts";
import { compileChatProfile } from "./compile-profile.ts";

const context = { profile: profile(), upstreamModel: "m", headers: [], count: () => {} };

function profile(): Readonly<Record<string, unknown>> {
  const compiled = compileChatProfile("generic", {});
  if (!compiled.ok) throw new Error("profile");
  return compiled.profile;
}

const classify = (
  status: number,
  body: string | Uint8Array,
  headers: readonly string[] = [],
): ReturnType<typeof classifyError> =>
  classifyError({ status, headers, body: Buffer.from(body), nowMs: 1_000 }, context);

const json = (code: string | null, message = "x", type = "invalid_request_error"): string =>
  JSON.stringify({ error: { message, type, param: null, code } });

describe("classifyError", () => {
  test.each([
    [400, json("context_length_exceeded"), "context-length", false, "larger-window"],
    [400, json(null, "This model's maximum context length is 8192 tokens."), "context-length", false, "larger-window"],
    [413, json(null, "prompt is too long"), "context-length", false, "larger-window"],
    [400, json("content_filter"), "content-policy", false, false],
    [
      400,
      '{"error":{"message":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
      "content-policy",
      false,
      false,
    ],
    [400, json("invalid_value"), "invalid-request", false, false],
    [400, json("model_not_found"), "invalid-request", false, false],
    [422, '{"detail":[{"loc":["body","seed"],"msg":"Extra inputs"}]}', "invalid-request", false, false],
    [405, "", "invalid-request", false, false],
    [409, json(null), "invalid-request", false, false],
    [409, json(null, "could not lock"), "timeout", true, true],
    [418, "", "invalid-request", false, false],
    [401, json("invalid_api_key"), "auth", false, true],
    [403, json("unsupported_country_region_territory"), "permission", false, true],
    [404, json("model_not_found"), "not-found", false, true],
    [408, "", "timeout", true, true],
    [413, "", "too-large", false, true],
    [402, '{"error":{"message":"Insufficient Balance"}}', "quota", false, true],
    [429, json("insufficient_quota", "x", "insufficient_quota"), "quota", false, true],
    [429, json(null, "x", "insufficient_quota"), "quota", false, true],
    [429, json(null, "Your credit balance is too low", "unknown"), "quota", false, true],
    [429, json("rate_limit_exceeded", "Rate limit reached. See your billing page."), "rate-limit", true, true],
    [429, "", "rate-limit", true, true],
    [498, "", "overloaded", true, true],
    [503, json("whatever"), "overloaded", true, true],
    [500, json(null), "upstream-5xx", true, true],
    [524, "<html>", "timeout", true, true],
    [530, "", "upstream-5xx", true, true],
    [599, "", "upstream-5xx", true, true],
    [302, "", "protocol", false, true],
    [204, "", "protocol", true, true],
  ])("status %i with %s is %s", (status, body, errorClass, retrySame, fallback) => {
    expect(classify(status, body)).toMatchObject({
      class: errorClass,
      retrySame,
      fallback,
      status,
      origin: "upstream",
    });
  });

  test.each([
    ['{"error":{"message":"m1","type":"t","param":"p","code":5}}', "m1"],
    ['{"error":"m2"}', "m2"],
    ['{"object":"error","message":"m3","type":"t","param":null,"code":"c"}', "m3"],
    ['{"message":{"detail":[{"loc":["body",0],"msg":"m4"},{"msg":"m5"}]}}', "body.0: m4; m5"],
    ['{"detail":"m6"}', "m6"],
    ['[{"error":{"code":400,"message":"m7","status":"INVALID_ARGUMENT"}}]', "m7"],
    ['{"errors":["m8","m9"]}', "m8; m9"],
    ["plain words", "plain words"],
    ["<html><body>Bad Gateway</body></html>", "The provider refused the request as invalid."],
    ["", "The provider refused the request as invalid."],
    ["[]", "The provider refused the request as invalid."],
    ["null", "The provider refused the request as invalid."],
  ])("finds the message in %s", (body, message) => {
    expect(classify(400, body).message).toBe(message);
  });

  test("keeps what the upstream says about retries, its request id, code and parameter", () => {
    const body = '{"error":{"message":"x","type":"t","param":"messages","code":"c"}}';
    expect(classify(429, body, ["Retry-After", "7", "X-Should-Retry", "false", "x-request-id", "u1"])).toMatchObject({
      retryAfterMs: 7_000,
      retryAfterHeaders: ["retry-after", "7"],
      retrySame: false,
      upstreamRequestId: "u1",
      code: "c",
      type: "t",
      param: "messages",
    });
  });

  test("keeps no secret, host or address of a text", () => {
    const secrets =
      "Incorrect API key provided: sk-abcd1234wxyz. Bearer abcdefgh at http://10.1.2.3:8080/v1 or vllm.svc.local:8000";
    const { message } = classify(400, json(null, secrets));
    expect(message).not.toMatch(/abcd1234|abcdefgh|10\.1\.2\.3|vllm|8080/);
    expect(classify(400, json(null, "Unknown parameter: 'api_version' in tool call_abc.")).message).toBe(
      "Unknown parameter: 'api_version' in tool call_abc.",
    );
  });

  test("reads no more of a text body than a message needs", () => {
    expect(classify(500, "x".repeat(60_000)).message.length).toBeLessThanOrEqual(512);
  });

  test("takes any bytes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (status, body) => {
          expect(typeof classify(status, body).message).toBe("string");
        },
      ),
    );
  });
});

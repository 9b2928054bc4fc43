import { describe, expect, test } from "vitest";

import { clientTextOf, invalidRequest, maskSecrets, paramOf, upstreamError } from "./neutral-error.ts";

describe("maskSecrets", () => {
  test.each([
    ["Incorrect API key provided: sk-abcd****wxyz.", "Incorrect API key provided: [secret]"],
    ["key sk-proj-AbC123xyz789 refused", "key [secret] refused"],
    ["Authorization: Bearer abc.def-123", "Authorization: Bearer [secret]"],
    ["connect to http://10.0.0.5:8000/v1?key=1 failed", "connect to [url] failed"],
    ["connect ECONNREFUSED 10.0.0.5:8000", "connect ECONNREFUSED [host]"],
    ["vllm.prod.svc is down", "[host] is down"],
    ["AIzaSyA-1234567890abcdef", "[secret]"],
    ["This model's maximum context length is 8192 tokens.", "This model's maximum context length is 8192 tokens."],
    ["Unknown parameter: 'api_version'.", "Unknown parameter: 'api_version'."],
    [
      "Invalid 'tools[0].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.",
      "Invalid 'tools[0].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    ["tool call_abc123def456ghi789jkl012 has no answer", "tool call_abc123def456ghi789jkl012 has no answer"],
    [
      "max_tokens: 100000 is too large for claude-sonnet-4-5-20250929",
      "max_tokens: 100000 is too large for claude-sonnet-4-5-20250929",
    ],
  ])("%s", (text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });

  test("bounds the length of what it keeps", () => {
    expect(maskSecrets("a ".repeat(10_000)).length).toBeLessThan(2_100);
  });
});

describe("paramOf", () => {
  test.each([
    ["/messages/0/content", "messages[0].content"],
    ["/a~1b/~0", "a/b.~"],
    ["", ""],
  ])("%s", (pointer, param) => {
    expect(paramOf(pointer)).toBe(param);
  });
});

describe("clientTextOf", () => {
  test("passes texts about the client's request and our own, and replaces all others", () => {
    expect(clientTextOf(invalidRequest("Wrong.", "/n"))).toBe("Wrong.");
    expect(clientTextOf(upstreamError("rate-limit", "Slow down."))).toBe("Slow down.");
    expect(clientTextOf(upstreamError("auth", "sk-123 is wrong"))).toBe(
      "The gateway's provider credentials were rejected.",
    );
    expect(clientTextOf(upstreamError("upstream-5xx", "at db.internal"))).toBe("The model provider failed to answer.");
  });
});

import { describe, expect, test } from "vitest";

import { isContextLengthText, isSpendingText } from "./error-text.ts";

describe("isContextLengthText", () => {
  test.each([
    ["This model's maximum context length is 8192 tokens.", 400, true],
    ["prompt is too long: 210000 tokens > 200000 maximum", 400, true],
    ["input length and `max_tokens` exceed context limit: 1 + 2 > 3", 400, true],
    ["The input token count (1) exceeds the maximum number of tokens allowed (0).", 400, true],
    ["This exceeds the model's context window", 400, true],
    ["Input is too long for requested model.", undefined, true],
    ["Please reduce the length of the messages.", undefined, true],
    ["Too many tokens", 400, true],
    ["Too many tokens", 429, false],
    ["Invalid value", 400, false],
  ])("%s with status %s is %s", (message, status, expected) => {
    expect(isContextLengthText(message, status)).toBe(expected);
  });
});

describe("isSpendingText", () => {
  test.each([
    ["Your credit balance is too low", true],
    ["You exceeded your current quota", true],
    ["Rate limit reached", false],
  ])("%s is %s", (message, expected) => {
    expect(isSpendingText(message)).toBe(expected);
  });
});

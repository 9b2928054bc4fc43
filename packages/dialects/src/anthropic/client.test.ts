import { describe, expect, it } from "vitest";

import { anthropicClient } from "./client.ts";
import { documentOf } from "./test-exchange.ts";

describe("readCredential", () => {
  const rows = [
    { name: "x-api-key", headers: ["X-Api-Key", "k1"], expected: { ok: true, secret: "k1" } },
    { name: "bearer", headers: ["authorization", "bearer k1"], expected: { ok: true, secret: "k1" } },
    {
      name: "both the same",
      headers: ["x-api-key", "k1", "authorization", "Bearer k1"],
      expected: { ok: true, secret: "k1" },
    },
    {
      name: "both different",
      headers: ["x-api-key", "k1", "authorization", "Bearer k2"],
      expected: { ok: false, reason: "conflict" },
    },
    { name: "none", headers: [], expected: { ok: true, secret: null } },
    { name: "another scheme", headers: ["authorization", "Basic abc"], expected: { ok: true, secret: null } },
  ];
  it.each(rows)("reads $name", ({ headers, expected }) => {
    expect(anthropicClient.readCredential(headers, "")).toEqual(expected);
  });
});

describe("claims", () => {
  const rows = [
    { path: "/v1/messages", headers: [], expected: true },
    { path: "/v1/messages/batches", headers: [], expected: true },
    { path: "/v1/messagesx", headers: [], expected: false },
    { path: "/v1/models", headers: ["Anthropic-Version", "2023-06-01"], expected: true },
    { path: "/v1/models", headers: [], expected: false },
  ];
  it.each(rows)("$path with $headers is $expected", ({ path, headers, expected }) => {
    expect(anthropicClient.claims(path, headers)).toBe(expected);
  });
});

describe("checkHeaders", () => {
  it("accepts known versions and none", () => {
    for (const headers of [[], ["anthropic-version", "2023-06-01"], ["anthropic-version", "2026-10-21"]]) {
      expect(anthropicClient.checkHeaders(headers)).toBeNull();
    }
  });
  it("refuses an unknown version as an invalid request", () => {
    expect(anthropicClient.checkHeaders(["anthropic-version", "2019-01-01"])).toMatchObject({
      class: "invalid-request",
    });
  });
});

describe("readHead", () => {
  const route = { operation: "generate" as const, path: "/v1/messages", query: "beta=true", captures: {} };
  const facts = [
    { thinking: undefined, expected: { thinking: "absent", display: null } },
    { thinking: { type: "disabled" }, expected: { thinking: "disabled", display: null } },
    { thinking: { type: "adaptive", display: "omitted" }, expected: { thinking: "on", display: "omitted" } },
    { thinking: { type: "enabled", budget_tokens: 2048 }, expected: { thinking: "on", display: null } },
    { thinking: { type: "adaptive", display: "updates" }, expected: { thinking: "on", display: "summarized" } },
  ];
  it.each(facts)("reads model, stream and thinking $thinking", ({ thinking, expected }) => {
    const reading = anthropicClient.readHead(documentOf({ model: "m", stream: true, thinking }), route);
    expect(reading).toMatchObject({ ok: true, head: { model: "m", stream: true, facts: expected } });
  });

  const refused = [
    { body: "[]", message: "the body: expected an object, found a list." },
    { body: "{}", message: "/model: expected a model name, found nothing." },
    { body: '{"model":3}', message: "/model: expected a model name, found a number." },
    { body: '{"model":""}', message: "/model: expected a model name, found an empty string." },
    { body: '{"model":"m","stream":"yes"}', message: "/stream: expected true or false, found a string." },
  ];
  it.each(refused)("refuses $body with its place", ({ body, message }) => {
    expect(anthropicClient.readHead(documentOf(body), route)).toMatchObject({
      ok: false,
      error: { class: "invalid-request", message },
    });
  });
});

describe("estimateInputTokens", () => {
  it("counts media by what they are, not by their base64", () => {
    const image = (length: number): unknown => ({
      model: "m",
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(length) } }],
        },
      ],
    });
    const small = anthropicClient.estimateInputTokens(documentOf(image(4)));
    expect(anthropicClient.estimateInputTokens(documentOf(image(4_000_000)))).toBe(small);
    expect(small).toBeGreaterThan(1600);
  });
});

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");

describe("encodeRateLimits", () => {
  it("tells all four things, with resets as moments", () => {
    const standings = [
      { dimension: "requests", limit: 600, remaining: 599, resetMs: NOW_MS + 360_000 },
      { dimension: "tokens", limit: 1000, remaining: 0, resetMs: NOW_MS + 120 },
      { dimension: "inputTokens", limit: 7, remaining: 6, resetMs: NOW_MS + 1 },
      { dimension: "outputTokens", limit: 5, remaining: 4, resetMs: NOW_MS - 5 },
    ] as const;
    expect(anthropicClient.encodeRateLimits(standings, NOW_MS)).toEqual([
      "anthropic-ratelimit-requests-limit",
      "600",
      "anthropic-ratelimit-requests-remaining",
      "599",
      "anthropic-ratelimit-requests-reset",
      "2026-11-30T12:06:00Z",
      "anthropic-ratelimit-tokens-limit",
      "1000",
      "anthropic-ratelimit-tokens-remaining",
      "0",
      "anthropic-ratelimit-tokens-reset",
      "2026-11-30T12:00:01Z",
      "anthropic-ratelimit-input-tokens-limit",
      "7",
      "anthropic-ratelimit-input-tokens-remaining",
      "6",
      "anthropic-ratelimit-input-tokens-reset",
      "2026-11-30T12:00:01Z",
      "anthropic-ratelimit-output-tokens-limit",
      "5",
      "anthropic-ratelimit-output-tokens-remaining",
      "4",
      "anthropic-ratelimit-output-tokens-reset",
      "2026-11-30T12:00:00Z",
    ]);
    expect(anthropicClient.encodeRateLimits([], NOW_MS)).toEqual([]);
  });
});

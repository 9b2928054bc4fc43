import { describe, expect, test } from "vitest";

import { documentOf } from "../testing/spelled-json.ts";
import { openaiChatClient } from "./client.ts";

const ROUTE = { operation: "generate", path: "/v1/chat/completions", query: "", captures: {} } as const;

describe("claims", () => {
  test.each([
    ["/v1/chat/completions", [], true],
    ["/v1/models", [], true],
    ["/unknown", [], true],
    ["/v1/messagesx", [], true],
    ["/v1/messages", [], false],
    ["/v1/messages/count_tokens", [], false],
    ["/v1beta/models", [], false],
    ["/v1/models", ["Anthropic-Version", "2023-06-01"], false],
    ["/v1/models", ["x-goog-api-key", "k"], false],
  ])("%s with %j is %s", (path, headers, expected) => {
    expect(openaiChatClient.claims(path, headers)).toBe(expected);
  });
});

describe("readCredential", () => {
  test.each([
    [[], { ok: true, secret: null }],
    [["Authorization", "Bearer k"], { ok: true, secret: "k" }],
    [["authorization", "bearer  k "], { ok: true, secret: "k" }],
    [["api-key", "k"], { ok: true, secret: "k" }],
    [["authorization", "Bearer k", "api-key", "k"], { ok: true, secret: "k" }],
    [["authorization", "Bearer k", "api-key", "other"], { ok: false, reason: "conflict" }],
    [["authorization", "Bearer k", "authorization", "Bearer l"], { ok: false, reason: "conflict" }],
    [["authorization", "Basic k"], { ok: true, secret: null }],
    [["authorization", "Bearer "], { ok: true, secret: null }],
  ])("%j", (headers, expected) => {
    expect(openaiChatClient.readCredential(headers, "")).toEqual(expected);
  });
});

describe("readHead", () => {
  test("reads model, stream flag and what answers need", () => {
    const document = documentOf(
      '{"model":"m\\u00e9","stream":true,"stream_options":{"include_usage":true},"n":2,"functions":[{"name":"f"}]}',
    );
    const reading = openaiChatClient.readHead(document, ROUTE);
    expect(reading).toMatchObject({
      ok: true,
      head: { model: "mé", stream: true, facts: { includeUsage: true, usesDeprecatedFunctions: true, n: 2 } },
    });
    expect(reading.ok ? document.string(reading.head.modelNode) : "").toBe("mé");
  });

  test("takes null for absent", () => {
    const reading = openaiChatClient.readHead(
      documentOf('{"model":"m","stream":null,"stream_options":null,"functions":null,"function_call":null}'),
      ROUTE,
    );
    expect(reading).toMatchObject({
      ok: true,
      head: { stream: false, facts: { includeUsage: false, usesDeprecatedFunctions: false, n: 1 } },
    });
  });
});

describe("estimateInputTokens", () => {
  test("counts media by their kind, not by the length of their base64", () => {
    const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,${"A".repeat(100_000)}"}}`;
    const low = '{"type":"image_url","image_url":{"url":"https://x.test","detail":"low"}}';
    const body = (content: string): string => `{"model":"m","messages":[{"role":"user","content":${content}}]}`;
    const estimate = (content: string): number => openaiChatClient.estimateInputTokens(documentOf(body(content)));
    expect(estimate(`[${image}]`)).toBe(1_104);
    expect(estimate(`[${low}]`)).toBe(89);
    expect(estimate(`"${"x".repeat(4_000)}"`)).toBe(1_005);
    expect(openaiChatClient.estimateInputTokens(documentOf("{}"))).toBe(0);
  });
});

describe("lists and small answers", () => {
  test("writes models as this dialect's clients read them", () => {
    const models = [{ id: 'a"b', displayName: "A", createdSeconds: 5 }];
    const list = openaiChatClient.encodeModelList(models, "");
    expect(list.ok ? JSON.parse(Buffer.from(list.body).toString()) : null).toEqual({
      object: "list",
      data: [{ id: 'a"b', object: "model", created: 5, owned_by: "gateway" }],
    });
    expect(JSON.parse(Buffer.from(openaiChatClient.encodeModel(models[0]!)).toString())).toEqual({
      id: 'a"b',
      object: "model",
      created: 5,
      owned_by: "gateway",
    });
  });

  test("writes counts, comments and the terminator", () => {
    expect(Buffer.from(openaiChatClient.encodeTokenCount(9)).toString()).toBe('{"input_tokens":9}');
    expect(Buffer.from(openaiChatClient.keepAlive).toString()).toBe(": keep-alive\n\n");
    expect(Buffer.from(openaiChatClient.streamTerminator ?? []).toString()).toBe("data: [DONE]\n\n");
    expect(openaiChatClient.identify("r")).toEqual(["x-request-id", "r"]);
    expect(openaiChatClient.checkHeaders([])).toBeNull();
  });
});

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");

describe("encodeRateLimits", () => {
  test("tells requests and tokens, with resets as durations", () => {
    const standings = [
      { dimension: "requests", limit: 600, remaining: 599, resetMs: NOW_MS + 360_000 },
      { dimension: "tokens", limit: 1000, remaining: 0, resetMs: NOW_MS + 120 },
      { dimension: "inputTokens", limit: 7, remaining: 6, resetMs: NOW_MS + 1 },
      { dimension: "outputTokens", limit: 5, remaining: 4, resetMs: NOW_MS - 5 },
    ] as const;
    expect(openaiChatClient.encodeRateLimits(standings, NOW_MS)).toEqual([
      "x-ratelimit-limit-requests",
      "600",
      "x-ratelimit-remaining-requests",
      "599",
      "x-ratelimit-reset-requests",
      "6m0s",
      "x-ratelimit-limit-tokens",
      "1000",
      "x-ratelimit-remaining-tokens",
      "0",
      "x-ratelimit-reset-tokens",
      "120ms",
    ]);
    expect(openaiChatClient.encodeRateLimits([], NOW_MS)).toEqual([]);
  });
});

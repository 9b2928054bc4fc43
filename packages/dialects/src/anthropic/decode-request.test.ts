import { isSlice, rawToValue, textToString, type Part } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { encodeEnvelope } from "../shared/signature-envelope.ts";
import { decodeRequest } from "./decode-request.ts";
import { documentOf, headOf, requestOf } from "./test-exchange.ts";

/** References written out, so that a request can be compared with a literal. */
const plain = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if ("bytes" in value) {
    const source = Buffer.from((value as { bytes: Uint8Array }).bytes).subarray(
      (value as unknown as { start: number }).start,
      (value as unknown as { end: number }).end,
    );
    return source.toString("utf8");
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
};

const base = { model: "m", max_tokens: 10 };
const user = (content: unknown): unknown => ({ ...base, messages: [{ role: "user", content }] });
const partsOf = (content: unknown): readonly Part[] => requestOf(user(content)).messages[0]?.parts ?? [];

describe("decodeRequest", () => {
  it("reads limits, sampling, identity and tiers", () => {
    const request = requestOf({
      ...(user("Hi") as object),
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ["END"],
      metadata: { user_id: "u" },
      service_tier: "standard_only",
      speed: "fast",
      stream: true,
    });
    expect(plain(request)).toMatchObject({
      source: "anthropic",
      operation: "generate",
      model: "m",
      stream: true,
      maxOutputTokens: "10",
      sampling: { temperature: "0.5", topP: "0.9", topK: "5" },
      stop: ["END"],
      identity: { endUser: "u" },
      serviceTier: "default",
      speed: "fast",
      extensions: [],
    });
  });

  it("leaves neutral values out", () => {
    const request = requestOf({
      ...(user("Hi") as object),
      service_tier: "auto",
      speed: "standard",
      tool_choice: { type: "auto" },
      metadata: {},
      stop_sequences: [],
      system: null,
      tools: [],
      thinking: null,
    });
    for (const member of [
      "serviceTier",
      "speed",
      "toolChoice",
      "parallelTools",
      "stop",
      "reasoning",
      "state",
      "betas",
    ]) {
      expect(request).not.toHaveProperty(member);
    }
  });

  it("references the client's bytes for text", () => {
    const document = documentOf(user("x".repeat(5000)));
    const decoded = decodeRequest(
      document,
      headOf(document),
      { operation: "generate", path: "", query: "", captures: {} },
      [],
    );
    if (!decoded.ok) throw new Error(decoded.error.message);
    const [part] = decoded.request.messages[0]?.parts ?? [];
    expect(part?.type === "text" && isSlice(part.text) && part.text.bytes === document.bytes).toBe(true);
  });

  it("reads system blocks, and system messages in the conversation, as instructions", () => {
    const request = requestOf({
      ...base,
      system: [{ type: "text", text: "base", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [
        { role: "user", content: "a" },
        { role: "system", content: [{ type: "text", text: "plan mode" }] },
        { role: "user", content: "b" },
      ],
    });
    expect(plain(request.messages)).toMatchObject([
      { role: "instruction", position: "leading", parts: [{ text: "base", cacheBreakpoint: { ttlSeconds: 3600 } }] },
      { role: "user", parts: [{ text: "a" }] },
      { role: "instruction", position: "mid", parts: [{ text: "plan mode", at: "/messages/1/content/0" }] },
      { role: "user", parts: [{ text: "b" }] },
    ]);
  });

  it("joins neighbours of one role and puts results first, in the order of their calls", () => {
    const call = (id: string): unknown => ({ type: "tool_use", id, name: "f", input: {} });
    const result = (id: string): unknown => ({ type: "tool_result", tool_use_id: id, content: id });
    const request = requestOf({
      ...base,
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [call("1"), call("2")] },
        { role: "user", content: [{ type: "text", text: "t" }, result("2")] },
        { role: "user", content: [result("1")] },
      ],
    });
    const parts = request.messages[2]?.parts ?? [];
    expect(parts.map((part) => (part.type === "tool-result" ? textToString(part.callId) : part.type))).toEqual([
      "1",
      "2",
      "text",
    ]);
  });

  it("keeps call arguments byte for byte", () => {
    const request = requestOf(
      '{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"n": 12345678901234567890, "x":1.0}}]}]}',
    );
    expect(plain(request.messages[0]?.parts)).toMatchObject([
      { type: "tool-call", arguments: { text: '{"n": 12345678901234567890, "x":1.0}', encoded: false } },
    ]);
  });

  const media = [
    {
      source: { type: "base64", media_type: "image/png", data: "QQ==" },
      expected: { from: "base64", mime: "image/png", data: "QQ==" },
    },
    { source: { type: "url", url: "https://x.test/a.png" }, expected: { from: "url", url: "https://x.test/a.png" } },
    { source: { type: "file", file_id: "f1" }, expected: { from: "file-ref", dialect: "anthropic", id: "f1" } },
  ];
  it.each(media)("reads an image of $source.type", ({ source, expected }) => {
    expect(plain(partsOf([{ type: "image", source }]))).toMatchObject([{ type: "image", media: expected }]);
  });

  it("reads documents, and flattens those made of blocks", () => {
    const image = { type: "image", source: { type: "url", url: "u" } };
    const content = [{ type: "text", text: "a" }, image, { type: "text", text: "b" }];
    const parts = partsOf([
      {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "d" },
        title: "T",
        context: "C",
        citations: { enabled: true },
      },
      { type: "document", source: { type: "content", content } },
    ]);
    expect(plain(parts)).toMatchObject([
      { type: "file", media: { from: "text", text: "d" }, title: "T", context: "C", citations: true },
      { type: "file", media: { from: "text", text: "a\nb" } },
      { type: "image", media: { from: "url", url: "u" } },
    ]);
  });

  it("reads thinking, redacted thinking and carriers of other providers", () => {
    const carrier = encodeEnvelope({ origin: "o", model: "gpt", data: "enc" });
    const request = requestOf({
      ...base,
      messages: [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "S1" },
            { type: "thinking", thinking: "", signature: "S2" },
            { type: "redacted_thinking", data: "R" },
            { type: "thinking", thinking: "x", signature: carrier },
            { type: "thinking", thinking: "y", signature: "" },
          ],
        },
      ],
    });
    expect(plain(request.messages[0]?.parts)).toMatchObject([
      { type: "reasoning", form: "summary", texts: ["t"], signature: { origin: "a", data: "S1" } },
      { type: "reasoning", texts: [], signature: { origin: "a", data: "S2" } },
      { type: "reasoning", form: "opaque", redacted: "R", signature: { origin: "ar", data: "R" } },
      { type: "reasoning", texts: ["x"], signature: { origin: "o", model: "gpt", data: "enc" } },
      { type: "reasoning", texts: ["y"] },
    ]);
  });

  it("keeps server blocks and unknown blocks whole", () => {
    const parts = partsOf([
      { type: "web_search_tool_result", tool_use_id: "1" },
      { type: "hologram", depth: 3 },
    ]);
    expect(parts.map(({ type }) => type)).toEqual(["server-tool", "opaque"]);
    expect(parts[1]?.type === "opaque" && rawToValue(parts[1].raw)).toEqual({ type: "hologram", depth: 3 });
  });

  const thinking = [
    { body: { thinking: { type: "disabled" } }, expected: { mode: "off" } },
    {
      body: { thinking: { type: "enabled", budget_tokens: 2000 } },
      expected: { mode: "budget", budgetTokens: "2000" },
    },
    {
      body: { thinking: { type: "adaptive", display: "summarized" } },
      expected: { mode: "adaptive", show: "summary" },
    },
    { body: { thinking: { type: "between_tools" } }, expected: { mode: "between-tools" } },
    { body: { output_config: { effort: "max" } }, expected: { effort: "max" } },
  ];
  it.each(thinking)("reads reasoning $expected", ({ body, expected }) => {
    expect(plain(requestOf({ ...(user("Hi") as object), ...body }).reasoning)).toEqual(expected);
  });

  it("reads an empty output limit as filling the cache", () => {
    const request = requestOf({ ...(user("Hi") as object), max_tokens: 0 });
    expect(request.cache).toEqual({ prewarm: true });
    expect(request).not.toHaveProperty("maxOutputTokens");
  });

  it("reads tools of every kind", () => {
    const request = requestOf({
      ...(user("Hi") as object),
      tools: [
        { name: "f", input_schema: { type: "object" }, strict: true, defer_loading: false, input_examples: [{}] },
        { type: "bash_20250124", name: "bash" },
        { type: "web_search_20250305", name: "web_search" },
        { type: "custom", name: "g", input_schema: { type: "object" }, eager_input_streaming: true },
      ],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    });
    expect(plain(request.tools)).toMatchObject([
      {
        kind: "function",
        name: "f",
        strict: true,
        extensions: [{ path: "input_examples", code: "tool_extra_unsupported" }],
      },
      { kind: "server", toolType: "bash_20250124", clientExecuted: true },
      { kind: "server", toolType: "web_search_20250305", clientExecuted: false },
      { kind: "function", name: "g", extensions: [] },
    ]);
    expect(request.toolChoice).toEqual({ mode: "required" });
    expect(request.parallelTools).toBe(false);
  });

  it("keeps what has no neutral place, with the code of its row", () => {
    const request = requestOf(
      {
        ...(user([{ type: "text", text: "x", glow: 1 }]) as object),
        container: "c",
        context_management: {},
        new_member: 1,
        metadata: { user_id: "u", team: "t" },
        output_config: { task_budget: {} },
        thread: { id: "t" },
      },
      "generate",
      ["anthropic-beta", "b-1"],
    );
    expect(request.extensions.map(({ path, code, at }) => [path, code, at])).toEqual([
      ["container", "beta_unsupported", "/container"],
      ["context_management", "context_management_unsupported", "/context_management"],
      ["new_member", undefined, "/new_member"],
      ["output_config.task_budget", "unknown_field", "/output_config/task_budget"],
      ["metadata.team", undefined, "/metadata/team"],
    ]);
    expect(request.messages[0]?.parts[0]?.extensions).toMatchObject([
      { path: "glow", at: "/messages/0/content/0/glow" },
    ]);
    expect(plain(request.state)).toEqual({ thread: '{"id":"t"}' });
    expect(request.betas).toEqual(["b-1"]);
  });

  const refused = [
    {
      body: { ...(user("x") as object), max_tokens: 1.5 },
      message: "/max_tokens: expected a whole number that is not negative.",
    },
    {
      body: { ...(user("x") as object), max_tokens: -1 },
      message: "/max_tokens: expected a whole number that is not negative.",
    },
    { body: { ...base }, message: "/messages: expected a list of messages, found nothing." },
    { body: { ...base, messages: {} }, message: "/messages: expected a list of messages, found an object." },
    { body: { ...base, messages: [] }, message: "/messages: expected at least one message, found an empty list." },
    { body: { ...base, messages: [3] }, message: "/messages/0: expected a message object, found a number." },
    {
      body: { ...base, messages: [{ role: "tool", content: "" }] },
      message: "/messages/0/role: expected one of user, assistant, system, found a string.",
    },
    { body: user(7), message: "/messages/0/content: expected a string or a list of content blocks, found a number." },
    { body: user(["x"]), message: "/messages/0/content/0: expected a content block with a type, found a string." },
    {
      body: user([{ type: "text", text: 1 }]),
      message: "/messages/0/content/0/text: expected a string, found a number.",
    },
    { body: user([{ type: "image" }]), message: "/messages/0/content/0/source: expected an object, found nothing." },
    {
      body: { model: "m", messages: [{ role: "user", content: "x" }] },
      message: "/max_tokens: expected a number, found nothing.",
    },
    {
      body: { ...(user("x") as object), temperature: "hot" },
      message: "/temperature: expected a number, found a string.",
    },
    { body: { ...(user("x") as object), tools: [{}] }, message: "/tools/0/name: expected a string, found nothing." },
    {
      body: { ...(user("x") as object), tool_choice: { type: "tool", name: "f" } },
      message: "/tool_choice/name: expected the name of a tool in `tools`.",
    },
    {
      body: { ...(user("x") as object), thinking: { type: "enabled" } },
      message: "/thinking/budget_tokens: expected a number, found nothing.",
    },
  ];
  it.each(refused)("refuses: $message", ({ body, message }) => {
    expect(() => requestOf(body)).toThrow(message);
  });

  it("takes a counting call without an output limit", () => {
    const request = requestOf(
      { model: "m", messages: [{ role: "user", content: "x" }], temperature: 1, new_member: 1 },
      "count-tokens",
    );
    expect(request).toMatchObject({ operation: "count-tokens", sampling: {}, extensions: [] });
  });

  it("takes time in proportion to the number of messages", () => {
    const messages = Array.from({ length: 20_000 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: "x",
    }));
    expect(requestOf({ ...base, messages }).messages).toHaveLength(20_000);
  });
});

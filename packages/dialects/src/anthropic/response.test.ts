import { textToString, type NeutralResponse, type Part, type Stop } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { encodeEnvelope } from "../shared/signature-envelope.ts";
import { decodeResponse, decodeTokenCount } from "./decode-response.ts";
import { encodeResponse } from "./encode-response.ts";
import { observeResponse, readUsage } from "./observe-stream.ts";
import type { AnthropicFacts } from "./read-head.ts";
import { answerContext, decodeContext, documentOf } from "./test-exchange.ts";

const message = (members: object = {}): object => ({
  id: "msg_u1",
  type: "message",
  role: "assistant",
  model: "up-model",
  content: [],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 1 },
  ...members,
});

const decode = (body: unknown, profile?: string): NeutralResponse => {
  const decoded = decodeResponse(documentOf(body), decodeContext(profile));
  if (!decoded.ok) throw new Error(`${decoded.error.class}: ${decoded.error.message}`);
  return decoded.response;
};

describe("decodeResponse", () => {
  it("reads thinking, text and calls with their counts", () => {
    const response = decode(
      '{"id":"msg_u1","type":"message","role":"assistant","model":"up-model","content":[{"type":"thinking","thinking":"hmm","signature":"c2ln"},{"type":"text","text":"Calling."},{"type":"tool_use","id":"toolu_1","name":"get","input":{"c": "Oslo"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":30,"output_tokens_details":{"thinking_tokens":5}}}',
    );
    const [candidate] = response.candidates;
    const [reasoning, , call] = candidate?.parts ?? [];
    expect(response).toMatchObject({
      id: "msg_u1",
      model: "up-model",
      usage: { input: 100, cacheRead: 70, cacheWrite: 20, output: 30, reasoning: 5, source: "upstream", final: true },
      candidates: [{ index: 0, stop: { reason: "tool-calls", raw: "tool_use" } }],
    });
    expect(reasoning?.type === "reasoning" && reasoning.signature).toMatchObject({ origin: "a", model: "up-model" });
    const args = call?.type === "tool-call" ? call.arguments.text : "";
    expect(typeof args === "object" && "bytes" in args ? textToString(args) : args).toBe('{"c": "Oslo"}');
  });

  const stops: { readonly word: string; readonly content?: readonly object[]; readonly expected: Partial<Stop> }[] = [
    { word: "end_turn", expected: { reason: "end" } },
    {
      word: "end_turn",
      content: [{ type: "tool_use", id: "1", name: "f", input: {} }],
      expected: { reason: "tool-calls" },
    },
    { word: "tool_use", expected: { reason: "end" } },
    {
      word: "max_tokens",
      content: [{ type: "tool_use", id: "1", name: "f", input: {} }],
      expected: { reason: "max-tokens" },
    },
    { word: "model_context_window_exceeded", expected: { reason: "context-window" } },
    { word: "pause_turn", expected: { reason: "pause" } },
    { word: "compaction", expected: { reason: "other", raw: "compaction" } },
  ];
  it.each(stops)("reads stop word $word as $expected.reason", ({ word, content, expected }) => {
    expect(decode(message({ stop_reason: word, content: content ?? [] })).candidates[0]?.stop).toMatchObject(expected);
  });

  it("reads a stop sequence and a refusal's details", () => {
    expect(decode(message({ stop_reason: "stop_sequence", stop_sequence: "END" })).candidates[0]?.stop).toMatchObject({
      sequence: "END",
    });
    const details = { type: "refusal", category: "cyber", explanation: "Not allowed." };
    expect(decode(message({ stop_reason: "refusal", stop_details: details })).candidates[0]?.stop).toEqual({
      reason: "refusal",
      raw: "refusal",
      detail: { category: "cyber", explanation: "Not allowed." },
    });
  });

  it("does not take a provider's own signature for an envelope", () => {
    const signature = encodeEnvelope({ origin: "o", model: "x", data: "y" });
    const [part] =
      decode(message({ content: [{ type: "thinking", thinking: "", signature }] })).candidates[0]?.parts ?? [];
    expect(part?.type === "reasoning" && part.signature?.origin).toBe("a");
  });

  const broken = [
    { body: "[]", message: "protocol" },
    { body: message({ content: "text" }), message: "protocol" },
    { body: message({ content: [{ type: "tool_use", id: "1", name: "f", input: "{}" }] }), message: "protocol" },
    { body: message({ stop_reason: null }), message: "protocol" },
    { body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, message: "overloaded" },
  ];
  it.each(broken)("refuses $body as $message", ({ body, message: expected }) => {
    expect(() => decode(body)).toThrow(expected);
  });

  it("derives the stop of a lenient profile", () => {
    expect(decode(message({ stop_reason: null }), "proxy").candidates[0]?.stop.reason).toBe("end");
  });
});

describe("observeResponse, readUsage and decodeTokenCount", () => {
  it("reads counts and stop word without decoding", () => {
    expect(observeResponse(documentOf(message()), decodeContext())).toMatchObject({
      ok: true,
      usage: { input: 9, output: 1 },
      stopWord: "end_turn",
    });
    expect(readUsage(documentOf({ usage: { input_tokens: 1, cache_read_input_tokens: 2 } }))).toMatchObject({
      input: 3,
      cacheRead: 2,
    });
    expect(readUsage(documentOf({}))).toBeNull();
  });
  it("sees an error inside a 200", () => {
    const body = { type: "error", error: { type: "rate_limit_error", message: "slow" } };
    expect(observeResponse(documentOf(body), decodeContext())).toMatchObject({
      ok: false,
      error: { class: "rate-limit" },
    });
  });
  it("takes an answer without a stop reason for a broken one, unless the profile is lenient", () => {
    const body = { ...message(), stop_reason: null };
    expect(observeResponse(documentOf(body), decodeContext())).toMatchObject({
      ok: false,
      error: { class: "protocol" },
    });
    expect(observeResponse(documentOf(body), decodeContext("proxy"))).toMatchObject({ ok: true, stopWord: null });
  });
  it("reads a token count, and refuses anything else", () => {
    expect(decodeTokenCount(documentOf({ input_tokens: 14 }))).toEqual({ ok: true, count: 14 });
    for (const body of [{}, { input_tokens: "14" }, { input_tokens: -1 }, { input_tokens: 1.5 }]) {
      expect(decodeTokenCount(documentOf(body))).toMatchObject({ ok: false, error: { class: "protocol" } });
    }
  });
});

describe("encodeResponse", () => {
  const END: Stop = { reason: "end", raw: "stop" };
  const answer = (
    parts: readonly Part[],
    stop: Stop = END,
    members: Partial<NeutralResponse> = {},
  ): NeutralResponse => ({
    model: "up-model",
    candidates: [{ index: 0, parts, stop }],
    extensions: [],
    ...members,
  });
  const call = (args: string, extra: object = {}): Part =>
    ({
      type: "tool-call",
      id: "call_a",
      name: "get",
      kind: "function",
      arguments: { text: args, encoded: true },
      at: "",
      ...extra,
    }) as Part;
  const thought = (extra: object = {}): Part =>
    ({ type: "reasoning", form: "raw", texts: ["hmm"], at: "", ...extra }) as Part;
  const text = (value: string): Part => ({ type: "text", text: value, at: "" });
  const foreign = { signature: { origin: "o", model: "up-model", data: "enc" } };

  const encode = (
    response: NeutralResponse,
    facts: Partial<AnthropicFacts> = {},
    options = {},
  ): Record<string, unknown> => {
    const encoded = encodeResponse(response, answerContext(facts, options));
    if (!encoded.ok) throw new Error(`${encoded.error.class}: ${encoded.error.message}`);
    return JSON.parse(Buffer.from(encoded.body).toString("utf8")) as Record<string, unknown>;
  };

  it("writes a whole message", () => {
    const usage = { input: 100, cacheRead: 60, output: 20, source: "upstream", final: true } as const;
    const encoded = encodeResponse(
      answer([text(""), thought(), call('{"c":"Oslo"}')], { reason: "tool-calls", raw: "stop" }, { usage }),
      answerContext({ thinking: "on", display: "summarized" }),
    );
    expect(encoded.ok && Buffer.from(encoded.body).toString("utf8")).toBe(
      '{"id":"msg_t1","type":"message","role":"assistant","model":"up-model","content":[{"type":"thinking","thinking":"hmm","signature":""},{"type":"tool_use","id":"call_a","name":"get","input":{"c":"Oslo"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":40,"cache_creation_input_tokens":0,"cache_read_input_tokens":60,"output_tokens":20}}',
    );
  });

  const shown = [
    {
      name: "shown, with a carrier",
      facts: { thinking: "on", display: "summarized" },
      parts: [thought(foreign), text("Hi")],
      expected: ["thinking:hmm:gwsig1.o.dXAtbW9kZWw.ZW5j", "text"],
    },
    {
      name: "omitted, with a carrier in place",
      facts: { thinking: "on", display: "omitted" },
      parts: [thought(foreign), text("Hi")],
      expected: ["thinking::gwsig1.o.dXAtbW9kZWw.ZW5j", "text"],
    },
    {
      name: "omitted, without a carrier",
      facts: { thinking: "on", display: "omitted" },
      parts: [thought(), text("Hi")],
      expected: ["text"],
    },
    { name: "not asked for, no call", facts: {}, parts: [thought(foreign), text("Hi")], expected: ["text"] },
    {
      name: "not asked for, right before the call",
      facts: {},
      parts: [thought(foreign), text("Hi"), call("{}")],
      expected: ["text", "thinking::gwsig1.o.dXAtbW9kZWw.ZW5j", "tool_use"],
    },
    {
      name: "a call's own signature",
      facts: {},
      parts: [call("{}", { signature: { origin: "g", data: "Z3NpZw==" } })],
      expected: ["thinking::gwsig1.g.dXAtbW9kZWw.WjNOcFp3PT0", "tool_use"],
    },
    {
      name: "an own signature as it is",
      facts: { thinking: "on" },
      parts: [thought({ signature: { origin: "a", data: "c2ln" } })],
      expected: ["thinking:hmm:c2ln"],
    },
    {
      name: "redacted thinking",
      facts: {},
      parts: [thought({ texts: [], signature: { origin: "ar", data: "R" } })],
      expected: ["redacted_thinking"],
    },
    {
      name: "segments",
      facts: { thinking: "on" },
      parts: [thought({ texts: ["a", "b"] })],
      expected: ["thinking:a\n\nb:"],
    },
    { name: "white space before a call", facts: {}, parts: [text("\n"), call("{}")], expected: ["tool_use"] },
    { name: "a refusal", facts: {}, parts: [{ type: "refusal", text: "No.", at: "" } as Part], expected: ["text"] },
  ] as const;
  it.each(shown)("content: $name", ({ facts, parts, expected }) => {
    const { content } = encode(answer(parts), facts) as {
      content: { type: string; thinking?: string; signature?: string }[];
    };
    expect(
      content.map((block) =>
        block.type === "thinking" ? `thinking:${block.thinking}:${block.signature}` : block.type,
      ),
    ).toEqual(expected);
  });

  const stops: { readonly stop: Stop; readonly expected: object }[] = [
    { stop: END, expected: { stop_reason: "end_turn", stop_sequence: null } },
    {
      stop: { reason: "stop-sequence", raw: "", sequence: "END" },
      expected: { stop_reason: "stop_sequence", stop_sequence: "END" },
    },
    { stop: { reason: "content-filter", raw: "content_filter" }, expected: { stop_reason: "refusal" } },
    { stop: { reason: "context-window", raw: "" }, expected: { stop_reason: "model_context_window_exceeded" } },
    { stop: { reason: "pause", raw: "" }, expected: { stop_reason: "pause_turn" } },
    { stop: { reason: "other", raw: "x" }, expected: { stop_reason: "end_turn" } },
    {
      stop: { reason: "refusal", raw: "refusal", detail: { category: "cyber" } },
      expected: { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation: null } },
    },
  ];
  it.each(stops)("stop $stop.reason", ({ stop, expected }) => {
    expect(encode(answer([text("x")], stop))).toMatchObject(expected);
  });

  it("removes a call that the output limit cut", () => {
    expect(encode(answer([text("a"), call('{"c":"Os')], { reason: "max-tokens", raw: "length" }))).toMatchObject({
      content: [{ type: "text" }],
      stop_reason: "max_tokens",
    });
  });

  const impossible = [
    { name: "arguments that are no object", response: answer([call("[1]")]), expected: "protocol" },
    {
      name: "nothing but an image",
      response: answer([{ type: "image", media: { from: "base64", data: "QQ==" }, at: "" }]),
      expected: "unrepresentable_output",
    },
    { name: "an error stop", response: answer([], { reason: "malformed-tool-call", raw: "x" }), expected: "protocol" },
  ];
  it.each(impossible)("refuses $name", ({ response, expected }) => {
    expect(() => encode(response)).toThrow(expected);
  });

  it("writes an empty answer and zero counts", () => {
    expect(encode(answer([]))).toMatchObject({ content: [], usage: { input_tokens: 0, output_tokens: 0 } });
  });

  it("writes every nullable member where strictly typed clients want them", () => {
    expect(encode(answer([text("x"), call("{}")]), {}, { fullMembers: true })).toMatchObject({
      content: [{ citations: null }, { caller: { type: "direct" } }],
      stop_details: null,
      container: null,
      usage: { cache_creation: null, service_tier: null, speed: null },
    });
  });

  it("gives back what it read", () => {
    const body = message({
      content: [
        { type: "thinking", thinking: "t", signature: "c2ln" },
        { type: "redacted_thinking", data: "R" },
        { type: "text", text: 'h\u00e9 "q"' },
        { type: "tool_use", id: "toolu_1", name: "f", input: { a: [1, { b: "x" }] } },
        { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      ],
      stop_reason: "tool_use",
      context_management: { applied_edits: [] },
      usage: {
        input_tokens: 1,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 },
        output_tokens: 4,
        server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
        service_tier: "priority",
      },
    });
    expect(encode(decode(body), { thinking: "on" })).toEqual({ ...body, id: "msg_t1" });
  });
});

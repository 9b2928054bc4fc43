import { describe, expect, test } from "vitest";

import { scan } from "@dragoman/core";
import type { AnswerContext, Candidate, NeutralResponse, ToolMap } from "@dragoman/core";

import { decodeResponse } from "./decode-response.ts";
import { encodeResponse } from "./encode-response.ts";
import { observeResponse } from "./observe-response.ts";
import { compileChatProfile } from "./compile-profile.ts";
import type { ChatFacts } from "./read-head.ts";

interface ContextOptions {
  readonly facts?: Partial<ChatFacts>;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly toolMap?: ToolMap;
  readonly counted?: string[];
}

function answerContext({
  facts = {},
  options = {},
  toolMap,
  counted = [],
}: ContextOptions = {}): AnswerContext<ChatFacts> {
  return {
    requestId: "r",
    createdSeconds: 7,
    makeId: (prefix) => `${prefix}1`,
    facts: { includeUsage: false, usesDeprecatedFunctions: false, n: 1, ...facts },
    upstreamModel: "up",
    toolMap: toolMap ?? null,
    options,
    count: (name) => counted.push(name),
  };
}

function decodeContext(profileName: string): Parameters<typeof decodeResponse>[1] {
  const compiled = compileChatProfile(profileName, {});
  if (!compiled.ok) throw new Error(profileName);
  return { profile: compiled.profile, upstreamModel: "up", headers: [], count: () => {} };
}

function parse(text: string): Parameters<typeof decodeResponse>[0] {
  const result = scan(Buffer.from(text), { duplicates: "last-wins" });
  if (!result.ok) throw new Error(result.error.message);
  return result.document;
}

function normalized(text: string, profileName = "generic", context: ContextOptions = {}): unknown {
  const decoded = decodeResponse(parse(text), decodeContext(profileName));
  if (!decoded.ok) return decoded.error.message;
  const encoded = encodeResponse(decoded.response, answerContext(context));
  return encoded.ok ? JSON.parse(Buffer.from(encoded.body).toString()) : encoded.error.message;
}

const response = (candidate: Partial<Candidate>): NeutralResponse => ({
  candidates: [{ index: 0, parts: [], stop: { reason: "end", raw: "end_turn" }, ...candidate }],
  extensions: [],
});

function encoded(candidate: Partial<Candidate>, context: ContextOptions = {}): unknown {
  const result = encodeResponse(response(candidate), answerContext(context));
  if (!result.ok) return result.error.message;
  return (JSON.parse(Buffer.from(result.body).toString()) as { choices: unknown[] }).choices[0];
}

describe("answers in the standard shape", () => {
  test("joins content lists, names calls, keeps vendor members and drops nothing", () => {
    const upstream =
      '{"id":"u","object":"chat.completion","created":1,"model":"m1","system_fingerprint":"fp","vendor":{"a": 1.0},"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}],"tool_calls":[{"function":{"name":"f","arguments":{"n": 1.0}}}],"vendor_m":1},"finish_reason":"tool_calls","vendor_c":2}],"usage":{"prompt_tokens":5,"completion_tokens":3,"num_cached_tokens":9}}';
    expect(normalized(upstream, "mistral")).toEqual({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 7,
      model: "m1",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "ab",
            refusal: null,
            reasoning_content: "t",
            tool_calls: [
              {
                id: expect.stringMatching(/^call_/),
                type: "function",
                function: { name: "f", arguments: '{"n": 1.0}' },
              },
            ],
            vendor_m: 1,
          },
          logprobs: null,
          finish_reason: "tool_calls",
          vendor_c: 2,
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, prompt_tokens_details: { cached_tokens: 5 } },
      system_fingerprint: "fp",
      vendor: { a: 1 },
    });
  });

  test.each([
    ["no object", "[]", "The provider's answer is no object."],
    ["no choices", '{"choices":[]}', "The provider's answer has no choices."],
    [
      "no finish word",
      '{"choices":[{"message":{"content":"a"},"finish_reason":null}]}',
      "A choice of the provider's answer has no message or no finish_reason.",
    ],
    ["an error with status 200", '{"error":{"message":"boom"}}', "boom"],
    [
      "a failure in the place of a finish",
      '{"choices":[{"message":{"content":"a"},"finish_reason":"insufficient_system_resource"}]}',
      'The provider ended the answer with "insufficient_system_resource".',
    ],
  ])("is no answer: %s", (_, body, message) => {
    expect(normalized(body, "deepseek")).toBe(message);
  });

  test("observes what it forwards", () => {
    const good = parse(
      '{"choices":[{"message":{},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    );
    expect(observeResponse(good, decodeContext("openai"))).toMatchObject({
      ok: true,
      stopWord: "length",
      usage: { input: 1, output: 2 },
    });
    expect(observeResponse(parse('{"choices":[{"message":{}}]}'), decodeContext("openai")).ok).toBe(false);
    expect(observeResponse(parse('{"error":{"message":"x"}}'), decodeContext("openai")).ok).toBe(false);
  });
});

describe("content", () => {
  const call = {
    type: "tool-call",
    id: "c",
    name: "f",
    kind: "function",
    arguments: { text: '{"input":"x"}', encoded: true },
    at: "",
  } as const;

  test.each<[string, Partial<Candidate>, string | null, string | null, string]>([
    ["an empty answer", {}, "", null, "stop"],
    ["a call alone", { parts: [call], stop: { reason: "tool-calls", raw: "" } }, null, null, "tool_calls"],
    [
      "a refusal part",
      { parts: [{ type: "refusal", text: "No.", at: "" }], stop: { reason: "refusal", raw: "stop" } },
      null,
      "No.",
      "stop",
    ],
    [
      "a provider's refusal without words",
      { stop: { reason: "refusal", raw: "refusal" } },
      null,
      null,
      "content_filter",
    ],
    ["a filter", { stop: { reason: "content-filter", raw: "SAFETY" } }, null, null, "content_filter"],
    [
      "a full context window",
      { parts: [{ type: "text", text: "a", at: "" }], stop: { reason: "context-window", raw: "" } },
      "a",
      null,
      "length",
    ],
  ])("%s", (_, candidate, content, refusal, word) => {
    expect(encoded(candidate)).toMatchObject({ message: { content, refusal }, finish_reason: word });
  });

  test("hides reasoning text where the option says so, and keeps it inside the envelope that covers it", () => {
    const parts = [
      { type: "reasoning", form: "summary", texts: ["hid"], signature: { origin: "a", data: "c2ln" }, at: "" },
    ] as const;
    expect(encoded({ parts }, { options: { reasoningField: "none" } })).toMatchObject({
      message: { content: "", extra_content: { gateway: { reasoning: [{ sig: "gwsig1.a.dXA.YzJsbg.aGlk" }] } } },
    });
    expect(encoded({ parts }, { options: { reasoningField: "reasoning" } })).toMatchObject({
      message: { reasoning: "hid" },
    });
  });

  test("turns a wrapped call back into free text", () => {
    const toolMap = { wrappedCustom: new Set(["f"]), namespaces: new Map() };
    expect(encoded({ parts: [call] }, { toolMap })).toMatchObject({
      message: { tool_calls: [{ id: "c", type: "custom", custom: { name: "f", input: "x" } }] },
    });
  });

  test("speaks the deprecated form to clients that used it, which has room for one call", () => {
    const facts = { usesDeprecatedFunctions: true };
    expect(encoded({ parts: [call], stop: { reason: "tool-calls", raw: "" } }, { facts })).toMatchObject({
      message: { function_call: { name: "f", arguments: '{"input":"x"}' } },
      finish_reason: "function_call",
    });
    expect(encoded({ parts: [call, call] }, { facts })).toMatch(/several tool calls/);
  });

  test("counts what it has no place for, and refuses an answer that is nothing else", () => {
    const counted: string[] = [];
    const image = { type: "image", media: { from: "base64", data: "AA" }, at: "" } as const;
    expect(encoded({ parts: [image, { type: "text", text: "a", at: "" }] }, { counted })).toMatchObject({
      message: { content: "a" },
    });
    expect(counted).toEqual(["response_extra_omitted"]);
    expect(encoded({ parts: [image] })).toBe("unrepresentable_output");
  });

  test("writes annotations of either vendor shape", () => {
    const annotations = {
      value: [
        { type: "url_citation", url: "https://a.test", title: "t", start_index: 0, end_index: 1 },
        { type: "other" },
      ],
    };
    expect(encoded({ parts: [{ type: "text", text: "a", annotations, at: "" }] })).toMatchObject({
      message: {
        annotations: [
          { type: "url_citation", url_citation: { start_index: 0, end_index: 1, title: "t", url: "https://a.test" } },
        ],
      },
    });
  });
});

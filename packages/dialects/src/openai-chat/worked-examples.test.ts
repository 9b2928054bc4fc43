import { describe, expect, test } from "vitest";

import { concat, DEFAULT_CAPABILITIES, expandLossy, mergeCapabilities } from "@dragoman/core";
import type {
  AnswerContext,
  Capabilities,
  ClientDialect,
  EncodeTarget,
  ProviderDialect,
  StreamEvent,
} from "@dragoman/core";

import { anthropicClient, anthropicProvider } from "../anthropic/index.ts";
import { documentOf } from "../testing/spelled-json.ts";
import { openaiChatClient } from "./client.ts";
import { compileChatProfile } from "./compile-profile.ts";
import { openaiChatProvider } from "./provider.ts";

const EVERYTHING: Capabilities = mergeCapabilities(DEFAULT_CAPABILITIES, {
  input: { image: true, imageUrl: true, audio: true, video: true, pdf: true, pdfUrl: true },
  output: { audio: true, image: true },
  topK: true,
  maxN: 128,
  tools: { strict: true, custom: true },
  structured: { jsonSchema: true },
  reasoning: {
    support: true,
    efforts: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
    budget: true,
    adaptive: true,
  },
  midConversationSystem: true,
  prefill: true,
  explicitCache: true,
  cacheTtls: [300, 3600],
  defaultMaxOutputTokens: 4096,
});

const T = '{"type":"object","properties":{"c":{"type":"string"}},"required":["c"],"additionalProperties":false}';
const C = '"id":"chatcmpl-t1","object":"chat.completion.chunk","created":1790000000,"model":"up-model"';

function profileOf(name: string): EncodeTarget["profile"] {
  const compiled = compileChatProfile(name, {});
  if (!compiled.ok) throw new Error(name);
  return compiled.profile;
}

function target(lossy: readonly string[], capabilities: Capabilities): EncodeTarget {
  return {
    deploymentId: "d",
    kind: "openai",
    model: "up-model",
    capabilities,
    profile: profileOf("openai"),
    lossyAllow: expandLossy(lossy).codes,
    options: {},
    isOnlyAccount: false,
  };
}

function translate(
  client: ClientDialect,
  path: string,
  text: string,
  to: EncodeTarget,
): { readonly body: unknown; readonly codes: readonly string[] } {
  const document = documentOf(text);
  const route = { operation: "generate", path, query: "", captures: {} } as const;
  const reading = client.readHead(document, route);
  if (!reading.ok) throw new Error(reading.error.message);
  const decoded = client.decodeRequest(document, reading.head, route, []);
  if (!decoded.ok) throw new Error(decoded.error.message);
  const result = openaiChatProvider.encodeRequest(decoded.request, to);
  const codes = result.issues.map((issue) => issue.code);
  if (!result.ok) return { body: null, codes };
  return { body: Buffer.from(concat(result.encoded.body)).toString(), codes };
}

function answerContext(
  facts: Partial<{ includeUsage: boolean; usesDeprecatedFunctions: boolean; n: number }>,
): AnswerContext<never> {
  let made = 0;
  return {
    requestId: "req_t1",
    createdSeconds: 1_790_000_000,
    makeId: (prefix) => `${prefix}t${++made}`,
    facts: { includeUsage: false, usesDeprecatedFunctions: false, n: 1, ...facts } as never,
    upstreamModel: "up-model",
    toolMap: null,
    options: {},
    count: () => {},
  };
}

function answer(provider: ProviderDialect, profile: EncodeTarget["profile"], text: string): unknown {
  const decoded = provider.decodeResponse(documentOf(text), {
    profile,
    upstreamModel: "up-model",
    headers: [],
    count: () => {},
  });
  if (!decoded.ok) throw new Error(decoded.error.message);
  const encoded = openaiChatClient.encodeResponse(decoded.response, answerContext({}));
  if (!encoded.ok) throw new Error(encoded.error.message);
  return JSON.parse(Buffer.from(encoded.body).toString());
}

function stream(
  provider: ProviderDialect,
  profile: EncodeTarget["profile"],
  records: readonly string[],
  includeUsage: boolean,
): readonly string[] {
  const written: string[] = [];
  const encoder = openaiChatClient.createStreamEncoder(answerContext({ includeUsage }), (bytes) => {
    written.push(Buffer.from(bytes).toString());
  });
  const emit = (event: StreamEvent): void => {
    const error = encoder.encode(event);
    if (error !== null) encoder.fail(error);
  };
  const decoder = provider.createStreamDecoder(
    { profile, upstreamModel: "up-model", headers: [], count: () => {} },
    emit,
  );
  for (const record of records) {
    const bytes = Buffer.from(record);
    const event = provider.id === "anthropic" ? (JSON.parse(record) as { type: string }).type : "";
    decoder.push({ bytes, dataStart: 0, dataEnd: bytes.length, event });
  }
  decoder.finish();
  return written;
}

function chunk(delta: string, finish: string | null, usage: boolean): string {
  const word = finish === null ? "null" : `"${finish}"`;
  return `data: {${C},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${word}}]${usage ? ',"usage":null' : ""}}\n\n`;
}

const ANTHROPIC_PROFILE = (() => {
  const compiled = anthropicProvider.compileProfile("anthropic", {});
  if (!compiled.ok) throw new Error("anthropic profile");
  return compiled.profile;
})();

const MESSAGE_START = (usage: string): string =>
  `{"type":"message_start","message":{"id":"msg_u1","type":"message","role":"assistant","model":"up-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":${usage}}}`;

describe("worked examples toward this dialect", () => {
  test("X06: an Anthropic request with a budget, a failed tool and cache marks", () => {
    const input = `{"model":"m","max_tokens":8000,"system":[{"type":"text","text":"S1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"S2"}],"messages":[{"role":"user","content":"Oslo?"},{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"toolu_1","name":"get","input":{"c":"Oslo"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"no such city","is_error":true},{"type":"text","text":"Try again"}]}],"tools":[{"name":"get","description":"d","input_schema":${T}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"thinking":{"type":"enabled","budget_tokens":4096},"stop_sequences":["END"],"metadata":{"user_id":"u-1"}}`;
    const expected = `{"model":"up-model","messages":[{"role":"developer","content":[{"type":"text","text":"S1"},{"type":"text","text":"S2"}]},{"role":"user","content":"Oslo?"},{"role":"assistant","content":"Looking.","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"get","arguments":"{\\"c\\":\\"Oslo\\"}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"Error: no such city"},{"role":"user","content":"Try again"}],"tools":[{"type":"function","function":{"name":"get","description":"d","parameters":${T}}}],"parallel_tool_calls":false,"reasoning_effort":"medium","max_completion_tokens":8000,"stop":["END"],"safety_identifier":"u-1"}`;
    const to = target(["@hints"], mergeCapabilities(EVERYTHING, { explicitCache: false }));
    const result = translate(anthropicClient as ClientDialect, "/v1/messages", input, to);
    expect(result.body).toBe(expected);
    expect(result.codes).toEqual(expect.arrayContaining(["cache_hint", "text_prefixed", "effort_mapped"]));
  });

  test("X15: an Anthropic answer with signed thinking, text and a call", () => {
    const input = `{"id":"msg_u1","type":"message","role":"assistant","model":"up-model","content":[{"type":"thinking","thinking":"hmm","signature":"c2ln"},{"type":"text","text":"Calling."},{"type":"tool_use","id":"toolu_1","name":"get","input":{"c": "Oslo"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":30,"output_tokens_details":{"thinking_tokens":5}}}`;
    expect(answer(anthropicProvider, ANTHROPIC_PROFILE, input)).toEqual(
      JSON.parse(
        `{"id":"chatcmpl-t1","object":"chat.completion","created":1790000000,"model":"up-model","choices":[{"index":0,"message":{"role":"assistant","content":"Calling.","refusal":null,"reasoning_content":"hmm","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"get","arguments":"{\\"c\\": \\"Oslo\\"}"}}],"extra_content":{"gateway":{"reasoning":[{"text":"hmm","sig":"gwsig1.a.dXAtbW9kZWw.YzJsbg"}]}}},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":70,"cache_write_tokens":20},"completion_tokens_details":{"reasoning_tokens":5}}}`,
      ),
    );
  });

  test("X20: an Anthropic refusal", () => {
    const input = `{"id":"msg_u1","type":"message","role":"assistant","model":"up-model","content":[],"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"Not allowed."},"usage":{"input_tokens":9,"output_tokens":1}}`;
    expect(answer(anthropicProvider, ANTHROPIC_PROFILE, input)).toEqual(
      JSON.parse(
        `{"id":"chatcmpl-t1","object":"chat.completion","created":1790000000,"model":"up-model","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"Not allowed."},"logprobs":null,"finish_reason":"content_filter"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
      ),
    );
  });

  test("X21: an Anthropic text stream for a client that asked for usage", () => {
    const records = [
      MESSAGE_START('{"input_tokens":12,"cache_read_input_tokens":8,"output_tokens":1}'),
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '{"type":"ping"}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}',
      String.raw`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo \u00e9"}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}',
      '{"type":"message_stop"}',
    ];
    expect(stream(anthropicProvider, ANTHROPIC_PROFILE, records, true)).toEqual([
      chunk('{"role":"assistant","content":""}', null, true),
      chunk('{"content":"Hel"}', null, true),
      chunk(String.raw`{"content":"lo \u00e9"}`, null, true),
      chunk("{}", "stop", true),
      `data: {${C},"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"prompt_tokens_details":{"cached_tokens":8}}}\n\n`,
      "data: [DONE]\n\n",
    ]);
  });

  test("X22: an Anthropic stream with text and two calls", () => {
    const records = [
      MESSAGE_START('{"input_tokens":12,"output_tokens":1}'),
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ok."}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"get","input":{}}}',
      '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}',
      String.raw`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"c\": \"Os"}}`,
      String.raw`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"lo\"}"}}`,
      '{"type":"content_block_stop","index":1}',
      '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}',
      '{"type":"content_block_stop","index":2}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40}}',
      '{"type":"message_stop"}',
    ];
    expect(stream(anthropicProvider, ANTHROPIC_PROFILE, records, false)).toEqual([
      chunk('{"role":"assistant","content":""}', null, false),
      chunk('{"content":"Ok."}', null, false),
      chunk(
        '{"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"get","arguments":""}}]}',
        null,
        false,
      ),
      chunk(String.raw`{"tool_calls":[{"index":0,"function":{"arguments":"{\"c\": \"Os"}}]}`, null, false),
      chunk(String.raw`{"tool_calls":[{"index":0,"function":{"arguments":"lo\"}"}}]}`, null, false),
      chunk(
        '{"tool_calls":[{"index":1,"id":"toolu_2","type":"function","function":{"name":"now","arguments":""}}]}',
        null,
        false,
      ),
      chunk('{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}', null, false),
      chunk("{}", "tool_calls", false),
      "data: [DONE]\n\n",
    ]);
  });

  test("X30: a Groq stream for a client of this dialect is brought into the standard shape", () => {
    const head = '"id":"q","object":"chat.completion.chunk","created":1,"model":"up-model"';
    const records = [
      `{${head},"choices":[{"index":0,"delta":{"role":"assistant","reasoning":"hmm"},"finish_reason":null}],"x_groq":{"id":"r"}}`,
      `{${head},"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"arguments":""}}]},"finish_reason":null}]}`,
      `{${head},"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}]}`,
      `{${head},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}}`,
    ];
    expect(stream(openaiChatProvider, profileOf("groq"), records, true)).toEqual([
      chunk('{"role":"assistant","content":""}', null, true),
      chunk('{"reasoning_content":"hmm"}', null, true),
      chunk(
        '{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}',
        null,
        true,
      ),
      chunk('{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}', null, true),
      chunk("{}", "tool_calls", true),
      `data: {${C},"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n`,
      "data: [DONE]\n\n",
    ]);
  });

  test("X31, X35: errors before and after the commit", () => {
    const overloaded = anthropicProvider.classifyError(
      {
        status: 529,
        headers: [],
        body: Buffer.from('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
        nowMs: 0,
      },
      { profile: ANTHROPIC_PROFILE, upstreamModel: "up-model", headers: [], count: () => {} },
    );
    const plain = openaiChatClient.encodeError(overloaded, { requestId: "req_t1", hasFallenBack: false });
    expect({ status: plain.status, headers: plain.headers, body: Buffer.from(plain.body).toString() }).toEqual({
      status: 503,
      headers: ["x-request-id", "req_t1", "x-should-retry", "true"],
      body: '{"error":{"message":"The model provider is overloaded.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}',
    });
    const lost = {
      class: "network",
      origin: "upstream",
      message: "ECONNRESET 10.0.0.1",
      retrySame: true,
      fallback: true,
    } as const;
    expect(Buffer.from(openaiChatClient.encodeStreamError(lost, { requestId: "req_t1" })).toString()).toBe(
      'data: {"error":{"message":"The provider connection was lost.","type":"server_error","param":null,"code":"upstream_unreachable"}}\n\n',
    );
  });
});

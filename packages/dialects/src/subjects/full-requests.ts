// Bodies that together hold every member that a dialect knows, and unknown members at every level. Taking one of them away must show:
// in what goes upstream, or in an issue. Members that no loss may allow stand alone.
import type { JsonObject } from "../testing/spelled-json.ts";

const SCHEMA = { type: "object", properties: { c: { type: "string" } }, required: ["c"], additionalProperties: false };
const USER: JsonObject = { role: "user", content: "Hi" };

/** Chat Completions. */
export const chatFullRequests: readonly JsonObject[] = [
  {
    model: "m",
    max_completion_tokens: 100,
    temperature: 0.5,
    top_p: 0.5,
    presence_penalty: 1,
    frequency_penalty: -1,
    seed: 7,
    stop: ["a", "b"],
    reasoning_effort: "low",
    verbosity: "low",
    metadata: { a: "b" },
    user: "u-1",
    service_tier: "flex",
    store: true,
    prompt_cache_key: "k",
    prompt_cache_options: { mode: "explicit", ttl: "30m" },
    prompt_cache_retention: "24h",
    prediction: { type: "content", content: "x" },
    stream: true,
    stream_options: { include_usage: true, vendor_option: 1 },
    response_format: {
      type: "json_schema",
      json_schema: { name: "o", description: "d", schema: SCHEMA, strict: true },
    },
    vendor_member: { a: 1 },
    messages: [
      { role: "system", content: "S" },
      {
        role: "developer",
        content: [
          { type: "text", text: "D", prompt_cache_breakpoint: { mode: "explicit", ttl: "30m" } },
          { type: "text", text: "E" },
        ],
      },
      {
        role: "user",
        name: "Bo",
        vendor_message: 1,
        content: [
          { type: "text", text: "Look", vendor_part: 1 },
          { type: "image_url", image_url: { url: "https://example.test/a.png", detail: "low", vendor_image: 1 } },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } },
          { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0x", filename: "a.pdf" } },
        ],
      },
      {
        role: "assistant",
        content: "Calling.",
        name: "Al",
        reasoning_content: "hmm",
        vendor_message: { a: 2 },
        tool_calls: [
          { id: "call_1", type: "function", vendor_call: 1, function: { name: "get", arguments: '{"c":"y"}' } },
          { id: "call_2", type: "function", function: { name: "get", arguments: '{"c":"x"}' } },
        ],
      },
      {
        role: "tool",
        tool_call_id: "call_2",
        content: [
          { type: "text", text: "9" },
          { type: "text", text: "!" },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "7", vendor_result: 1 },
      { role: "assistant", content: null, refusal: "No." },
      { role: "user", content: "And?" },
    ],
    tools: [
      {
        type: "function",
        vendor_tool: 1,
        function: { name: "get", description: "d", parameters: SCHEMA, strict: true, vendor_function: 1 },
      },
      { type: "function", function: { name: "other", strict: false } },
      {
        type: "custom",
        custom: {
          name: "free",
          description: "d",
          format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } },
        },
      },
    ],
    tool_choice: { type: "function", function: { name: "get" } },
    parallel_tool_calls: false,
  },
  {
    model: "m",
    max_tokens: 50,
    stop: "END",
    safety_identifier: "s-1",
    messages: [USER],
    tools: [
      { type: "function", function: { name: "a" } },
      { type: "function", function: { name: "b" } },
    ],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "a" } }] },
    },
    web_search_options: { search_context_size: "low" },
  },
  {
    model: "m",
    messages: [
      USER,
      { role: "assistant", content: "Hm." },
      USER,
      { role: "assistant", content: null, function_call: { name: "get", arguments: '{"c":"y"}' } },
      { role: "function", name: "get", content: "7" },
    ],
    functions: [{ name: "get", description: "d", parameters: SCHEMA }],
    function_call: { name: "get" },
  },
  { model: "m", messages: [USER], logit_bias: { "1": 5 } },
  { model: "m", messages: [USER], n: 3 },
  { model: "m", messages: [USER], logprobs: true, top_logprobs: 3 },
  { model: "m", messages: [USER], moderation: { model: "x" } },
  { model: "m", messages: [USER], modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } },
  { model: "m", messages: [USER], response_format: { type: "json_object" } },
  {
    model: "m",
    messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] }],
  },
  { model: "m", messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
  { model: "m", messages: [USER, { role: "assistant", audio: { id: "audio_1" } }, USER] },
];

/** Messages. */
export const messagesFullRequests: readonly JsonObject[] = [
  {
    model: "m",
    max_tokens: 9000,
    temperature: 0.5,
    top_p: 0.5,
    top_k: 5,
    stop_sequences: ["a", "b"],
    stream: true,
    thinking: { type: "enabled", budget_tokens: 2048, display: "summarized", vendor_thinking: 1 },
    output_config: {
      format: { type: "json_schema", schema: SCHEMA, vendor_format: 1 },
      effort: "low",
      task_budget: { a: 1 },
    },
    metadata: { user_id: "u-1", vendor_metadata: 1 },
    service_tier: "standard_only",
    speed: "fast",
    cache_control: { type: "ephemeral", ttl: "1h" },
    context_management: { edits: [] },
    diagnostics: { a: 1 },
    vendor_member: 1,
    system: [
      { type: "text", text: "S", cache_control: { type: "ephemeral" }, vendor_block: 1 },
      { type: "text", text: "T" },
    ],
    messages: [
      {
        role: "user",
        vendor_message: 1,
        content: [
          { type: "text", text: "Look", cache_control: { type: "ephemeral", ttl: "5m" }, vendor_block: 1 },
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: "iVBORw0K" },
            transformations: [1],
          },
          { type: "image", source: { type: "url", url: "https://example.test/a.png", vendor_source: 1 } },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0x" },
            title: "T",
            context: "C",
            citations: { enabled: true },
          },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "plain" },
            title: "T",
            context: "C",
          },
          { type: "document", source: { type: "content", content: [{ type: "text", text: "inner" }] } },
          { type: "search_result", source: "https://example.test", title: "T", content: [{ type: "text", text: "r" }] },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "c2ln" },
          { type: "redacted_thinking", data: "ZGF0YQ" },
          { type: "text", text: "Calling.", citations: [{ type: "char_location" }] },
          {
            type: "tool_use",
            id: "toolu_1",
            name: "get",
            input: { c: "x" },
            toolset_name: "t",
            cache_control: { type: "ephemeral" },
          },
          { type: "tool_use", id: "toolu_2", name: "get", input: { c: "y" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [{ type: "text", text: "7" }],
            is_error: true,
            vendor_block: 1,
            cache_control: { type: "ephemeral" },
          },
          {
            type: "tool_result",
            tool_use_id: "toolu_2",
            content: [
              { type: "text", text: "shot" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0K" } },
            ],
          },
          { type: "text", text: "And?" },
        ],
      },
    ],
    tools: [
      {
        name: "get",
        description: "d",
        input_schema: SCHEMA,
        strict: true,
        cache_control: { type: "ephemeral" },
        input_examples: [{ c: "x" }],
        defer_loading: true,
        allowed_callers: ["code_execution"],
        vendor_tool: 1,
      },
      { name: "other", input_schema: { type: "object", properties: { n: { type: "integer" } } } },
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
    ],
    tool_choice: { type: "auto", disable_parallel_tool_use: true, vendor_choice: 1 },
  },
  { model: "m", max_tokens: 0, messages: [USER] },
  { model: "m", max_tokens: 9, messages: [USER], thinking: { type: "between_tools" } },
  {
    model: "m",
    max_tokens: 9,
    messages: [USER],
    tools: [{ name: "get", input_schema: SCHEMA }],
    tool_choice: { type: "tool", name: "get" },
  },
  { model: "m", max_tokens: 9, messages: [USER], thread: { id: "t" } },
  ...[
    "container",
    "mcp_servers",
    "fallbacks",
    "fallback_credit_token",
    "inference_geo",
    "compaction",
    "billing_policy",
  ].map((member): JsonObject => ({ model: "m", max_tokens: 9, messages: [USER], [member]: "x" })),
  {
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f" } }] }],
  },
  { model: "m", max_tokens: 9, messages: [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }] },
];

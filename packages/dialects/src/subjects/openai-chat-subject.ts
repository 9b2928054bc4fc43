// Chat Completions as a subject of the laws.
import fc from "fast-check";

import { DEFAULT_CAPABILITIES, mergeCapabilities } from "@dragoman/core";
import type { Capabilities, ErrorClass, Profile } from "@dragoman/core";

import { openaiChatClient, openaiChatProvider } from "../openai-chat/index.ts";
import type { JsonObject, JsonValue } from "../testing/spelled-json.ts";
import type { DialectSubject, ExpectedError } from "../testing/subject.ts";
import { chatRequests } from "./openai-chat-samples.ts";
import { chatStreams } from "./openai-chat-streams.ts";
import { chatFullRequests } from "./full-requests.ts";

const CAPABILITIES: Capabilities = mergeCapabilities(DEFAULT_CAPABILITIES, {
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
    summaries: true,
  },
  midConversationSystem: true,
  prefill: true,
  explicitCache: true,
  cacheTtls: [300, 3600],
  defaultMaxOutputTokens: 4096,
});

function profileNamed(name: string): Profile {
  const compiled = openaiChatProvider.compileProfile(name, {});
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.profile;
}

const row = (status: number, type: string, code?: string): ExpectedError => ({
  status,
  type,
  ...(code === undefined ? null : { code }),
});

const ERRORS: Readonly<Record<ErrorClass, ExpectedError>> = {
  auth: row(401, "invalid_request_error", "invalid_api_key"),
  permission: row(403, "invalid_request_error", "permission_denied"),
  "not-found": row(404, "invalid_request_error", "model_not_found"),
  "method-not-allowed": row(405, "invalid_request_error", "method_not_allowed"),
  "invalid-request": row(400, "invalid_request_error"),
  "unsupported-media-type": row(415, "invalid_request_error"),
  "too-large": row(413, "invalid_request_error", "request_too_large"),
  "context-length": row(400, "invalid_request_error", "context_length_exceeded"),
  "content-policy": row(400, "invalid_request_error", "content_policy_violation"),
  "rate-limit": row(429, "rate_limit_error", "rate_limit_exceeded"),
  quota: row(429, "insufficient_quota", "budget_exceeded"),
  overloaded: row(503, "service_unavailable_error", "server_is_overloaded"),
  timeout: row(504, "server_error", "timeout"),
  "upstream-5xx": row(502, "server_error", "upstream_error"),
  network: row(502, "server_error", "upstream_unreachable"),
  protocol: row(502, "server_error", "upstream_protocol_error"),
  "no-deployment": row(400, "invalid_request_error", "unsupported_request"),
  cancelled: row(499, "server_error"),
  internal: row(500, "server_error", "internal_error"),
};

/** Where each member of a forwarded request may be changed. */
function forwarded(body: JsonValue, model: string): JsonValue {
  const object = body as JsonObject;
  const streamOptions = (object["stream_options"] ?? {}) as JsonObject;
  return {
    ...object,
    model,
    ...(object["stream"] === true ? { stream_options: { ...streamOptions, include_usage: true } } : null),
  };
}

/** Results of one turn in the order of its calls: the order in which the neutral form keeps them. */
function resultsInOrder(messages: readonly JsonObject[]): readonly JsonObject[] {
  const places = new Map<JsonValue, number>();
  for (const { tool_calls: calls } of messages) {
    for (const { id } of (calls ?? []) as readonly JsonObject[]) places.set(id as JsonValue, places.size);
  }
  const placeOf = ({ tool_call_id: id }: JsonObject): number => places.get(id ?? null) ?? 0;
  return messages.toSorted((left, right) =>
    left["role"] === "tool" && right["role"] === "tool" ? placeOf(left) - placeOf(right) : 0,
  );
}

/** Chat Completions. */
export const openaiChatSubject: DialectSubject = {
  client: openaiChatClient,
  provider: openaiChatProvider,
  route: { operation: "generate", path: "/v1/chat/completions", query: "", captures: {} },
  kind: "openai",
  profile: profileNamed("openai"),
  capabilities: CAPABILITIES,
  answerOptions: {},
  answerRequest: {
    model: "m",
    messages: [{ role: "user", content: "x" }],
    stream: true,
    stream_options: { include_usage: true },
    n: 2,
  },
  requests: chatRequests,
  fullRequests: chatFullRequests,
  neutralMembers: [
    { pointer: /^\/model$/, reason: "every target writes its own", isNeutralAtHome: true },
    {
      pointer: /^\/stream_options(?:\/include_usage)?$/,
      reason: "the gateway always asks for usage",
      isNeutralAtHome: true,
    },
    {
      pointer: /\/(?:tool_calls|tools)\/\d+\/type$/,
      reason: "the member beside it says the same",
      isNeutralAtHome: true,
    },
    { pointer: /^\/tools\/1\/function\/strict$/, reason: "false is the default", isNeutralAtHome: false },
    {
      pointer: /^\/messages\/4\/name$/,
      reason: "a function's result pairs with the call before it",
      isNeutralAtHome: true,
    },
    {
      pointer: /^\/(?:top_logprobs$|audio\b)/,
      reason: "it says how to do what another member asks for",
      isNeutralAtHome: false,
    },
    {
      pointer: /\/allowed_tools\/tools\//,
      reason: "an entry names a tool and says nothing else",
      isNeutralAtHome: true,
    },
    {
      pointer: /^\/tools\/\d+\//,
      reason: "a tool that may not be called is left out whole",
      isNeutralAtHome: false,
      underCode: "tools_filtered",
    },
    { pointer: /\/prompt_cache_breakpoint\/mode$/, reason: "it has one value", isNeutralAtHome: true },
  ],
  canonicalRequest: (body) => {
    const { model: _model, stream_options: _options, ...rest } = body as JsonObject;
    return { ...rest, messages: resultsInOrder((rest["messages"] ?? []) as readonly JsonObject[]) };
  },
  forwardedRequest: forwarded,
  streams: chatStreams,
  usages: fc
    .record(
      {
        prompt_tokens: fc.integer({ min: 1, max: 100 }),
        completion_tokens: fc.nat(100),
        total_tokens: fc.nat(100),
        prompt_tokens_details: fc.record(
          { cached_tokens: fc.nat(200), cache_write_tokens: fc.nat(200) },
          { requiredKeys: [], noNullPrototype: true },
        ),
        completion_tokens_details: fc.record(
          { reasoning_tokens: fc.nat(200) },
          { requiredKeys: [], noNullPrototype: true },
        ),
      },
      { requiredKeys: ["prompt_tokens", "completion_tokens"], noNullPrototype: true },
    )
    .map((usage): JsonObject => ({ usage: usage as JsonObject })),
  ordersParts: false,
  streamedSignature: null,
  maxCandidates: 128,
  hasRefusals: true,
  namesStopSequences: false,
  usageMembers: ["cacheRead", "cacheWrite", "reasoning"],
  errors: ERRORS,
  upstreamErrors: {
    auth: row(502, "server_error", "upstream_credential_rejected"),
    permission: row(502, "server_error", "upstream_credential_rejected"),
    "not-found": row(502, "server_error", "upstream_model_not_found"),
    "method-not-allowed": row(502, "server_error", "upstream_error"),
    "unsupported-media-type": row(502, "server_error", "upstream_error"),
    quota: row(503, "server_error", "upstream_quota_exhausted"),
  },
  distinguishes: [
    "auth",
    "permission",
    "not-found",
    "invalid-request",
    "too-large",
    "context-length",
    "content-policy",
    "rate-limit",
    "overloaded",
    "timeout",
    "upstream-5xx",
  ],
};

/** The subject with another built-in profile. */
export function withProfile(name: string): DialectSubject {
  return { ...openaiChatSubject, kind: "openai-compatible", profile: profileNamed(name) };
}

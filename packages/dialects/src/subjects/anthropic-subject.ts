// Messages as a subject of the laws.
import fc from "fast-check";

import { DEFAULT_CAPABILITIES, mergeCapabilities } from "@dragoman/core";
import type { Capabilities, ErrorClass, Profile } from "@dragoman/core";

import { anthropicClient, anthropicProvider } from "../anthropic/index.ts";
import type { JsonObject, JsonValue } from "../testing/spelled-json.ts";
import type { DialectSubject, ExpectedError } from "../testing/subject.ts";
import { messagesRequests } from "./anthropic-samples.ts";
import { messagesStreams } from "./anthropic-streams.ts";
import { messagesFullRequests } from "./full-requests.ts";

const CAPABILITIES: Capabilities = mergeCapabilities(DEFAULT_CAPABILITIES, {
  input: { image: true, imageUrl: true, pdf: true, pdfUrl: true },
  topK: true,
  tools: { strict: true },
  structured: { jsonSchema: true, schemaDialect: "anthropic" },
  reasoning: {
    support: true,
    efforts: ["low", "medium", "high", "xhigh", "max"],
    adaptive: true,
    budget: true,
    summaries: true,
  },
  midConversationSystem: true,
  prefill: true,
  explicitCache: true,
  cacheTtls: [300, 3600],
  defaultMaxOutputTokens: 4096,
});

const PROFILE: Profile = (() => {
  const compiled = anthropicProvider.compileProfile("anthropic", {});
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.profile;
})();

const row = (status: number, type: string): ExpectedError => ({ status, type });

const ERRORS: Readonly<Record<ErrorClass, ExpectedError>> = {
  auth: row(401, "authentication_error"),
  permission: row(403, "permission_error"),
  "not-found": row(404, "not_found_error"),
  "method-not-allowed": row(405, "invalid_request_error"),
  "invalid-request": row(400, "invalid_request_error"),
  "unsupported-media-type": row(415, "invalid_request_error"),
  "too-large": row(413, "request_too_large"),
  "context-length": row(400, "invalid_request_error"),
  "content-policy": row(400, "invalid_request_error"),
  "rate-limit": row(429, "rate_limit_error"),
  quota: row(402, "billing_error"),
  overloaded: row(529, "overloaded_error"),
  timeout: row(504, "timeout_error"),
  "upstream-5xx": row(502, "api_error"),
  network: row(502, "api_error"),
  protocol: row(502, "api_error"),
  "no-deployment": row(400, "invalid_request_error"),
  cancelled: row(499, "api_error"),
  internal: row(500, "api_error"),
};

/** Messages and token counts. */
export const anthropicSubject: DialectSubject = {
  client: anthropicClient,
  provider: anthropicProvider,
  route: { operation: "generate", path: "/v1/messages", query: "", captures: {} },
  kind: "anthropic",
  profile: PROFILE,
  capabilities: CAPABILITIES,
  answerOptions: {},
  answerRequest: {
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: "x" }],
    stream: true,
    thinking: { type: "adaptive", display: "summarized" },
  },
  requests: messagesRequests,
  fullRequests: messagesFullRequests,
  neutralMembers: [
    { pointer: /^\/model$/, reason: "every target writes its own", isNeutralAtHome: true },
    { pointer: /\/content\/4\/source\/media_type$/, reason: "text has one type", isNeutralAtHome: true },
    { pointer: /\/1\/content\/2\/citations\b/, reason: "an echo of an answer", isNeutralAtHome: false },
    {
      pointer: /\/source\/content\/\d+\//,
      reason: "a document in blocks becomes one text outside forwarding",
      isNeutralAtHome: true,
    },
    { pointer: /\/cache_control\/type$/, reason: "it has one value", isNeutralAtHome: true },
    { pointer: /^\/thinking\/display$/, reason: "the gateway itself shows or hides thinking", isNeutralAtHome: false },
  ],
  canonicalRequest: (body) => {
    const { model: _model, ...rest } = body as JsonObject;
    return rest;
  },
  forwardedRequest: (body, model) => ({ ...(body as JsonObject), model }) as JsonValue,
  streams: messagesStreams,
  usages: fc
    .record(
      {
        input_tokens: fc.integer({ min: 1, max: 100 }),
        cache_creation_input_tokens: fc.nat(200),
        cache_read_input_tokens: fc.nat(200),
        output_tokens: fc.nat(100),
        output_tokens_details: fc.record({ thinking_tokens: fc.nat(200) }, { requiredKeys: [], noNullPrototype: true }),
      },
      { requiredKeys: ["input_tokens", "output_tokens"], noNullPrototype: true },
    )
    .map((usage): JsonObject => ({ usage: usage as JsonObject })),
  ordersParts: true,
  streamedSignature: "a",
  maxCandidates: 1,
  hasRefusals: false,
  namesStopSequences: true,
  usageMembers: ["cacheRead", "cacheWrite", "reasoning"],
  errors: ERRORS,
  upstreamErrors: {
    auth: row(502, "api_error"),
    permission: row(502, "api_error"),
    "not-found": row(502, "api_error"),
    quota: row(503, "api_error"),
  },
  distinguishes: [
    "auth",
    "permission",
    "not-found",
    "invalid-request",
    "too-large",
    "context-length",
    "rate-limit",
    "quota",
    "overloaded",
    "timeout",
    "upstream-5xx",
  ],
};

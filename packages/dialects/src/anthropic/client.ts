/** The client half of this dialect: its routes, and where each task of the contract is done. Stateless. */
import type { ClientDialect } from "@dragoman/core";

import { checkHeaders, claims, readCredential } from "./client-headers.ts";
import { decodeRequest } from "./decode-request.ts";
import { encodeError, encodeStreamError } from "./encode-error.ts";
import { encodeResponse } from "./encode-response.ts";
import { createStreamEncoder } from "./encode-stream.ts";
import { estimateInputTokens } from "./estimate-tokens.ts";
import { ANTHROPIC } from "./members.ts";
import { encodeModel, encodeModelList } from "./models.ts";
import { encodeRateLimits } from "./rate-limits.ts";
import { readBounds } from "./read-bounds.ts";
import { readHead, type AnthropicFacts } from "./read-head.ts";

/** Serves clients of the Anthropic Messages API. */
export const anthropicClient: ClientDialect<AnthropicFacts> = {
  id: ANTHROPIC,
  routes: [
    { method: "POST", path: "/v1/messages", operation: "generate" },
    { method: "POST", path: "/v1/messages/count_tokens", operation: "count-tokens" },
    { method: "GET", path: "/v1/models", operation: "list-models" },
    { method: "GET", path: "/v1/models/{id}", operation: "get-model" },
  ],
  claims,
  readCredential,
  checkHeaders,
  readHead: (document) => readHead(document),
  decodeRequest: (document, head, route, headers) => decodeRequest(document, head, route, headers),
  estimateInputTokens,
  readBounds,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  encodeStreamError,
  encodeTokenCount: (count) => Buffer.from(`{"input_tokens":${count}}`, "latin1"),
  encodeModelList,
  encodeModel,
  encodeRateLimits,
  identify: (requestId) => ["request-id", requestId],
  streamContentType: "text/event-stream; charset=utf-8",
  keepAlive: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n', "latin1"),
};

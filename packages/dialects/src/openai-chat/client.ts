// The client half of this dialect: routes, credentials, the head of a request, and the doors to decoding and encoding.
import { findHeader } from "@dragoman/core";
import type { ClientDialect } from "@dragoman/core";

import { readCredential } from "./credential.ts";
import { decodeRequest } from "./decode-request.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { ChatStreamEncoder } from "./encode-stream.ts";
import { encodeError, encodeStreamError } from "./encode-error.ts";
import { encodeResponse } from "./encode-response.ts";
import { estimateInputTokens } from "./estimate-tokens.ts";
import { identify } from "./identity.ts";
import { encodeModel, encodeModelList } from "./models.ts";
import { encodeRateLimits } from "./rate-limits.ts";
import { readBounds } from "./read-bounds.ts";
import { readChatHead } from "./read-head.ts";
import type { ChatFacts } from "./read-head.ts";

/** Client dialect of chat completions. */
export const openaiChatClient: ClientDialect<ChatFacts> = {
  id: OPENAI_CHAT,
  routes: [
    { method: "POST", path: "/v1/chat/completions", operation: "generate" },
    { method: "GET", path: "/v1/models", operation: "list-models" },
    { method: "GET", path: "/v1/models/{id}", operation: "get-model" },
  ],
  // The default dialect: everything that no header or path gives to another one.
  claims: (path, headers) =>
    path !== "/v1/messages" &&
    !path.startsWith("/v1/messages/") &&
    !path.startsWith("/v1beta/") &&
    findHeader(headers, "anthropic-version") === undefined &&
    findHeader(headers, "x-goog-api-key") === undefined,
  readCredential: (headers) => readCredential(headers),
  checkHeaders: () => null,
  readHead: (document) => readChatHead(document),
  decodeRequest: (document, head) => decodeRequest(document, head),
  estimateInputTokens,
  readBounds,
  encodeResponse,
  createStreamEncoder: (context, write) => new ChatStreamEncoder(context, write),
  encodeError,
  encodeStreamError: (error) => encodeStreamError(error),
  encodeTokenCount: (count) => Buffer.from(`{"input_tokens":${count}}`, "utf8"),
  encodeModelList: (models) => encodeModelList(models),
  encodeModel,
  encodeRateLimits,
  identify,
  streamContentType: "text/event-stream; charset=utf-8",
  keepAlive: Buffer.from(": keep-alive\n\n", "utf8"),
  streamTerminator: Buffer.from("data: [DONE]\n\n", "utf8"),
};

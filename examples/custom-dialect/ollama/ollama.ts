/** Ollama's own chat API (`POST /api/chat`) as a provider dialect, and the provider kind whose accounts speak it. */
import { defineProviderDialect } from "@dragoman/core";
import type { ProviderDialect, ProviderKind } from "@dragoman/core";

import { classifyError } from "./classify-error.ts";
import { decodeResponse, decodeUsage } from "./decode-response.ts";
import { OllamaStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { OLLAMA_PROFILES } from "./profiles.ts";

/** Give it to `createGateway` in `dialects`. Clients of no dialect are forwarded to it, so it needs no door for that. */
export const ollama: ProviderDialect = defineProviderDialect({
  id: "ollama",
  framing: "ndjson",
  profiles: OLLAMA_PROFILES,
  encodeRequest,
  decodeResponse,
  readUsage: (document) => decodeUsage(document, true),
  createStreamDecoder: (context, emit) => new OllamaStreamDecoder(context, emit),
  classifyError,
});

/** Give it to `createGateway` in `kinds`; an account is `{ kind: "ollama-native" }`. */
export const ollamaNative: ProviderKind = {
  id: "ollama-native",
  baseUrl: "http://127.0.0.1:11434",
  basePathSuffix: "",
  dialects: ["ollama"],
  profiles: { ollama: "plain" },
  // A local server takes none; ollama.com takes a bearer token.
  credentialHeader: { name: "authorization", prefix: "Bearer " },
  isCredentialOptional: true,
  disconnect: "cancel",
  // What nearly all models behind the API can do. Whether one sees or thinks is said in the configuration.
  capabilitiesOf: () => ({
    input: { image: true, imageUrl: false },
    topK: true,
    logprobs: false,
    tools: { forcedChoice: false, parallelOff: false },
    structured: { jsonObject: true, jsonSchema: true, schemaDialect: "free" },
    reasoning: { support: true },
    midConversationSystem: true,
  }),
};

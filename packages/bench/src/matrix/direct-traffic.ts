// Traffic straight to the mock: the paths, headers and model names of the providers themselves.
import type { TargetTraffic } from "../contract/target.ts";

const PATHS = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  "openai-embeddings": "/v1/embeddings",
  anthropic: "/v1/messages",
} as const;

const MODELS = {
  openai: "gpt-4o-mini",
  anthropic: "claude-mock",
  embeddings: "text-embedding-3-small",
  cross: "claude-mock",
  unknown: "no-such-model",
} as const;

/** How a provider's own client would call the mock. */
export const directTraffic: TargetTraffic = {
  path: (dialect) => PATHS[dialect],
  headers: (dialect, credential): Record<string, string> => {
    const version: Record<string, string> = dialect === "anthropic" ? { "anthropic-version": "2023-06-01" } : {};
    if (credential === "absent") return version;
    return dialect === "anthropic"
      ? { ...version, "x-api-key": "sk-upstream" }
      : { authorization: "Bearer sk-upstream" };
  },
  model: (route) => MODELS[route],
};

// Requests as the official SDKs authenticate them: a bearer token for the OpenAI dialects, `x-api-key` and a version for Anthropic's.
import type { Credential, ModelRoute, TrafficDialect } from "../contract/cell.ts";
import type { TargetTraffic } from "../contract/target.ts";

/** The key that the mock's providers are configured with; the mock checks none. */
export const UPSTREAM_KEY = "sk-upstream";

/** Version header of the Anthropic API that the SDKs send. */
const ANTHROPIC_VERSION = "2023-06-01";

/** Model names of the mock's providers. */
export const UPSTREAM_MODELS = {
  openai: "gpt-4o-mini",
  anthropic: "claude-mock",
  embeddings: "text-embedding-3-small",
} as const;

/** Where the providers themselves serve each dialect. */
export const PROVIDER_PATHS = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  "openai-embeddings": "/v1/embeddings",
  anthropic: "/v1/messages",
} as const;

/** What makes one gateway's traffic differ from another's. */
export interface ClientTrafficOptions {
  /** `undefined` when the target is given no key at all. */
  readonly key: string | undefined;
  readonly paths: Readonly<Partial<Record<TrafficDialect, string>>>;
  readonly models: Readonly<Record<ModelRoute, string>>;
}

const UNKNOWN_KEY_SUFFIX = "-unknown";
const PLACEHOLDER_KEY = "sk-placeholder";

/** Traffic of a gateway that is called like a provider. */
export function clientTraffic({ key, paths, models }: ClientTrafficOptions): TargetTraffic {
  return {
    path: (dialect) => paths[dialect],
    headers: (dialect, credential) => credentialHeaders(dialect, keyFor(credential, key)),
    model: (route) => models[route],
  };
}

/** The key a request carries. An unknown one has the known one's shape, so that no target refuses it by its look alone. */
function keyFor(credential: Credential, key: string | undefined): string | undefined {
  const known = key ?? PLACEHOLDER_KEY;
  if (credential === "absent") return undefined;
  return credential === "good" ? known : `${known}${UNKNOWN_KEY_SUFFIX}`;
}

/** Headers that carry a key in a dialect. */
export function credentialHeaders(dialect: TrafficDialect, key: string | undefined): Record<string, string> {
  if (dialect !== "anthropic") return key === undefined ? {} : { authorization: `Bearer ${key}` };
  return { "anthropic-version": ANTHROPIC_VERSION, ...(key === undefined ? {} : { "x-api-key": key }) };
}

// Traffic straight to the mock: the paths, headers and model names of the providers themselves.
import type { TargetTraffic } from "../contract/target.ts";
import { credentialHeaders, PROVIDER_PATHS, UPSTREAM_KEY, UPSTREAM_MODELS } from "../targets/client-traffic.ts";

const MODELS = { ...UPSTREAM_MODELS, cross: UPSTREAM_MODELS.anthropic, unknown: "no-such-model" } as const;

/** How a provider's own client would call the mock, which knows one key. */
export const directTraffic: TargetTraffic = {
  path: (dialect) => PROVIDER_PATHS[dialect],
  headers: (dialect, credential) => credentialHeaders(dialect, credential === "absent" ? undefined : UPSTREAM_KEY),
  model: (route) => MODELS[route],
};

// Bifrost's configuration: members as its documentation and `transports/config.schema.json` name them (read 2026-11-30). Semantics of
// version 2 of that file: an empty allow-list denies, `["*"]` allows.
import type { ModelRoute } from "../contract/cell.ts";
import type { PlanContext } from "../contract/target.ts";
import { UPSTREAM_KEY, UPSTREAM_MODELS } from "./client-traffic.ts";

/** The one virtual key. */
export const BIFROST_VIRTUAL_KEY = "sk-bf-bench-0001";

/** Models are named with their provider. The Anthropic endpoint reaches any of them. */
export const BIFROST_MODELS: Readonly<Record<ModelRoute, string>> = {
  openai: `openai/${UPSTREAM_MODELS.openai}`,
  anthropic: `anthropic/${UPSTREAM_MODELS.anthropic}`,
  embeddings: `openai/${UPSTREAM_MODELS.embeddings}`,
  cross: `openai/${UPSTREAM_MODELS.openai}`,
  unknown: "openai/no-such-model",
};

const TIMEOUT_SECONDS = 60;
const POOL_SIZE = 15_000;
const BUFFER_SIZE = 20_000;
const CONCURRENCY = 10_000;

type Addresses = Pick<PlanContext, "mockHost" | "mockPort" | "workDirectory">;

/** The comparison's configuration: one virtual key enforced, no logging, the pools of its authors' own benchmark, nothing fetched. */
export function renderBifrostConfig(addresses: Addresses): string {
  const local = (name: string): string => `file://${addresses.workDirectory}/${name}`;
  return render({
    client: {
      initial_pool_size: POOL_SIZE,
      drop_excess_requests: false,
      enable_logging: false,
      disable_content_logging: true,
      enforce_auth_on_inference: true,
      allow_direct_keys: false,
    },
    framework: {
      pricing: {
        pricing_url: local("pricing.json"),
        model_parameters_url: local("model-parameters.json"),
        mcp_library_url: local("mcp-library.json"),
        live_models_sync_interval: 0,
      },
    },
    config_store: { enabled: true, type: "sqlite", config: { path: "./config.db" } },
    logs_store: { enabled: false },
    providers: {
      openai: tunedProvider(addresses),
      anthropic: tunedProvider(addresses),
    },
    governance: {
      virtual_keys: [
        {
          id: "vk-bench",
          name: "bench",
          value: BIFROST_VIRTUAL_KEY,
          is_active: true,
          provider_configs: [
            {
              provider: "openai",
              allowed_models: [UPSTREAM_MODELS.openai, UPSTREAM_MODELS.embeddings],
              key_ids: ["*"],
              weight: 1,
            },
            { provider: "anthropic", allowed_models: [UPSTREAM_MODELS.anthropic], key_ids: ["*"], weight: 1 },
          ],
        },
      ],
    },
  });
}

/** As a first user would write it: providers and their keys, everything else as shipped; inference is not authenticated then. */
export function renderBifrostDefaults(addresses: Addresses): string {
  const provider = { keys: [accountKey()], network_config: { base_url: originOf(addresses) } };
  return render({ providers: { openai: provider, anthropic: provider } });
}

/** Prices of the mock's models, so that none is looked up over the network. */
export function renderPricing(): string {
  const chat = { mode: "chat", input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7 };
  return render({
    [UPSTREAM_MODELS.openai]: { provider: "openai", base_model: UPSTREAM_MODELS.openai, ...chat },
    [UPSTREAM_MODELS.anthropic]: { provider: "anthropic", base_model: UPSTREAM_MODELS.anthropic, ...chat },
    [UPSTREAM_MODELS.embeddings]: {
      provider: "openai",
      base_model: UPSTREAM_MODELS.embeddings,
      mode: "embedding",
      input_cost_per_token: 2e-8,
      output_cost_per_token: 0,
    },
  });
}

function tunedProvider(addresses: Addresses): object {
  return {
    keys: [accountKey()],
    network_config: {
      // Without `/v1`: the provider appends its own paths.
      base_url: originOf(addresses),
      default_request_timeout_in_seconds: TIMEOUT_SECONDS,
      stream_idle_timeout_in_seconds: TIMEOUT_SECONDS,
      max_retries: 0,
      max_conns_per_host: CONCURRENCY,
    },
    concurrency_and_buffer_size: { concurrency: CONCURRENCY, buffer_size: BUFFER_SIZE },
  };
}

function accountKey(): object {
  return { name: "mock", value: UPSTREAM_KEY, models: ["*"], weight: 1 };
}

function originOf({ mockHost, mockPort }: Addresses): string {
  return `http://${mockHost}:${mockPort}`;
}

function render(value: object): string {
  return JSON.stringify(value, null, 2);
}

import { describe, expect, it } from "vitest";

import { renderBifrostConfig, renderBifrostDefaults, renderPricing } from "./bifrost-config.ts";

const ADDRESSES = { mockHost: "127.0.0.1", mockPort: 4000, workDirectory: "/tmp/work" };

/**
 * Members that Bifrost's documentation and `transports/config.schema.json` name (read 2026-11-30), by path and type; `[]` is an
 * element, `*` a provider. A member that is not here would be ignored silently, and the comparison would run another configuration
 * than the one it prints.
 */
const DOCUMENTED: Readonly<Record<string, "boolean" | "number" | "string" | "object" | "array">> = {
  client: "object",
  "client.initial_pool_size": "number",
  "client.drop_excess_requests": "boolean",
  "client.enable_logging": "boolean",
  "client.disable_content_logging": "boolean",
  "client.enforce_auth_on_inference": "boolean",
  "client.allow_direct_keys": "boolean",
  framework: "object",
  "framework.pricing": "object",
  "framework.pricing.pricing_url": "string",
  "framework.pricing.model_parameters_url": "string",
  "framework.pricing.mcp_library_url": "string",
  "framework.pricing.live_models_sync_interval": "number",
  config_store: "object",
  "config_store.enabled": "boolean",
  "config_store.type": "string",
  "config_store.config": "object",
  "config_store.config.path": "string",
  logs_store: "object",
  "logs_store.enabled": "boolean",
  providers: "object",
  "providers.*": "object",
  "providers.*.keys": "array",
  "providers.*.keys[]": "object",
  "providers.*.keys[].name": "string",
  "providers.*.keys[].value": "string",
  "providers.*.keys[].models": "array",
  "providers.*.keys[].models[]": "string",
  "providers.*.keys[].weight": "number",
  "providers.*.network_config": "object",
  "providers.*.network_config.base_url": "string",
  "providers.*.network_config.default_request_timeout_in_seconds": "number",
  "providers.*.network_config.stream_idle_timeout_in_seconds": "number",
  "providers.*.network_config.max_retries": "number",
  "providers.*.network_config.max_conns_per_host": "number",
  "providers.*.concurrency_and_buffer_size": "object",
  "providers.*.concurrency_and_buffer_size.concurrency": "number",
  "providers.*.concurrency_and_buffer_size.buffer_size": "number",
  governance: "object",
  "governance.virtual_keys": "array",
  "governance.virtual_keys[]": "object",
  "governance.virtual_keys[].id": "string",
  "governance.virtual_keys[].name": "string",
  "governance.virtual_keys[].value": "string",
  "governance.virtual_keys[].is_active": "boolean",
  "governance.virtual_keys[].provider_configs": "array",
  "governance.virtual_keys[].provider_configs[]": "object",
  "governance.virtual_keys[].provider_configs[].provider": "string",
  "governance.virtual_keys[].provider_configs[].allowed_models": "array",
  "governance.virtual_keys[].provider_configs[].allowed_models[]": "string",
  "governance.virtual_keys[].provider_configs[].key_ids": "array",
  "governance.virtual_keys[].provider_configs[].key_ids[]": "string",
  "governance.virtual_keys[].provider_configs[].weight": "number",
};

interface Member {
  readonly path: string;
  readonly type: string;
}

function membersOf(value: unknown, path: string): Member[] {
  const own: Member[] = path === "" ? [] : [{ path, type: Array.isArray(value) ? "array" : typeof value }];
  if (Array.isArray(value)) return [...own, ...value.flatMap((each) => membersOf(each, `${path}[]`))];
  if (typeof value !== "object" || value === null) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, member]) =>
      membersOf(member, path === "" ? name : `${path}.${path === "providers" ? "*" : name}`),
    ),
  ];
}

describe("Bifrost's configuration", () => {
  it.each([
    ["the comparison's", renderBifrostConfig(ADDRESSES)],
    ["the defaults'", renderBifrostDefaults(ADDRESSES)],
  ])("has documented members of documented types only: %s", (_name, text) => {
    const undocumented = membersOf(JSON.parse(text), "").filter(({ path, type }) => DOCUMENTED[path] !== type);
    expect(undocumented).toEqual([]);
  });

  it("enforces its key, logs nothing, retries nothing and fetches nothing", () => {
    const config = JSON.parse(renderBifrostConfig(ADDRESSES)) as {
      readonly client: object;
      readonly framework: { readonly pricing: Readonly<Record<string, unknown>> };
      readonly providers: Readonly<
        Record<string, { readonly network_config: object; readonly concurrency_and_buffer_size: object }>
      >;
    };
    expect(config.client).toMatchObject({
      initial_pool_size: 15_000,
      enforce_auth_on_inference: true,
      enable_logging: false,
      allow_direct_keys: false,
    });
    const urls = Object.entries(config.framework.pricing).filter(([name]) => name.endsWith("_url"));
    expect(urls).toHaveLength(3);
    for (const [, url] of urls) expect(url).toMatch(/^file:\/\/\/tmp\/work\//);
    for (const provider of Object.values(config.providers)) {
      expect(provider).toMatchObject({
        network_config: { base_url: "http://127.0.0.1:4000", max_retries: 0 },
        concurrency_and_buffer_size: { concurrency: 10_000, buffer_size: 20_000 },
      });
    }
  });

  it("allows its key every model it has a price for, and by name: an empty list denies", () => {
    const config = JSON.parse(renderBifrostConfig(ADDRESSES)) as {
      readonly governance: {
        readonly virtual_keys: readonly {
          readonly provider_configs: readonly { readonly allowed_models: readonly string[] }[];
        }[];
      };
    };
    const allowed = config.governance.virtual_keys.flatMap((key) =>
      key.provider_configs.flatMap((each) => each.allowed_models),
    );
    expect(allowed.toSorted()).toEqual(Object.keys(JSON.parse(renderPricing()) as object).toSorted());
  });
});

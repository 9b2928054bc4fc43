// The configuration of a test stack: every behaviour of the scripted upstream under a model name of each provider dialect.
import type { CapabilityOverrides, GatewayConfig, KeyConfig, ProviderConfig } from "@dragoman/core";

import { hashKey } from "../../src/keys/index.ts";
import { frontEndOfRun } from "./front-end.ts";

/** The key of a stack that may use every model and sees the diagnostic headers. */
export const STACK_KEY = "dgm_StackKeyOfTheTests0000000000";

/** What a test adds to the standard configuration, member by member. */
export interface StackConfigOptions {
  readonly providers?: (upstreamUrl: string) => Readonly<Record<string, ProviderConfig>>;
  readonly models?: GatewayConfig["models"];
  readonly keys?: readonly KeyConfig[];
  readonly server?: GatewayConfig["server"];
}

/** What the scripted models are said to be able to do: everything that the upstream's dialect has. */
export const SCRIPTED_CAPABILITIES: CapabilityOverrides = {
  defaultMaxOutputTokens: 1024,
  reasoning: {
    support: true,
    budget: true,
    adaptive: true,
    efforts: ["low", "medium", "high", "xhigh", "max"],
    summaries: true,
  },
};

/**
 * Builds the configuration. `chat/NAME` asks an OpenAI-style upstream for the model `NAME`, `messages/NAME` an Anthropic-style
 * one; one attempt each, so that a call of a client is a call upstream.
 */
export function buildStackConfig(upstreamUrl: string, options: StackConfigOptions = {}): GatewayConfig {
  const glob = (provider: string): GatewayConfig["models"][string] => ({
    attempts: 1,
    deployments: [{ provider, model: "*", capabilities: SCRIPTED_CAPABILITIES }],
  });
  return {
    version: 1,
    server: { host: "127.0.0.1", port: 0, shutdown: "1s", ...frontEndOfRun(), ...options.server },
    providers: {
      chat: { kind: "openai", baseUrl: `${upstreamUrl}/v1`, credentials: ["chat-credential"] },
      messages: { kind: "anthropic", baseUrl: upstreamUrl, credentials: ["messages-credential"] },
      ...options.providers?.(upstreamUrl),
    },
    models: { "chat/*": glob("chat"), "messages/*": glob("messages"), ...options.models },
    keys: [
      { name: "stack", hash: hashKey(STACK_KEY), owner: "tests", models: ["*"], debug: true },
      ...(options.keys ?? []),
    ],
    telemetry: { requestLog: false },
  };
}

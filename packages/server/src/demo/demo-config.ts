// The configuration of the demo: two providers that are one scripted upstream, and a model for each thing the demo shows.
import type { CapabilityOverrides, GatewayConfig } from "@dragoman/core";

/** What the demo's configuration is made of. */
export interface DemoConfigParts {
  /** Origin of the scripted upstream, without a path. */
  readonly upstreamUrl: string;
  /** `sha256:…` of the demo's key. */
  readonly keyHash: string;
}

/** Public models of the demo, with what each is for. */
export const DEMO_MODELS: readonly (readonly [string, string])[] = [
  ["chat", "an OpenAI-style upstream"],
  ["messages", "an Anthropic-style upstream"],
  ["tools", "an Anthropic-style upstream that calls two tools at once"],
  ["fallback", "its first deployment fails after status 200, its second one answers"],
  ["strict", "its only deployment cannot express everything: try n = 2"],
  ["breaks", "its upstream goes away in the middle of a stream"],
];

/** What OpenAI-style clients leave out and Anthropic-style upstreams require. */
const CAPABILITIES: CapabilityOverrides = { defaultMaxOutputTokens: 1024 };

/** Builds the demo's configuration. */
export function buildDemoConfig({ upstreamUrl, keyHash }: DemoConfigParts): GatewayConfig {
  return {
    version: 1,
    server: { headers: { debug: "on" } },
    providers: {
      "chat-upstream": { kind: "openai-compatible", baseUrl: `${upstreamUrl}/v1`, credentials: ["demo-credential"] },
      "messages-upstream": { kind: "anthropic", baseUrl: upstreamUrl, credentials: ["demo-credential"] },
    },
    models: {
      chat: { deployments: [{ id: "chat-1", provider: "chat-upstream", model: "scripted-text" }] },
      messages: {
        deployments: [
          { id: "messages-1", provider: "messages-upstream", model: "scripted-text", capabilities: CAPABILITIES },
        ],
      },
      tools: {
        deployments: [
          {
            id: "tools-1",
            provider: "messages-upstream",
            model: "scripted-parallel-tools",
            capabilities: CAPABILITIES,
          },
        ],
      },
      fallback: {
        attempts: 1,
        deployments: [
          {
            id: "first",
            provider: "messages-upstream",
            model: "scripted-error-record",
            capabilities: CAPABILITIES,
            tier: 1,
          },
          { id: "second", provider: "chat-upstream", model: "scripted-text", tier: 2 },
        ],
      },
      strict: {
        deployments: [
          { id: "strict-1", provider: "messages-upstream", model: "scripted-text", capabilities: CAPABILITIES },
        ],
      },
      breaks: { deployments: [{ id: "breaks-1", provider: "chat-upstream", model: "scripted-text:reset-after-4" }] },
    },
    keys: [{ name: "demo", hash: keyHash, owner: "demo", models: ["*"] }],
  };
}

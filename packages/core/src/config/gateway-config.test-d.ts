// Compiled, not run: what the type of the source form accepts, and the mistakes that an embedding host is told of by its compiler.
import type { GatewayConfig } from "./gateway-config.ts";

const base = { version: 1, providers: { main: { kind: "plain" } }, models: { chat: ["main/large"] } } as const;

export const ACCEPTED: readonly GatewayConfig[] = [
  base,
  { ...base, server: { maxBody: 1024, shutdown: "5s", sse: { keepAlive: "off" } } },
  {
    ...base,
    models: {
      chat: {
        deployments: [{ provider: "main", model: "x", capabilities: { tools: { max: 3 } }, timeouts: { idle: "5m" } }],
      },
    },
  },
];

export const REFUSED: readonly GatewayConfig[] = [
  // @ts-expect-error another version
  { ...base, version: 2 },
  // @ts-expect-error unknown member
  { ...base, server: { prot: 80 } },
  // @ts-expect-error a duration without unit
  { ...base, server: { shutdown: "10" } },
  // @ts-expect-error a size in an unknown unit
  { ...base, server: { maxBody: "32mb" } },
  // @ts-expect-error a limit that cannot be off
  { ...base, models: { chat: { deployments: [], timeouts: { total: "off" } } } },
  // @ts-expect-error a deployment without model
  { ...base, models: { chat: { deployments: [{ provider: "main" }] } } },
  // @ts-expect-error an unknown capability
  { ...base, models: { chat: { deployments: [{ provider: "main", model: "x", capabilities: { fly: true } }] } } },
  // @ts-expect-error a profile without base
  { ...base, providers: { main: { kind: "plain", profile: { maxTokensField: "max_tokens" } } } },
];

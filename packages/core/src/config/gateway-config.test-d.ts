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
  {
    ...base,
    owners: { team: { limits: [{ usd: 1, per: "day" }] } },
    ledger: { store: { kind: "postgres", url: "env:URL" }, durability: "store" },
    counters: { kind: "valkey", url: "env:URL", onDown: "closed", timeout: "1s" },
    prices: { rows: [{ model: "m", input: 1, output: 1 }] },
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
  // @ts-expect-error a store of another kind's member
  { ...base, ledger: { store: { kind: "memory", file: "x" } } },
  // @ts-expect-error counters on a server without its URL
  { ...base, counters: { kind: "valkey" } },
  // @ts-expect-error a price of no model in the table
  { ...base, prices: { rows: [{ input: 1, output: 1 }] } },
];

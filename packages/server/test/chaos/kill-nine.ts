// Kills the gateway without a warning, again and again, under load; then compares the upstream's own log with the ledger.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import type { DeploymentConfig, GatewayConfig } from "@dragoman/core";
import type { LedgerEntry } from "@dragoman/ledger";
import { openSqliteStore } from "@dragoman/ledger/sqlite";

import { hashKey } from "../../src/keys/index.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { auditBooks, type Audit } from "./audit.ts";
import { KillableGateway } from "./killable-gateway.ts";
import { MarkedLoad } from "./marked-load.ts";
import { SeededRandom } from "../../../../tests/random/seeded-random.ts";

/** A run. */
export interface KillRun {
  readonly kills: number;
  readonly clients: number;
  readonly seed: number;
  /** How long a life may last before it is ended. */
  readonly maxLifeMs: number;
  readonly onLife?: (life: number) => void;
}

/** What a run found. */
export interface KillReport extends Audit {
  readonly kills: number;
  readonly requests: number;
  /** Tokens that the last life says its key has left, against those that the ledger's entries leave. */
  readonly remainingTokens: { readonly told: number; readonly booked: number };
}

const KEY = "dgm_KeyOfTheLoad000000000000000000";
/** Most that is remembered of the upstream's calls. */
const MAX_CALLS = 1_000_000;
/** Far more than any run spends. */
const TOKEN_LIMIT = 1_000_000_000;
const LAST_LIFE_MS = 500;
const PRICE = { input: 1, output: 2 } as const;

/** Runs it. Rejects when the gateway does not start again or does not end cleanly. */
export async function runKills({ kills, clients, seed, maxLifeMs, onLife }: KillRun): Promise<KillReport> {
  const rng = new SeededRandom(seed);
  const upstream = await createScriptedUpstream({ maxCalls: MAX_CALLS });
  const gateway = await KillableGateway.create(chaosConfig(upstream.url));
  try {
    await gateway.start();
    const load = new MarkedLoad({ port: gateway.port, key: KEY, clients, rng });
    for (let life = 1; life <= kills; life += 1) {
      await pause(rng.integer(maxLifeMs));
      await gateway.kill();
      onLife?.(life);
      await gateway.start();
    }
    await pause(LAST_LIFE_MS);
    await load.stop();
    await gateway.stop();
    // One more life, which has nothing to count but what the ones before left.
    await gateway.start();
    const told = await remainingTokens(gateway.port);
    await gateway.stop();
    const entries = await readEntries(gateway.dataFolder);
    const tokens = entries.reduce((sum, { usage }) => sum + (usage?.input ?? 0) + (usage?.output ?? 0), 0);
    return {
      ...auditBooks(upstream.calls, entries, load.requests),
      kills,
      requests: load.requests.length,
      remainingTokens: { told, booked: TOKEN_LIMIT - tokens },
    };
  } finally {
    await gateway.dispose();
    await upstream.close();
  }
}

function chaosConfig(upstreamUrl: string): GatewayConfig {
  const deployment = (provider: string, model: string): DeploymentConfig => ({
    provider,
    model,
    capabilities: { defaultMaxOutputTokens: 64 },
    prices: PRICE,
    // What a client that left does not hear is still read, so that lives end in the middle of it.
    disconnect: { mode: "drain", maxMs: 1_000 },
  });
  return {
    version: 1,
    server: { host: "127.0.0.1", shutdown: "10s" },
    providers: {
      chat: { kind: "openai", baseUrl: `${upstreamUrl}/v1`, credentials: ["chat-credential"] },
      messages: { kind: "anthropic", baseUrl: upstreamUrl, credentials: ["messages-credential"] },
    },
    models: {
      "chat/*": { attempts: 2, deployments: [deployment("chat", "*")] },
      "messages/*": { attempts: 1, deployments: [deployment("messages", "*")] },
      fallback: {
        attempts: 1,
        deployments: [
          { ...deployment("chat", "scripted-error-500"), tier: 1 },
          { ...deployment("messages", "scripted-text"), tier: 2 },
        ],
      },
    },
    keys: [
      {
        name: "load",
        hash: hashKey(KEY),
        models: ["*"],
        limits: [{ tokens: TOKEN_LIMIT, per: "month" }, { usd: 1_000_000, per: "month" }, { parallel: 1_000 }],
      },
    ],
    telemetry: { requestLog: false, logLevel: "error" },
  };
}

/** What the gateway tells the key of its limit, with an answer that takes nothing. */
async function remainingTokens(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  await answer.arrayBuffer();
  return Number(answer.headers.get("x-ratelimit-remaining-tokens"));
}

async function readEntries(dataFolder: string): Promise<LedgerEntry[]> {
  const store = await openSqliteStore({ file: join(dataFolder, "ledger.db") });
  try {
    const entries: LedgerEntry[] = [];
    for await (const entry of store.entries({})) entries.push(entry);
    return entries;
  } finally {
    await store.close();
  }
}

/**
 * Limits of several machines, counted in one Valkey or Redis server: a trade is one script, so its asks are granted or refused at one
 * moment, by the server's clock. In a cluster all limits of a prefix live in one slot.
 */
import { createHash } from "node:crypto";

import type { LeaseGrant } from "../../limits/index.ts";
import type { AskAnswer, CounterSource, Trade, TradeReply } from "../counter-source.ts";
import { TRADE_SCRIPT } from "./trade-script.ts";

/** What is used of a client: `ioredis` and `iovalkey` fit. */
export interface ValkeyClient {
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** Parts and settings. */
export interface ValkeyCountersOptions {
  /** Is connected and closed by whoever made it. It should fail rather than wait while the server is out of reach. */
  readonly client: ValkeyClient;
  /** This process among all that share the limits: never used again by another. */
  readonly holder: string;
  /** What every key begins with, in braces. Default `dragoman`. */
  readonly prefix?: string;
  /** What a process has leased counts as spent when it was not heard of for so long. Default 15,000. */
  readonly leaseMs?: number;
}

const DEFAULT_LEASE_MS = 15_000;

const SCRIPT_SHA1 = createHash("sha1").update(TRADE_SCRIPT).digest("hex");

/** A source that several machines share. */
export function createValkeyCounters(options: ValkeyCountersOptions): CounterSource {
  return new ValkeyCounters(options);
}

class ValkeyCounters implements CounterSource {
  readonly leaseMs: number;
  /** The server calls nothing back: an idle reserve comes back by itself. */
  onRecall: CounterSource["onRecall"] = null;
  readonly #client: ValkeyClient;
  readonly #holder: string;
  readonly #prefix: string;

  constructor({ client, holder, prefix = "dragoman", leaseMs = DEFAULT_LEASE_MS }: ValkeyCountersOptions) {
    this.leaseMs = leaseMs;
    this.#client = client;
    this.#holder = holder;
    this.#prefix = `{${prefix}}:`;
  }

  async trade(trade: Trade): Promise<TradeReply> {
    const keys = trade.reports.map(({ limit }) => `${this.#prefix}${limit.name}`);
    const message = JSON.stringify({ ...trade, holder: this.#holder, leaseMs: this.leaseMs });
    return readReply(await this.#run([...keys, message], keys.length));
  }

  async close(): Promise<void> {
    // The client is closed by whoever made it.
  }

  async #run(words: readonly string[], keys: number): Promise<unknown> {
    try {
      return await this.#client.evalsha(SCRIPT_SHA1, keys, ...words);
    } catch (error) {
      // A server that does not know the script yet, or no longer: it learns it by this call.
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return this.#client.eval(TRADE_SCRIPT, keys, ...words);
    }
  }
}

/** What the script answers. */
export function readReply(raw: unknown): TradeReply {
  const [nowMs, grants, answers] = raw as [number, readonly (readonly number[])[], readonly (readonly number[])[]];
  return {
    nowMs,
    grants: grants.map(([spare = 0, spent = 0, leases = 0, startMs = 0, endMs = 0]): LeaseGrant => ({
      spare,
      spent,
      leases,
      startMs,
      endMs,
    })),
    answers: answers.map((waits): AskAnswer => (waits.length === 0 ? null : waits)),
  };
}

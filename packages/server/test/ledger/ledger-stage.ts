// A gateway in this process with a real data folder and a scripted upstream, for tests that end it and start it again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import type { GatewayConfig, Logger } from "@dragoman/core";
import type { LedgerEntry } from "@dragoman/ledger";
import { afterEach } from "vitest";

import type { Gateway } from "../../src/create-gateway.ts";
import { hashKey } from "../../src/keys/index.ts";
import { createScriptedUpstream, type ScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { serve, type RunningServer } from "../../src/serve.ts";

/** The key of the stage's configuration. */
export const STAGE_KEY = "dgm_KeyOfTheStage00000000000000000";

/** A line of a log. */
export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
}

/** Everything of one test. */
export class LedgerStage {
  readonly dataDir: string = join(mkdtempSync(join(tmpdir(), "dragoman-ledger-")), "data");
  readonly log: LogLine[] = [];
  /** What the host was told. */
  readonly heard: LedgerEntry[] = [];
  upstream!: ScriptedUpstream;
  #running: RunningServer | null = null;

  /** Starts a gateway, and the upstream with the first one. One USD per million tokens of input, two of output. */
  async start(more: Partial<GatewayConfig> = {}): Promise<void> {
    this.upstream ??= await createScriptedUpstream();
    const note =
      (level: LogLine["level"]) =>
      (_fields: unknown, message: string): void =>
        void this.log.push({ level, message });
    this.#running = await serve({
      config: {
        version: 1,
        server: { host: "127.0.0.1", port: 0, shutdown: "2s" },
        providers: {
          openai: { kind: "openai", baseUrl: `${this.upstream.url}/v1`, credentials: ["x"] },
        },
        models: {
          "*": {
            attempts: 1,
            deployments: [{ id: "d", provider: "openai", model: "*", prices: { input: 1, output: 2 } }],
          },
        },
        keys: [{ name: "app", hash: hashKey(STAGE_KEY), owner: "team", models: ["*"] }],
        telemetry: { requestLog: false },
        ...more,
      },
      logger: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
      gatewayOptions: { dataDir: this.dataDir, onEntry: (entry) => void this.heard.push(entry) },
    });
  }

  get gateway(): Gateway {
    if (this.#running === null) throw new Error("nothing runs");
    return this.#running.gateway;
  }

  get url(): string {
    return this.#running?.url ?? "";
  }

  /** Asks for an answer and reads it; the status. */
  async ask(model = "scripted-text", key: string = STAGE_KEY): Promise<number> {
    const answer = await fetch(`${this.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  async readiness(): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
    const answer = await fetch(`${this.url}/readyz`);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  /** Entries that the store has, once it has as many as were told. */
  async booked(): Promise<LedgerEntry[]> {
    return this.until("every entry is booked", async () => {
      const entries: LedgerEntry[] = [];
      for await (const entry of this.gateway.ledger!.store.entries({})) entries.push(entry);
      return entries.length >= this.heard.length ? entries : null;
    });
  }

  /** Asks again and again until there is an answer. */
  async until<Value>(what: string, look: () => Value | null | Promise<Value | null>): Promise<Value> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      // What cannot be asked now may be in a moment.
      const found = await Promise.resolve()
        .then(look)
        .catch(() => null);
      if (found !== null) return found;
      await pause(20);
    }
    throw new Error(`it never came that ${what}`);
  }

  async stop(): Promise<void> {
    await this.#running?.close();
    this.#running = null;
  }

  async end(): Promise<void> {
    await this.stop();
    await this.upstream?.close();
    rmSync(join(this.dataDir, ".."), { recursive: true });
  }
}

/** Stages of a file's tests, ended behind each. */
export function useStages(): () => LedgerStage {
  const stages: LedgerStage[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage.end();
  });
  return () => {
    const stage = new LedgerStage();
    stages.push(stage);
    return stage;
  };
}

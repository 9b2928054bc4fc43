// The built command as a process of its own in front of a scripted upstream in this one, so that what a test sees is what a user's
// server does, and what the server uses can be measured apart.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { GatewayConfig } from "@dragoman/core";

import { hashKey } from "../../src/keys/index.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { frontEndOfRun } from "../harness/front-end.ts";
import { until } from "../harness/until.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const PROBE = new URL("child-probe.mjs", import.meta.url).href;

/** The key that may use every model. */
export const KEY = "dgm_robustness-key-of-everything";
/** A key that may use only `allowed`. */
export const NARROW_KEY = "dgm_robustness-key-of-one-model";
/** Expired long ago. */
export const EXPIRED_KEY = "dgm_robustness-key-that-expired";
/** What the gateway shows to its providers. */
export const PROVIDER_CREDENTIAL = "sk-provider-credential-0123456789abcdef";

/**
 * Providers of every built gateway: the scripted upstream in both dialects; one without a listener; one of its own for refused
 * credentials, since they rest afterwards; one that needs no credential.
 */
export type ProviderName = "chat" | "messages" | "nowhere" | "locked" | "bare";

/** What the server has used so far. */
export interface ProcessUse {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** A built server that runs. */
export interface BuiltGateway {
  readonly url: string;
  readonly upstream: ScriptedUpstream;
  /** All that the server wrote to its log so far. */
  readonly log: string;
  measure(options?: { readonly collect: boolean }): Promise<ProcessUse>;
  close(): Promise<void>;
}

/** Capabilities that every scripted model gets: what clients of the other dialect need. */
export const CAPABILITIES = { defaultMaxOutputTokens: 1024 } as const;

/** A model with one deployment of the same name and no second attempt. */
export function soleModel(provider: ProviderName, upstreamModel: string): GatewayConfig["models"][string] {
  return { attempts: 1, deployments: [{ provider, model: upstreamModel, capabilities: CAPABILITIES }] };
}

/** A model whose second tier is a healthy deployment of the same dialect. */
export function guardedModel(provider: ProviderName, upstreamModel: string): GatewayConfig["models"][string] {
  return {
    attempts: 1,
    deployments: [
      { provider, model: upstreamModel, capabilities: CAPABILITIES, tier: 1 },
      { id: `spare-${provider}`, provider, model: "scripted-text", capabilities: CAPABILITIES, tier: 2 },
    ],
  };
}

/** Starts the built server; `npm run build` has to have run. */
export async function startBuiltGateway(parts: {
  readonly models: GatewayConfig["models"];
  readonly server?: GatewayConfig["server"];
}): Promise<BuiltGateway> {
  const upstream = await createScriptedUpstream();
  const nowhere = await unusedOrigin();
  const folder = mkdtempSync(join(tmpdir(), "dragoman-robustness-"));
  const path = join(folder, "dragoman.json");
  writeFileSync(path, JSON.stringify(buildConfig(parts, upstream.url, nowhere)));
  const child = fork(CLI, ["serve", "--config", path, "--port", "0", "--data", join(folder, "data")], {
    execArgv: ["--expose-gc", "--import", PROBE],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  child.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  const urlOf = (): string | undefined => /listens on (http:\S+)/.exec(log)?.[1];
  await until(() => urlOf() !== undefined || child.exitCode !== null, "the built server's address");
  const url = urlOf();
  if (url === undefined) throw new Error(`the built server did not start: ${log}`);
  return {
    url,
    upstream,
    get log() {
      return log;
    },
    measure: (options) => measure(child, options?.collect === true ? "collect" : "measure"),
    close: async () => {
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      const isRunning = child.exitCode === null && child.signalCode === null;
      child.kill("SIGKILL");
      if (isRunning) await exited;
      rmSync(folder, { recursive: true });
      await upstream.close();
      if (!isRunning) throw new Error(`the built server died during the tests: ${log.slice(-4000)}`);
    },
  };
}

function buildConfig(
  parts: { readonly models: GatewayConfig["models"]; readonly server?: GatewayConfig["server"] },
  upstreamUrl: string,
  nowhere: string,
): GatewayConfig {
  const credentials = [PROVIDER_CREDENTIAL];
  return {
    version: 1,
    server: { headers: { debug: "off" }, ...frontEndOfRun(), ...parts.server },
    telemetry: { logLevel: "debug" },
    providers: {
      chat: { kind: "openai", baseUrl: `${upstreamUrl}/v1`, credentials },
      messages: { kind: "anthropic", baseUrl: upstreamUrl, credentials },
      locked: { kind: "anthropic", baseUrl: upstreamUrl, credentials },
      bare: { kind: "openai-compatible", baseUrl: `${upstreamUrl}/v1` },
      nowhere: { kind: "openai-compatible", baseUrl: `${nowhere}/v1`, credentials },
    },
    models: parts.models,
    keys: [
      { name: "everything", hash: hashKey(KEY), models: ["*"] },
      { name: "narrow", hash: hashKey(NARROW_KEY), models: ["allowed"] },
      { name: "expired", hash: hashKey(EXPIRED_KEY), models: ["*"], expires: "2020-01-01T00:00:00Z" },
    ],
  };
}

/** An origin where nothing listens: a port that was free a moment ago. */
async function unusedOrigin(): Promise<string> {
  const upstream = await createScriptedUpstream();
  const { url } = upstream;
  await upstream.close();
  return url;
}

function measure(child: ChildProcess, question: "measure" | "collect"): Promise<ProcessUse> {
  return new Promise((resolve, reject) => {
    child.once("message", (use) => resolve(use as ProcessUse));
    child.send(question, (error) => {
      if (error !== null) reject(error);
    });
  });
}

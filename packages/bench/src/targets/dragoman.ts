// Dragoman as a target. P-min checks one key on every request and does nothing else; P-prod adds what a production configuration has. The bench imports none of its packages: it is found and started like every other target.
import { createHash } from "node:crypto";

import type { LaunchPlan, LocateContext, Located, PlanContext, Target } from "../contract/target.ts";
import { clientTraffic, UPSTREAM_KEY, UPSTREAM_MODELS } from "./client-traffic.ts";
import { asCommand, locateExecutable, readVersion } from "./locate-executable.ts";

const KEY = "dgm_bench_key_for_loopback_only";
const NO_EMBEDDINGS = "this version serves no embeddings";

const traffic = clientTraffic({
  key: KEY,
  paths: { "openai-chat": "/v1/chat/completions", anthropic: "/v1/messages" },
  models: {
    openai: UPSTREAM_MODELS.openai,
    anthropic: UPSTREAM_MODELS.anthropic,
    embeddings: UPSTREAM_MODELS.embeddings,
    // An Anthropic client may name a model of any provider; the gateway translates.
    cross: UPSTREAM_MODELS.openai,
    unknown: "no-such-model",
  },
});

/** Limits of every kind that no run reaches: what counts is that they are counted. */
const PRODUCTION_LIMITS = [
  { usd: 1_000_000, per: "month" },
  { requests: 100_000_000, per: "minute" },
  { tokens: 1_000_000_000_000, per: "day" },
  { parallel: 100_000 },
];

/** The configuration file of a profile, as JSON, which is YAML. */
function renderDragomanConfig(
  { mockHost, mockPort, options }: Pick<PlanContext, "mockHost" | "mockPort" | "options">,
  profile: "P-min" | "P-prod",
): string {
  const isInside = options[`${profile === "P-min" ? "dragoman" : "dragoman-prod"}.inside`] === "on";
  const origin = `http://${mockHost}:${mockPort}`;
  // No retries, as for every other target: a retry would hide a failure and count as two upstream calls.
  const model = (provider: string, id: string): object => ({
    attempts: 1,
    deployments: [{ provider, model: id, prices: { input: 1, output: 2 } }],
  });
  const { openai, anthropic } = UPSTREAM_MODELS;
  return JSON.stringify(
    {
      version: 1,
      // A cell of unknown keys would otherwise measure the 429 that someone who guesses keys gets, from its 21st request on.
      server: { authThrottle: "off" },
      providers: {
        openai: { kind: "openai", baseUrl: `${origin}/v1`, credentials: ["env:UPSTREAM_KEY"] },
        anthropic: { kind: "anthropic", baseUrl: origin, credentials: ["env:UPSTREAM_KEY"] },
      },
      models: { [openai]: model("openai", openai), [anthropic]: model("anthropic", anthropic) },
      keys: [
        {
          name: "bench",
          hash: `sha256:${createHash("sha256").update(KEY).digest("hex")}`,
          models: [openai, anthropic],
          ...(profile === "P-prod" ? { limits: PRODUCTION_LIMITS } : {}),
          // The time of each step comes with the diagnostic headers.
          ...(isInside ? { debug: true } : {}),
        },
      ],
      ledger:
        profile === "P-min" ? { store: { kind: "memory" } } : { store: { kind: "sqlite" }, durability: "journal" },
      telemetry: { logLevel: profile === "P-min" ? "error" : "info", requestLog: profile === "P-prod" },
    },
    null,
    2,
  );
}

function planProfile(profile: "P-min" | "P-prod"): (context: PlanContext) => LaunchPlan {
  return (context) => {
    const { command, args } = asCommand(context.executable);
    const serve = [
      ...args,
      "serve",
      "--config",
      "dragoman.json",
      "--host",
      context.listenHost,
      "--port",
      String(context.listenPort),
      "--data",
      "data",
    ];
    // The request log goes to a file, as a service manager would have it; through a pipe it would cost the bench its reading.
    const start =
      profile === "P-min"
        ? { command, args: serve }
        : { command: "/bin/sh", args: ["-c", 'exec "$0" "$@" >request.log', command, ...serve] };
    return {
      kind: "process",
      ...start,
      environment: { UPSTREAM_KEY, NODE_ENV: "production" },
      files: [{ name: "dragoman.json", content: renderDragomanConfig(context, profile) }],
      // Without a key the door answers 401: it is up.
      ready: { path: "/v1/models", statuses: [200, 401], timeoutMs: 20_000 },
      settleMs: 500,
      workers: 1,
    };
  };
}

function locate(context: LocateContext): Promise<Located> {
  return locateExecutable(
    {
      option: "dragoman.bin",
      variable: "DRAGOMAN_BIN",
      names: ["dragoman"],
      installCommand: "npm install --global dragoman",
      pinnedVersion: undefined,
      askVersion: (executable) => {
        const { command, args } = asCommand(executable);
        return readVersion(command, [...args, "--version"], /(\d+\.\d+\.\d+\S*)/);
      },
    },
    context,
  );
}

const COMMON = {
  kind: "gateway",
  checksKey: true,
  warmUpRequests: 10_000,
  unsupported: { S5: NO_EMBEDDINGS, M1: `the mix has embeddings: ${NO_EMBEDDINGS}` },
  traffic,
  locate,
} as const;

/** Dragoman at P-min. */
export const DRAGOMAN: Target = {
  ...COMMON,
  id: "dragoman",
  label: "Dragoman",
  profile: "P-min",
  notes: [
    "One key checked on every request; no request log, cache, limits, journal, retries or throttle of failed keys. One process: it uses one core.",
  ],
  plan: planProfile("P-min"),
};

/** Dragoman at P-prod. */
export const DRAGOMAN_PROD: Target = {
  ...COMMON,
  id: "dragoman-prod",
  label: "Dragoman",
  profile: "P-prod",
  notes: [
    "P-min with limits on money, requests, tokens and calls at once, a journal booked in SQLite, and the request log in a file.",
  ],
  plan: planProfile("P-prod"),
};

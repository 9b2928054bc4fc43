// Bifrost as a target, written from its public documentation and configuration schema. Where no binary is found it is n/a, visibly.
import type { LaunchPlan, LocateContext, Located, PlanContext, Target } from "../contract/target.ts";
import {
  BIFROST_MODELS,
  BIFROST_VIRTUAL_KEY,
  renderBifrostConfig,
  renderBifrostDefaults,
  renderPricing,
} from "./bifrost-config.ts";
import { clientTraffic, PROVIDER_PATHS } from "./client-traffic.ts";
import { locateExecutable, readVersion } from "./locate-executable.ts";

const PATHS = { ...PROVIDER_PATHS, anthropic: "/anthropic/v1/messages" } as const;

const UNVERIFIED =
  "Written from the public documentation and schema; this configuration was not run against a binary by its authors.";

function locate(context: LocateContext): Promise<Located> {
  return locateExecutable(
    {
      option: "bifrost.bin",
      variable: "BIFROST_BIN",
      names: ["bifrost-http"],
      installCommand:
        "npx -y @maximhq/bifrost, or docker run -p 8080:8080 maximhq/bifrost (set BIFROST_BIN to the bifrost-http binary)",
      pinnedVersion: "2.2.4",
      askVersion: (executable) => readVersion(executable, ["-version"], /v?(\d+\.\d+\.\d+)/),
    },
    context,
  );
}

function planFor(
  context: PlanContext,
  files: readonly { readonly name: string; readonly content: string }[],
): LaunchPlan {
  const { executable, listenHost, listenPort, workDirectory } = context;
  return {
    kind: "process",
    command: executable,
    // The directory is fresh for every repetition, so no state of an earlier one is found there.
    args: [
      "-app-dir",
      workDirectory,
      "-host",
      listenHost,
      "-port",
      String(listenPort),
      "-log-level",
      "error",
      "-log-style",
      "json",
    ],
    environment: {},
    files,
    ready: { path: "/health", timeoutMs: 60_000 },
    settleMs: 2000,
    // One process whose scheduler uses every core it may run on.
    workers: undefined,
  };
}

const COMMON = { label: "Bifrost", kind: "gateway", warmUpRequests: 10_000, unsupported: {}, locate } as const;

/** Bifrost with one virtual key enforced on every request, logging off and the pools of its authors' benchmark. */
export const BIFROST: Target = {
  ...COMMON,
  id: "bifrost",
  profile: "P-min",
  checksKey: true,
  notes: ["One virtual key enforced, logging off, pools 15000/20000/10000, local price files.", UNVERIFIED],
  traffic: clientTraffic({ key: BIFROST_VIRTUAL_KEY, paths: PATHS, models: BIFROST_MODELS }),
  plan: (context) =>
    planFor(context, [
      { name: "config.json", content: renderBifrostConfig(context) },
      { name: "pricing.json", content: renderPricing() },
      { name: "model-parameters.json", content: "{}" },
      { name: "mcp-library.json", content: "[]" },
    ]),
};

/** Bifrost as shipped: authentication of inference is off, logging on. */
export const BIFROST_DEFAULTS: Target = {
  ...COMMON,
  id: "bifrost-defaults",
  profile: "defaults",
  checksKey: false,
  notes: [
    "Providers only, all else as shipped: inference is not authenticated. It may fetch prices at start.",
    UNVERIFIED,
  ],
  unsupported: { S8: "its defaults check no key" },
  traffic: clientTraffic({ key: undefined, paths: PATHS, models: BIFROST_MODELS }),
  plan: (context) => planFor(context, [{ name: "config.json", content: renderBifrostDefaults(context) }]),
};

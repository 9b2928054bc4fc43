// LiteLLM's proxy as a target: one worker per core and a master key, and as its command line starts it by default.
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import type { LaunchPlan, LocateContext, Located, PlanContext, Target } from "../contract/target.ts";
import { clientTraffic, PROVIDER_PATHS, UPSTREAM_KEY } from "./client-traffic.ts";
import { locateExecutable, readVersion } from "./locate-executable.ts";

const PINNED = "1.103.1";
/** Uploads by a third party that stole credentials; PyPI withdrew them. */
const MALICIOUS_VERSIONS: readonly string[] = ["1.82.7", "1.82.8"];
const INSTALL = `python3 -m venv DIR && DIR/bin/pip install 'litellm[proxy]==${PINNED}' (set LITELLM_BIN to DIR/bin/litellm)`;
const MASTER_KEY = "sk-bench-master";

const MODELS = {
  openai: "chat",
  anthropic: "claude",
  embeddings: "embeddings",
  cross: "chat",
  unknown: "no-such-model",
} as const;

/** Nothing is fetched, no interface is built, and no connection limit of its client stands in the way. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: "True",
  LITELLM_LOCAL_BLOG_POSTS: "True",
  LITELLM_LOCAL_POLICY_TEMPLATES: "true",
  LITELLM_MODE: "PRODUCTION",
  LITELLM_LOG: "ERROR",
  DISABLE_ADMIN_UI: "True",
  NO_DOCS: "True",
  NO_REDOC: "True",
  AIOHTTP_CONNECTOR_LIMIT: "0",
  AIOHTTP_CONNECTOR_LIMIT_PER_HOST: "0",
  AIOHTTP_TRUST_ENV: "False",
};

type Addresses = Pick<PlanContext, "mockHost" | "mockPort">;

/** The comparison's configuration, as JSON, which is YAML. */
function renderLitellmConfig(addresses: Addresses): string {
  const settings = {
    litellm_settings: {
      request_timeout: 60,
      num_retries: 0,
      set_verbose: false,
      callbacks: [],
      drop_params: false,
      // Without it a Messages call for an OpenAI model goes to the Responses API, and the cross-dialect cell compares other work.
      use_chat_completions_url_for_anthropic_messages: true,
    },
    router_settings: {
      routing_strategy: "simple-shuffle",
      num_retries: 0,
      disable_cooldowns: true,
      enable_pre_call_checks: false,
    },
    general_settings: {
      master_key: MASTER_KEY,
      disable_spend_logs: true,
      disable_error_logs: true,
      disable_spend_updates: true,
      background_health_checks: false,
    },
  };
  return JSON.stringify({ model_list: modelList(addresses), ...settings }, null, 2);
}

/** Models only: no master key, so every caller is served. */
function renderLitellmDefaults(addresses: Addresses): string {
  return JSON.stringify({ model_list: modelList(addresses) }, null, 2);
}

function modelList({ mockHost, mockPort }: Addresses): object[] {
  const origin = `http://${mockHost}:${mockPort}`;
  const entry = (model_name: string, model: string, api_base: string): object => ({
    model_name,
    litellm_params: { model, api_base, api_key: UPSTREAM_KEY, timeout: 60, stream_timeout: 60 },
  });
  // The base of an OpenAI model ends in `/v1`, that of an Anthropic one does not.
  return [
    entry(MODELS.openai, "openai/gpt-4o-mini", `${origin}/v1`),
    entry(MODELS.anthropic, "anthropic/claude-mock", origin),
    entry(MODELS.embeddings, "openai/text-embedding-3-small", `${origin}/v1`),
  ];
}

function plan(context: PlanContext, tuned: boolean): LaunchPlan {
  const { executable, listenHost, listenPort, cores } = context;
  const address = ["--config", "config.yaml", "--host", listenHost, "--port", String(listenPort)];
  return {
    kind: "process",
    command: executable,
    args: tuned ? [...address, "--num_workers", String(cores), "--telemetry", "False"] : address,
    environment: tuned ? ENVIRONMENT : {},
    files: [{ name: "config.yaml", content: tuned ? renderLitellmConfig(context) : renderLitellmDefaults(context) }],
    // It imports for many seconds; on busy small machines for a minute and more.
    ready: { path: "/health/liveliness", timeoutMs: 180_000 },
    settleMs: 3000,
    // Its default differs by version: what it turns out to be is counted by the procedure.
    workers: tuned ? cores : undefined,
  };
}

async function locate(context: LocateContext): Promise<Located> {
  const located = await locateExecutable(
    {
      option: "litellm.bin",
      variable: "LITELLM_BIN",
      names: ["litellm"],
      installCommand: INSTALL,
      pinnedVersion: PINNED,
      within: insideEnvironment,
      askVersion: askLitellm,
    },
    context,
  );
  if (!located.found || located.version === undefined || !MALICIOUS_VERSIONS.includes(located.version)) return located;
  return {
    found: false,
    reason: `version ${located.version} is a malicious upload and is not started`,
    installCommand: INSTALL,
  };
}

/** The variable may name the executable or the folder of the virtual environment. */
function insideEnvironment(path: string): string {
  return existsSync(path) && statSync(path).isDirectory() ? join(path, "bin", "litellm") : path;
}

/** From the package's metadata where its Python is found: `litellm --version` imports everything first. */
function askLitellm(executable: string): Promise<string | undefined> {
  const python = join(dirname(executable), "python");
  return existsSync(python)
    ? readVersion(python, ["-c", "import importlib.metadata as m; print(m.version('litellm'))"], /(\d+\.\d+\.\d+\S*)/)
    : readVersion(executable, ["--version"], /(\d+\.\d+\.\d+\S*)/);
}

const COMMON = { label: "LiteLLM", kind: "gateway", warmUpRequests: 500, unsupported: {}, locate } as const;

/** LiteLLM with a worker per core, its master key checked on every request, nothing fetched. */
export const LITELLM: Target = {
  ...COMMON,
  id: "litellm",
  profile: "P-min",
  checksKey: true,
  notes: [
    "One worker per core (--num_workers), master key, local cost map, no database. Without a database it answers 500 to a missing key; every answer but 200 counts as refused.",
  ],
  traffic: clientTraffic({ key: MASTER_KEY, paths: PROVIDER_PATHS, models: MODELS }),
  plan: (context) => plan(context, true),
};

/** LiteLLM as its command line starts it. */
export const LITELLM_DEFAULTS: Target = {
  ...COMMON,
  id: "litellm-defaults",
  profile: "defaults",
  checksKey: false,
  notes: [
    "Models only: no --num_workers and no master key, so it checks no key. It fetches its cost map at start where it can.",
  ],
  unsupported: { S8: "its defaults check no key" },
  traffic: clientTraffic({ key: undefined, paths: PROVIDER_PATHS, models: MODELS }),
  plan: (context) => plan(context, false),
};

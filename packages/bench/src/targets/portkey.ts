// Portkey's open-source gateway as a target. It has no keys and no configuration of its own: each request carries its route.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { TrafficDialect } from "../contract/cell.ts";
import type { LocateContext, Located, Target, TrafficContext } from "../contract/target.ts";
import { credentialHeaders, PROVIDER_PATHS, UPSTREAM_KEY, UPSTREAM_MODELS } from "./client-traffic.ts";
import { locateExecutable } from "./locate-executable.ts";

const PINNED = "1.15.2";
/** Dependencies that the package leaves open and that have since broken it: without these every stream fails. */
const OVERRIDES = { hono: "4.9.7", "@hono/node-server": "1.13.8" } as const;
const PACKAGE_FOLDER = join("node_modules", "@portkey-ai", "gateway");
const INSTALL =
  `npm install @portkey-ai/gateway@${PINNED} in a folder of its own (set PORTKEY_DIR to it) whose package.json has ` +
  `"overrides": ${JSON.stringify(OVERRIDES)}`;

/** The route of a request, as the header `x-portkey-config` carries it. */
function renderPortkeyRoute(dialect: TrafficDialect, { mockHost, mockPort }: TrafficContext): string {
  const provider = dialect === "anthropic" ? "anthropic" : "openai";
  const model =
    dialect === "anthropic"
      ? UPSTREAM_MODELS.anthropic
      : dialect === "openai-embeddings"
        ? UPSTREAM_MODELS.embeddings
        : UPSTREAM_MODELS.openai;
  return JSON.stringify({
    provider,
    custom_host: `http://${mockHost}:${mockPort}/v1`,
    api_key: UPSTREAM_KEY,
    override_params: { model },
  });
}

async function locate(context: LocateContext): Promise<Located> {
  const located = await locateExecutable(
    {
      option: "portkey.dir",
      variable: "PORTKEY_DIR",
      names: [],
      installCommand: INSTALL,
      pinnedVersion: PINNED,
      within: (folder) => join(folder, PACKAGE_FOLDER, "build", "start-server.js"),
      askVersion: async (executable) => versionIn(join(executable, "..", "..", "package.json")),
    },
    context,
  );
  if (!located.found) return located;
  const modules = join(located.executable, "..", "..", "..", "..");
  const wrong = Object.entries(OVERRIDES).filter(
    ([name, version]) => versionIn(join(modules, name, "package.json")) !== version,
  );
  if (wrong.length === 0) return located;
  const note = `installed without the overrides ${wrong.map(([name, version]) => `${name} ${version}`).join(", ")}: its streams may fail`;
  return { ...located, versionNote: located.versionNote === undefined ? note : `${located.versionNote}; ${note}` };
}

function versionIn(manifest: string): string | undefined {
  if (!existsSync(manifest)) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version?: unknown };
  return typeof version === "string" ? version : undefined;
}

/** Portkey, told by each request where to go. */
export const PORTKEY: Target = {
  id: "portkey",
  label: "Portkey",
  profile: "route in each request",
  kind: "gateway",
  checksKey: false,
  warmUpRequests: 20_000,
  notes: ["Checks no key: it does less work than a gateway that does. The route travels in a header of each request."],
  unsupported: {
    S8: "it checks no key",
    "S8-404": "it knows no models; the upstream would refuse",
    X1: "its Messages endpoint does not translate to OpenAI",
  },
  traffic: {
    path: (dialect) => PROVIDER_PATHS[dialect],
    headers: (dialect, _credential, context) => ({
      ...(dialect === "anthropic" ? credentialHeaders(dialect, undefined) : {}),
      "x-portkey-config": renderPortkeyRoute(dialect, context),
    }),
    model: (route) =>
      route === "anthropic" || route === "cross"
        ? UPSTREAM_MODELS.anthropic
        : route === "embeddings"
          ? UPSTREAM_MODELS.embeddings
          : UPSTREAM_MODELS.openai,
  },
  locate,
  plan: ({ executable, listenPort }) => ({
    kind: "process",
    command: process.execPath,
    args: [executable, `--port=${listenPort}`, "--headless"],
    environment: { NODE_ENV: "production", PORT: String(listenPort) },
    files: [],
    ready: { path: "/", timeoutMs: 30_000 },
    settleMs: 500,
    workers: 1,
  }),
};

// A gateway this package knows nothing about: started by a command line given by the user, or already running under a URL.
import type { LaunchPlan, PlanContext, Target, TargetOptions } from "../contract/target.ts";
import { credentialHeaders, PROVIDER_PATHS, UPSTREAM_MODELS } from "../targets/client-traffic.ts";

const READY_TIMEOUT_MS = 60_000;
const UNKNOWN_KEY = "sk-unknown-to-everyone";

/**
 * The external target for one set of options: `external.command` or `external.url` (with `external.pid`), `external.ready` (path),
 * `external.key`, and the model names `external.model` and `external.claude`.
 */
export function createExternalTarget(options: TargetOptions): Target {
  const key = options["external.key"];
  const model = options["external.model"] ?? UPSTREAM_MODELS.openai;
  const claude = options["external.claude"] ?? UPSTREAM_MODELS.anthropic;
  return {
    id: "external",
    label: "external",
    profile: "as given",
    kind: "gateway",
    checksKey: key !== undefined,
    warmUpRequests: 5000,
    notes: ["Configured by the user of the bench, not by this package."],
    unsupported: {},
    traffic: {
      path: (dialect) => PROVIDER_PATHS[dialect],
      headers: (dialect, credential): Record<string, string> => {
        const value = credential === "good" ? key : credential === "unknown" ? UNKNOWN_KEY : undefined;
        return credentialHeaders(dialect, value);
      },
      model: (route) => (route === "openai" ? model : route === "anthropic" ? claude : OTHER_MODELS[route]),
    },
    locate: async (context) => {
      const executable = context.options["external.command"] ?? context.options["external.url"];
      return executable === undefined
        ? {
            found: false,
            reason: "neither a command nor a URL was given",
            installCommand:
              "dragoman-bench run --targets external --set external.command='…' | external.url=http://host:port",
          }
        : { found: true, executable, version: undefined, versionNote: undefined };
    },
    plan,
  };
}

const OTHER_MODELS = {
  embeddings: UPSTREAM_MODELS.embeddings,
  cross: UPSTREAM_MODELS.openai,
  unknown: "no-such-model",
} as const;

/** `{host}`, `{port}`, `{mockHost}` and `{mockPort}` in the command stand for the addresses of the run. */
function plan({ options, listenHost, listenPort, mockHost, mockPort }: PlanContext): LaunchPlan {
  const ready = {
    path: options["external.ready"] ?? "/",
    statuses: [200, 204, 301, 302, 401, 403, 404],
    timeoutMs: READY_TIMEOUT_MS,
  };
  const command = options["external.command"];
  if (command === undefined) {
    const pid = options["external.pid"];
    return {
      kind: "attached",
      origin: options["external.url"] ?? "",
      pid: pid === undefined ? undefined : Number(pid),
      ready,
    };
  }
  const filled = command
    .replaceAll("{host}", listenHost)
    .replaceAll("{port}", String(listenPort))
    .replaceAll("{mockHost}", mockHost)
    .replaceAll("{mockPort}", String(mockPort));
  return {
    kind: "process",
    command: "/bin/sh",
    args: ["-c", `exec ${filled}`],
    environment: {},
    files: [],
    ready,
    settleMs: 1000,
    workers: undefined,
  };
}

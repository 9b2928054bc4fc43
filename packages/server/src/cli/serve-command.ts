/** `dragoman serve`: the only command that stays. */
import type { ConfigFolder, GatewayConfig, SecretResolver } from "@dragoman/core";

import { configFromEnvironment, createSecretResolver, discoveryVariables } from "../config-file/index.ts";
import { tuneProcess } from "../process-tuning.ts";
import { serve } from "../serve.ts";
import { createBuiltInRegistry } from "./built-in-registry.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { addClientKey } from "./client-key.ts";
import { loadOrReport } from "./load-or-report.ts";
import { readPort } from "./read-port.ts";
import { STANDALONE_DATA_DIR } from "./standalone-data-dir.ts";

interface Start {
  readonly config: GatewayConfig;
  readonly resolveSecret: SecretResolver;
  /** Null for a start without a file. */
  readonly folder: ConfigFolder | null;
  /** Lines for the one who started it. */
  readonly notes: readonly string[];
}

/** Serves until the process is asked to end, then lets running exchanges finish. */
export async function runServe(io: CliIo, values: ReadonlyMap<string, string>): Promise<ExitCode> {
  const port = readPort(values.get("port"));
  if (port === null) {
    io.stderr.write("--port must be a number from 0 to 65535\n");
    return ExitCode.usage;
  }
  const path = values.get("config");
  const dataDir = values.get("data");
  const start = path === undefined ? startWithoutFile(io, dataDir ?? STANDALONE_DATA_DIR) : startFromFile(io, path);
  if (start === null) return ExitCode.usage;
  const host = values.get("host");
  tuneProcess();
  const running = await serve({
    config: start.config,
    resolveSecret: start.resolveSecret,
    ...(start.folder === null ? {} : { folder: start.folder }),
    logger: await io.createLogger(start.config.telemetry?.logLevel ?? "info"),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    gatewayOptions: { defaultDataDir: STANDALONE_DATA_DIR, ...(dataDir === undefined ? {} : { dataDir }) },
  });
  io.stdout.write(`dragoman listens on ${running.url}\n${start.notes.map((note) => `${note}\n`).join("")}`);
  await io.untilStopped();
  await running.close();
  return ExitCode.done;
}

function startFromFile(io: CliIo, path: string): Start | null {
  const loaded = loadOrReport(io, path, "all");
  if (loaded === null) return null;
  const notes =
    loaded.snapshot.keys.size === 0
      ? ["No client keys are configured: every request will be refused. See: dragoman keys create"]
      : [];
  return { config: loaded.config, resolveSecret: loaded.resolveSecret, folder: loaded.folder, notes };
}

function startWithoutFile(io: CliIo, dataFolder: string): Start | null {
  const registry = createBuiltInRegistry();
  const found = configFromEnvironment(io.env, registry);
  if (found === null) {
    const variables = discoveryVariables(registry).join(", ");
    io.stderr.write(
      `Nothing to serve: give a configuration with --config FILE, or set one of ${variables}. Without an API key: dragoman demo\n`,
    );
    return null;
  }
  const { config, newKey } = addClientKey(io, found, dataFolder);
  const resolveSecret = createSecretResolver({ env: io.env, readFile: (file) => io.readFile(file), folder: "." });
  return {
    config,
    resolveSecret,
    folder: null,
    notes: [
      `Models: ${Object.keys(config.models).join(", ")}`,
      newKey === null ? "Client key: the one of the first start" : `Client key, shown only now: ${newKey}`,
    ],
  };
}

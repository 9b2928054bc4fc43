/** `dragoman check FILE [--offline]`. */
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { loadOrReport } from "./load-or-report.ts";

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;

/** Checks a configuration file; every problem is one line on standard error. */
export function runCheck(io: CliIo, path: string, isOffline: boolean): ExitCode {
  const loaded = loadOrReport(io, path, isOffline ? "none" : "all");
  if (loaded === null) return ExitCode.usage;
  const { providers, models, deployments } = loaded.snapshot;
  const keys = loaded.config.keys?.length ?? 0;
  const parts = [
    count(providers.size, "provider"),
    count(models.length, "model"),
    count(deployments.size, "deployment"),
    count(keys, "key"),
  ];
  io.stdout.write(`${path}: valid${isOffline ? ", secrets not resolved" : ""}: ${parts.join(", ")}\n`);
  return ExitCode.done;
}

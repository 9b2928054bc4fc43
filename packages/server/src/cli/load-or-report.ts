/** Loads a configuration file for a command; problems go to standard error, one line each. */
import { formatFileProblem, loadConfigFile } from "../config-file/index.ts";
import type { LoadResult } from "../config-file/index.ts";
import { createBuiltInRegistry } from "./built-in-registry.ts";
import type { CliIo } from "./cli-io.ts";

/** A configuration that compiled. */
export type LoadedConfig = Extract<LoadResult, { readonly ok: true }>;

/** Which secrets are resolved: all, or else it is a problem; none; or those that can be. */
export type Secrets = "all" | "none" | "available";

/** The loaded file, or null after its problems were reported. */
export function loadOrReport(io: CliIo, path: string, secrets: Secrets): LoadedConfig | null {
  const result = loadConfigFile(path, {
    registry: createBuiltInRegistry(),
    env: io.env,
    readFile: (file) => io.readFile(file),
    isOffline: secrets === "none",
    isLenient: secrets === "available",
  });
  if (result.ok) return result;
  for (const problem of result.problems) io.stderr.write(`${formatFileProblem(problem)}\n`);
  return null;
}

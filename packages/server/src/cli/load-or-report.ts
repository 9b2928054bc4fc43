/** Loads a configuration file for a command; problems go to standard error, one line each. */
import { formatFileProblem, loadConfigFile } from "../config-file/index.ts";
import type { LoadResult } from "../config-file/index.ts";
import { createBuiltInRegistry } from "./built-in-registry.ts";
import type { CliIo } from "./cli-io.ts";

/** A configuration that compiled. */
export type LoadedConfig = Extract<LoadResult, { readonly ok: true }>;

/** The loaded file, or null after its problems were reported. `isOffline` leaves secrets unresolved. */
export function loadOrReport(io: CliIo, path: string, isOffline: boolean): LoadedConfig | null {
  const result = loadConfigFile(path, {
    registry: createBuiltInRegistry(),
    env: io.env,
    readFile: (file) => io.readFile(file),
    isOffline,
  });
  if (result.ok) return result;
  for (const problem of result.problems) io.stderr.write(`${formatFileProblem(problem)}\n`);
  return null;
}

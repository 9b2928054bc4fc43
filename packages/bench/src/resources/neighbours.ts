// Finds generators of other bench runs on this host: two instruments on the same cores spoil each other's schedule.
import { readdirSync, readFileSync } from "node:fs";

/** Part of the command line of every generator process. */
const GENERATOR_ENTRY = "/generator/process-entry.js";

/** Process ids of the generators among command lines, arguments separated by NUL as in `/proc/<pid>/cmdline`. */
export function findGenerators(commandLines: ReadonlyMap<number, string>): number[] {
  return [...commandLines]
    .filter(([, line]) => line.split("\0").some((argument) => argument.endsWith(GENERATOR_ENTRY)))
    .map(([pid]) => pid);
}

/** Generators that run on this host now. */
export function runningGenerators(): number[] {
  const lines = new Map<number, string>();
  for (const name of listProcesses()) {
    try {
      lines.set(Number(name), readFileSync(`/proc/${name}/cmdline`, "utf8"));
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return findGenerators(lines);
}

function listProcesses(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    // Not Linux: nothing can be known.
    return [];
  }
}

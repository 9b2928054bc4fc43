// Pinning of processes to cores by `taskset`, which takes the place of the command and starts it on the given cores.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A command with its arguments. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** Finds an executable on a `PATH`. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** Wraps a command so that it runs on `cpus` only; unchanged without cores or without `taskset`. */
export function pinned(line: CommandLine, cpus: readonly number[], taskset: string | undefined): CommandLine {
  if (cpus.length === 0 || taskset === undefined) return line;
  return { command: taskset, args: ["-c", cpus.join(","), line.command, ...line.args] };
}

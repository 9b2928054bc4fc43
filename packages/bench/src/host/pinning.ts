// Placement of processes: cores by `taskset`, real-time scheduling by `chrt`. Each takes the place of the command and starts it, so
// the process id stays and children inherit.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A command with its arguments. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where and how urgently a process runs. */
export interface Placement {
  /** Cores it may use; none means all. */
  readonly cpus: readonly number[];
  /**
   * Round-robin real-time priority (sched(7)), for generator and mock on a machine that other processes share: the instrument must
   * keep its schedule, while the target competes as it would in use. `undefined` means normal scheduling.
   */
  readonly realtimePriority: number | undefined;
}

/** Normal scheduling on all cores. */
export const ANYWHERE: Placement = { cpus: [], realtimePriority: undefined };

/**
 * Flags for a Node process with real-time scheduling. Its compiler and collector threads would have the same priority as the thread
 * that keeps the schedule, and hold a shared core for a whole round-robin slice, 100 ms; on the main thread their work is short.
 */
export function nodeFlags({ realtimePriority }: Placement): readonly string[] {
  return realtimePriority === undefined ? [] : ["--single-threaded"];
}

/** Finds an executable on a `PATH`. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** Wraps a command for its placement; a tool that is not installed is left out. */
export function place(line: CommandLine, { cpus, realtimePriority }: Placement, path: string | undefined): CommandLine {
  const taskset = findOnPath("taskset", path);
  const chrt = findOnPath("chrt", path);
  let placed = line;
  if (cpus.length > 0 && taskset !== undefined) {
    placed = { command: taskset, args: ["-c", cpus.join(","), placed.command, ...placed.args] };
  }
  if (realtimePriority !== undefined && chrt !== undefined) {
    placed = { command: chrt, args: ["--rr", String(realtimePriority), placed.command, ...placed.args] };
  }
  return placed;
}

/** Whether this user may start real-time processes here. */
export function mayUseRealtime(path: string | undefined): boolean {
  const chrt = findOnPath("chrt", path);
  return chrt !== undefined && spawnSync(chrt, ["--rr", "1", "true"], { stdio: "ignore" }).status === 0;
}

// How a target's executable is found: by an option of the run, by its environment variable, then on the `PATH`; and how it is asked
// for its version. A path that was given but does not exist is said, not silently replaced by another copy.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";

import type { LocateContext, Located } from "../contract/target.ts";
import { findOnPath } from "../host/pinning.ts";

/** Where to look, and what is expected there. */
export interface ExecutableSearch {
  /** Key of the option that gives the path: `litellm.bin`. */
  readonly option: string;
  /** Environment variable that gives it. */
  readonly variable: string;
  /** Names on the `PATH`, best first. */
  readonly names: readonly string[];
  readonly installCommand: string;
  /** Version this package's configuration was written for; `undefined` when any will do. */
  readonly pinnedVersion: string | undefined;
  /** From a given path to the executable, for targets whose variable names a folder. */
  readonly within?: (path: string) => string;
  /** Asks the executable for its version. */
  readonly askVersion: (executable: string) => Promise<string | undefined>;
}

const VERSION_TIMEOUT_MS = 60_000;

/** Looks for an executable and asks for its version. */
export async function locateExecutable(search: ExecutableSearch, context: LocateContext): Promise<Located> {
  const { option, variable, names, installCommand } = search;
  const given = context.options[option] ?? context.environment[variable];
  const within = search.within ?? ((path: string): string => path);
  const executable = given === undefined || given === "" ? findAny(names, context.environment["PATH"]) : within(given);
  if (executable === undefined) {
    const onPath = names.length === 0 ? "" : ` and ${names.join(", ")} not on the PATH`;
    return { found: false, reason: `not installed: ${variable} is not set${onPath}`, installCommand };
  }
  if (!existsSync(executable)) return { found: false, reason: `${executable} does not exist`, installCommand };
  const version = await search.askVersion(executable);
  return { found: true, executable, version, versionNote: noteOn(version, search.pinnedVersion) };
}

function findAny(names: readonly string[], path: string | undefined): string | undefined {
  return names.map((name) => findOnPath(name, path)).find((file) => file !== undefined);
}

/** What to print about a version that is not the one the configuration was written for. */
function noteOn(version: string | undefined, pinned: string | undefined): string | undefined {
  if (pinned === undefined || version === pinned) return undefined;
  if (version === undefined) return `it does not say its version; the configuration is written for ${pinned}`;
  return `version ${version} instead of ${pinned}, for which the configuration is written`;
}

/** Runs a program that prints its version and takes the first group of `pattern`; `undefined` when there is none. */
export function readVersion(command: string, args: readonly string[], pattern: RegExp): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Several programs print their version to stderr, and end with a code that says nothing.
    execFile(command, [...args], { timeout: VERSION_TIMEOUT_MS }, (_error, stdout, stderr) => {
      resolve(pattern.exec(`${stdout}\n${stderr}`)?.[1]);
    });
  });
}

/** A script of Node is started by this Node: it may not be executable, and its first line may name another one. */
export function asCommand(executable: string): { readonly command: string; readonly args: readonly string[] } {
  return /\.[cm]?js$/.test(executable)
    ? { command: process.execPath, args: [executable] }
    : { command: executable, args: [] };
}

// The built server as a child process: `dist/cli.js serve` with a configuration file in a folder of its own.
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

import type { GatewayConfig } from "@dragoman/core";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const STOP_LIMIT_MS = 10_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** A running child. */
export interface BuiltServer {
  readonly url: string;
  /** Everything that the child has written so far. */
  output(): string;
  /** Asks the child to end, as a supervisor does. Rejects unless it ends by itself with exit code 0. */
  close(): Promise<void>;
}

/** Starts the built server. Rejects with the child's output when it does not come up. */
export async function startBuiltServer(config: GatewayConfig): Promise<BuiltServer> {
  const folder = await mkdtemp(join(tmpdir(), "dragoman-test-"));
  const path = join(folder, "dragoman.json");
  await writeFile(path, JSON.stringify(config));
  const child = spawn(process.execPath, [CLI, "serve", "--config", path, "--data", join(folder, "data")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: string[] = [];
  const collect = (chunk: Buffer): number => chunks.push(chunk.toString("utf8"));
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const output = (): string => chunks.join("");
  try {
    const url = await waitForUrl(child, output);
    return { url, output, close: () => stop(child, output, folder) };
  } catch (error) {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true });
    throw error;
  }
}

function waitForUrl(child: Child, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const url = /^dragoman listens on (http:\S+)$/mu.exec(output())?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on("data", look);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the built server ended with code ${String(code)}:\n${output()}`)));
  });
}

async function stop(child: Child, output: () => string, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(timer);
  }
  await rm(folder, { recursive: true });
  if (child.exitCode !== 0) {
    throw new Error(`the built server ended with ${String(child.exitCode ?? child.signalCode)}:\n${output()}`);
  }
}

// The built server as a child that is killed without a warning and started again, on the same port and the same data folder.
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

import type { GatewayConfig } from "@dragoman/core";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const READY_LINE = /^dragoman listens on /mu;
const STOP_LIMIT_MS = 20_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** One gateway and its lives. */
export class KillableGateway {
  readonly port: number;
  readonly dataFolder: string;
  readonly #folder: string;
  #child: Child | null = null;
  #output = "";

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.dataFolder = join(folder, "data");
    this.port = port;
  }

  /** Writes the configuration; nothing runs yet. */
  static async create(config: GatewayConfig): Promise<KillableGateway> {
    const folder = await mkdtemp(join(tmpdir(), "dragoman-chaos-"));
    await writeFile(join(folder, "dragoman.json"), JSON.stringify(config));
    return new KillableGateway(folder, await freePort());
  }

  /** What all lives have written so far. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when it listens; rejects with its output when it ends before. */
  async start(): Promise<void> {
    const options = ["--config", join(this.#folder, "dragoman.json"), "--data", this.dataFolder];
    const child = spawn(process.execPath, [CLI, "serve", ...options, "--port", String(this.port)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    let own = "";
    await new Promise<void>((resolve, reject) => {
      const collect = (chunk: Buffer): void => {
        const text = chunk.toString("utf8");
        this.#output += text;
        own += text;
        if (READY_LINE.test(own)) resolve();
      };
      child.stdout.on("data", collect);
      child.stderr.on("data", collect);
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the gateway ended with ${String(code)}:\n${own}`)));
    });
  }

  /** Ends it as the kernel does when memory runs out. */
  async kill(): Promise<void> {
    const child = this.#running();
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Asks it to end and waits until it has. Rejects unless it ended with 0. */
  async stop(): Promise<void> {
    const child = this.#running();
    const ended = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(timer);
    if (child.exitCode !== 0)
      throw new Error(`the gateway ended with ${String(child.exitCode ?? child.signalCode)}:\n${this.#output}`);
  }

  /** Removes everything that is left of it. */
  async dispose(): Promise<void> {
    if (this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #running(): Child {
    if (this.#child === null) throw new Error("the gateway was never started");
    return this.#child;
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

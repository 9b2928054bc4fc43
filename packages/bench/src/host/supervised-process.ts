// A child process under supervision: in a group of its own, with the end of its output kept, stopped with everything it started.
import { spawn, type ChildProcess } from "node:child_process";

import type { CommandLine } from "./pinning.ts";

const KEPT_OUTPUT_BYTES = 4096;
const STOP_GRACE_MS = 5000;

/** A supervised child. States: running → ended. */
export class SupervisedProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #output = "";
  #end: string | undefined;

  constructor(line: CommandLine, environment: Readonly<Record<string, string>>, directory: string | undefined) {
    this.#child = spawn(line.command, line.args, {
      cwd: directory,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const keep = (bytes: Buffer): void => {
      this.#output = (this.#output + bytes.toString()).slice(-KEPT_OUTPUT_BYTES);
    };
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#end = error.message;
        resolve();
      });
      this.#child.once("exit", (code, signal) => {
        this.#end ??= signal === null ? `ended with code ${code}` : `ended by ${signal}`;
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How it ended, with its last words; `undefined` while it runs. */
  get end(): string | undefined {
    if (this.#end === undefined) return undefined;
    const lastWords = this.#output.trim().split("\n").slice(-5).join(" | ");
    return lastWords === "" ? this.#end : `${this.#end}: ${lastWords}`;
  }

  /** Asks the whole group to end, then insists. */
  async stop(): Promise<void> {
    this.#signal("SIGTERM");
    const timer = setTimeout(() => this.#signal("SIGKILL"), STOP_GRACE_MS);
    await this.#exited;
    clearTimeout(timer);
    // Workers that outlived their parent.
    this.#signal("SIGKILL");
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is empty: everything has ended.
    }
  }
}

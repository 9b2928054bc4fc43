/** A child process of a test, from TypeScript. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export class Child {
  readonly #process: ChildProcessWithoutNullStreams;
  #output = "";
  #errors = "";
  #isOver = false;
  #onChange: (() => void) | null = null;

  constructor(name: string, args: readonly string[]) {
    const script = fileURLToPath(new URL(`children/${name}.ts`, import.meta.url));
    const env = { ...process.env, TSX_TSCONFIG_PATH: `${ROOT}tsconfig.test.json` };
    this.#process = spawn(process.execPath, ["--import", "tsx", script, ...args], { env, cwd: ROOT });
    this.#process.stdout.on("data", (chunk: Buffer) => {
      this.#output += chunk.toString("utf8");
      this.#onChange?.();
    });
    this.#process.stderr.on("data", (chunk: Buffer) => (this.#errors += chunk.toString("utf8")));
    this.#process.on("close", () => {
      this.#isOver = true;
      this.#onChange?.();
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get lines(): readonly string[] {
    return this.#output.split("\n").slice(0, -1);
  }

  /** Resolves when the output is as wanted; rejects when the child ends before. */
  async until(isWanted: (output: string) => boolean): Promise<void> {
    while (!isWanted(this.#output)) {
      if (this.#isOver) throw new Error(`The child ended: ${this.#output}\n${this.#errors}`);
      await new Promise<void>((next) => (this.#onChange = next));
    }
  }

  tell(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Ends it as nothing can prevent, and resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.#isOver) return;
    this.#process.kill("SIGKILL");
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }
}

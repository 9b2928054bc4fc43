// Forked processes of tests, which run from the sources and end with the test.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export class TestChild {
  readonly process: ChildProcess;
  readonly #messages: unknown[] = [];
  #onMessage: (() => void) | null = null;

  constructor(file: string, argument = "") {
    this.process = fork(fileURLToPath(new URL(`children/${file}`, import.meta.url)), [argument], {
      cwd: ROOT,
      execArgv: ["--import", "tsx"],
      env: { ...process.env, TSX_TSCONFIG_PATH: `${ROOT}tsconfig.test.json` },
    });
    this.process.on("message", (message) => {
      this.#messages.push(message);
      this.#onMessage?.();
    });
    this.process.on("exit", () => this.#onMessage?.());
  }

  /** The next message that is one; rejects when the process ends first. */
  async next<Message>(isOne: (message: unknown) => message is Message): Promise<Message> {
    for (;;) {
      const index = this.#messages.findIndex(isOne);
      if (index >= 0) return this.#messages.splice(index, 1)[0] as Message;
      if (this.process.exitCode !== null || this.process.signalCode !== null) throw new Error("the child has ended");
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
  }

  /** Every message that came and was not taken. */
  rest<Message>(isOne: (message: unknown) => message is Message): readonly Message[] {
    return this.#messages.filter(isOne);
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await ended;
  }
}

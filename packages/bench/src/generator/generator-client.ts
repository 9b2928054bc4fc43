// The orchestrator's end of the generator process: starts it on its cores and gives it one run after the other.
import { fork, type ChildProcess } from "node:child_process";

import { nodeFlags, place, type Placement } from "../host/pinning.ts";
import { packageEntry } from "../package-entry.ts";
import type { LoadSpec, RunOutcome, RunTimes } from "./load-spec.ts";

type GeneratorMessage =
  | { readonly type: "ready" }
  | { readonly type: "started"; readonly times: RunTimes }
  | { readonly type: "finished"; readonly outcome: RunOutcome };

/** A running generator process. */
export interface GeneratorClient {
  /** Process id, for its inventory. */
  readonly pid: number;
  /**
   * Performs one run. `onStarted` learns the boundaries of the window as soon as they are known.
   *
   * @throws Error when the process ended.
   */
  run(spec: LoadSpec, onStarted?: (times: RunTimes) => void): Promise<RunOutcome>;
  close(): Promise<void>;
}

/** Starts a generator with `workers` worker threads. */
export async function startGenerator(workers: number, placement: Placement): Promise<GeneratorClient> {
  const line = place({ command: process.execPath, args: nodeFlags(placement) }, placement, process.env["PATH"]);
  const child = fork(packageEntry("generator/process-entry"), [String(workers)], {
    execPath: line.command,
    execArgv: [...line.args],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await nextMessage(child, (message) => message.type === "ready");
  return {
    pid: child.pid ?? 0,
    run: async (spec, onStarted) => {
      const onMessage = (message: GeneratorMessage): void => {
        if (message.type === "started") onStarted?.(message.times);
      };
      child.on("message", onMessage);
      try {
        child.send(spec);
        const finished = await nextMessage(child, (message) => message.type === "finished");
        if (finished.type !== "finished") throw new Error("the generator answered out of turn");
        return finished.outcome;
      } finally {
        child.off("message", onMessage);
      }
    },
    close: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once("exit", () => resolve());
        child.disconnect();
        return undefined;
      }),
  };
}

function nextMessage(child: ChildProcess, isWanted: (message: GeneratorMessage) => boolean): Promise<GeneratorMessage> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: GeneratorMessage): void => {
      if (!isWanted(message)) return;
      settle();
      resolve(message);
    };
    const onExit = (code: number | null): void => {
      settle();
      reject(new Error(`the generator ended with code ${code}`));
    };
    const settle = (): void => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}

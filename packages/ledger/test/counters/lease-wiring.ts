// What processes of the tests of leases are wired with: real time, and leases beside other messages of one IPC channel.
import type { ChildProcess } from "node:child_process";

import type { Clock } from "@dragoman/core";

import type { LeaseChannel } from "../../src/index.ts";

interface Wrapped {
  readonly kind: string;
  readonly message?: unknown;
}

/** Time of the process. Its timers keep the process alive. */
export const REAL_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** A worker's end, as its parent has it. */
export function channelTo(worker: ChildProcess): LeaseChannel {
  return {
    send: (message) => void worker.send({ kind: "lease", message }),
    onMessage: (listener) => void worker.on("message", (raw) => hear(raw as Wrapped, listener)),
    onClose: (listener) => void worker.on("exit", listener),
  };
}

/** The parent's end, as a worker has it. */
export function channelToParent(): LeaseChannel {
  return {
    send: (message) => void process.send?.({ kind: "lease", message }),
    onMessage: (listener) => void process.on("message", (raw) => hear(raw as Wrapped, listener)),
    onClose: (listener) => void process.on("disconnect", listener),
  };
}

function hear({ kind, message }: Wrapped, listener: (message: unknown) => void): void {
  if (kind === "lease") listener(message);
}

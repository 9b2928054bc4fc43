/** Time of this process for the engine. */
import { performance } from "node:perf_hooks";

import type { Clock } from "@dragoman/core";

/** Node's clocks and timers. Timers do not keep the process alive: sockets do. */
export const NODE_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (delayMs, callback) => {
    // Node turns a delay over 2^31−1 ms into 1 ms; the engine re-checks its deadlines, so a shorter sleep is safe.
    const timer = setTimeout(callback, Math.min(delayMs, 2_147_483_647));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Time of this process for the engine. */
import { performance } from "node:perf_hooks";

import type { Clock } from "@dragoman/core";

import { CoarseTimers } from "./coarse-timers.ts";

/** From this delay on a timer may be a tick late. */
const COARSE_FROM_MS = 1_000;
const TICK_MS = 50;

/** Makes a clock with timers of its own. Timers do not keep the process alive: sockets do. */
export function createNodeClock(): Clock {
  const coarse = new CoarseTimers(TICK_MS, () => performance.now());
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    schedule: (delayMs, callback) => {
      if (delayMs >= COARSE_FROM_MS) return coarse.schedule(delayMs, callback);
      const timer = setTimeout(callback, delayMs);
      timer.unref();
      return { cancel: () => clearTimeout(timer) };
    },
  };
}

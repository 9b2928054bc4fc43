/** Ports of a real process, for children of tests. */
import type { Clock, Logger, Random } from "@dragoman/core";

export const NODE_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

export const NODE_RANDOM: Random = {
  next: () => Math.random(),
  id: (length) => Array.from({ length }, () => Math.trunc(Math.random() * 36).toString(36)).join(""),
};

/** Warnings and errors go to standard error: a test shows what its child complained of. */
export const CHILD_LOGGER: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
};

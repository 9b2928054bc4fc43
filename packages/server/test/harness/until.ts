// Waits for conditions in tests: by looking again, never by a fixed sleep.
import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 5_000;
const PAUSE_MS = 2;

/** Resolves once the condition holds; rejects with `what` when it does not hold within five seconds. */
export async function until(condition: () => boolean, what: string | (() => string) = "the condition"): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!condition()) {
    if (performance.now() > deadline) {
      throw new Error(`waited in vain for ${typeof what === "string" ? what : what()}`);
    }
    await sleep(PAUSE_MS);
  }
}

// One-shot alarm with a precision well below a millisecond, for the schedule of the generator and the script of the mock.
import { MessageChannel, Worker } from "node:worker_threads";

import { packageEntry } from "../package-entry.ts";
import { CLOSED, DEADLINE_SLOT, NO_DEADLINE, SEQUENCE_SLOT, TICKER_MEMORY_BYTES } from "./ticker-memory.ts";

/** An alarm: at most one deadline is set, and a new one replaces it. */
export interface Alarm {
  /** Calls back once when the monotonic clock has reached `deadlineUs`. */
  wakeAt(deadlineUs: number): void;
  /** Stops the alarm; it never calls back again. */
  close(): void;
}

/** Creates an alarm for one callback. */
export type CreateAlarm = (onWake: () => void) => Alarm;

/** Alarm backed by a thread of its own that sleeps in the kernel. */
export function createTicker(onWake: () => void): Alarm {
  const memory = new SharedArrayBuffer(TICKER_MEMORY_BYTES);
  const sequence = new Int32Array(memory);
  const deadlines = new BigInt64Array(memory);
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(packageEntry("clock/ticker-entry"), {
    workerData: { memory, port: port2 },
    transferList: [port2],
  });
  worker.on("error", (error) => {
    throw error;
  });
  let isClosed = false;
  port1.on("message", () => {
    if (!isClosed) onWake();
  });
  const set = (deadline: bigint): void => {
    Atomics.store(deadlines, DEADLINE_SLOT, deadline);
    Atomics.add(sequence, SEQUENCE_SLOT, 1);
    Atomics.notify(sequence, SEQUENCE_SLOT);
  };
  return {
    wakeAt: (deadlineUs) => {
      const deadline = BigInt(Math.ceil(deadlineUs));
      set(deadline > NO_DEADLINE ? deadline : 1n);
    },
    close: () => {
      isClosed = true;
      set(CLOSED);
      port1.close();
    },
  };
}

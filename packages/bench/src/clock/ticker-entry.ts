// Worker thread that sleeps until a shared deadline and then wakes its owner by a message. Timers of the event loop have a
// resolution of 1 ms; a futex wait has one of the kernel's timer slack, without spinning.
import { workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";

import { monotonicUs } from "./monotonic.ts";
import { CLOSED, DEADLINE_SLOT, NO_DEADLINE, SEQUENCE_SLOT } from "./ticker-memory.ts";

const { memory, port } = workerData as { readonly memory: SharedArrayBuffer; readonly port: MessagePort };
const sequence = new Int32Array(memory);
const deadlines = new BigInt64Array(memory);

for (;;) {
  const seen = Atomics.load(sequence, SEQUENCE_SLOT);
  const deadline = Atomics.load(deadlines, DEADLINE_SLOT);
  if (deadline === CLOSED) break;
  if (deadline === NO_DEADLINE) {
    Atomics.wait(sequence, SEQUENCE_SLOT, seen);
    continue;
  }
  const remainingUs = Number(deadline) - monotonicUs();
  if (remainingUs > 0) {
    Atomics.wait(sequence, SEQUENCE_SLOT, seen, remainingUs / 1000);
  } else if (Atomics.compareExchange(deadlines, DEADLINE_SLOT, deadline, NO_DEADLINE) === deadline) {
    port.postMessage(null);
  }
}
port.close();

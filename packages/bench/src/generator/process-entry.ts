// The generator process: deals a run to its worker threads, reads its own CPU and clocks at the edges of the window, and answers
// with the merged tally. One run at a time, commands and answers over the IPC channel.
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { monotonicUs } from "../clock/monotonic.ts";
import { loadHistograms } from "../histogram/histogram.ts";
import { packageEntry } from "../package-entry.ts";
import type { LoadSpec, RunOutcome, RunTimes, Tally } from "./load-spec.ts";
import { mergeTallies } from "./merge-tallies.ts";

/** Time for the workers to receive their task before the first request is due. */
const LEAD_MS = 30;

const workerCount = Math.max(1, Number(process.argv[2] ?? 1));

async function startWorker(): Promise<Worker> {
  const worker = new Worker(packageEntry("generator/worker-entry"));
  worker.on("error", (error) => {
    throw error;
  });
  await new Promise((resolve) => worker.once("message", resolve));
  return worker;
}

function waitUntil(us: number): Promise<void> {
  return pause(Math.max(0, (us - monotonicUs()) / 1000));
}

function readClocks(): { readonly wallMs: number; readonly monotonicMs: number; readonly cpuUs: number } {
  const { user, system } = process.cpuUsage();
  return { wallMs: Date.now(), monotonicMs: monotonicUs() / 1000, cpuUs: user + system };
}

async function run(workers: readonly Worker[], spec: LoadSpec): Promise<RunOutcome> {
  const startUs = monotonicUs() + LEAD_MS * 1000;
  const windowStartUs = startUs + spec.warmUpSeconds * 1_000_000;
  const times: RunTimes = { startUs, windowStartUs, windowEndUs: windowStartUs + spec.measureSeconds * 1_000_000 };
  const tallies = workers.map((worker, index) => {
    const tally = new Promise<Tally>((resolve) => worker.once("message", resolve));
    worker.postMessage({ spec, times, worker: index, workers: workers.length });
    return tally;
  });
  process.send?.({ type: "started", times });
  await waitUntil(windowStartUs);
  const before = readClocks();
  // A closed loop with a request limit may be over long before its window.
  const all = Promise.all(tallies);
  await Promise.race([waitUntil(times.windowEndUs), all]);
  const after = readClocks();
  const tally = mergeTallies(await all);
  return {
    tally,
    times,
    cpuSeconds: (after.cpuUs - before.cpuUs) / 1_000_000,
    clockDriftMs: after.wallMs - before.wallMs - (after.monotonicMs - before.monotonicMs),
  };
}

await loadHistograms();
const workers = await Promise.all(Array.from({ length: workerCount }, startWorker));
process.on("message", (spec: LoadSpec) => {
  void run(workers, spec).then((outcome) => process.send?.({ type: "finished", outcome }));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ type: "ready" });

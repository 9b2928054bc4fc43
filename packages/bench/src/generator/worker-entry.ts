// Worker thread of the generator: one task after the other, each answered by its tally.
import { parentPort } from "node:worker_threads";

import { loadHistograms } from "../histogram/histogram.ts";
import { runWorker, type WorkerTask } from "./worker-run.ts";

const port = parentPort;
if (port === null) throw new Error("this file runs as a worker thread");
await loadHistograms();
port.on("message", (task: WorkerTask) => {
  void runWorker(task).then((tally) => port.postMessage(tally));
});
port.postMessage("ready");

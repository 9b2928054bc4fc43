// Prints how long a scan takes next to JSON.parse of the decoded body. Run after a build: node packages/core/bench/scan.mjs
// Minimum of several batches, so that other load on the machine shows as little as possible.

import { Scanner, scan } from "../dist/index.js";

import { allBodies } from "./scan-bodies.mjs";

const BATCHES = 12;
const BATCH_NS = 25e6;

function nowNs() {
  return Number(process.hrtime.bigint());
}

/** Least nanoseconds per call over the batches. */
function measure(call) {
  for (const until = nowNs() + 4 * BATCH_NS; nowNs() < until;) call();
  const started = nowNs();
  call();
  const repeats = Math.max(1, Math.round(BATCH_NS / (nowNs() - started + 50)));
  let least = Infinity;
  for (let batch = 0; batch < BATCHES; batch++) {
    const from = nowNs();
    for (let i = 0; i < repeats; i++) call();
    least = Math.min(least, (nowNs() - from) / repeats);
  }
  return least;
}

const scanner = new Scanner();
const rows = allBodies().map(([name, bytes]) => {
  const parse = measure(() => JSON.parse(bytes.toString()));
  const reused = measure(() => scanner.scan(bytes, 0, bytes.length));
  const fresh = measure(() => scan(bytes));
  return {
    body: name,
    bytes: bytes.length,
    "JSON.parse us": (parse / 1000).toFixed(2),
    "Scanner us": (reused / 1000).toFixed(2),
    ratio: `${(parse / reused).toFixed(1)}x`,
    "scan() us": (fresh / 1000).toFixed(2),
    "ratio ": `${(parse / fresh).toFixed(1)}x`,
    "GB/s": (bytes.length / reused).toFixed(2),
  };
});
process.stdout.write(`Node ${process.version}\n`);
console.table(rows);

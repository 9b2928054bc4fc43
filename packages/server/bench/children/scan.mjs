// The request scan of the built core against JSON.parse of the decoded text: least of twelve batches, microseconds per text.
import { Scanner } from "@dragoman/core";

import { conversation } from "./traffic.mjs";

const BATCHES = 12;

function leastMicroseconds(work, iterations) {
  let least = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < BATCHES; batch++) {
    const startedAt = performance.now();
    for (let index = 0; index < iterations; index++) work();
    least = Math.min(least, ((performance.now() - startedAt) * 1000) / iterations);
  }
  return least;
}

const rows = [];
for (const [label, bytes, iterations, target] of [
  ["1 KB", 780, 20_000, 2.5],
  ["100 KB", 102_400, 400, 2.5],
  ["1 MB", 1_048_576, 40, null],
]) {
  const text = Buffer.from(conversation(bytes));
  const scanner = new Scanner();
  let kept = 0;
  for (let index = 0; index < 2_000; index++)
    if (scanner.scan(text) === null) throw new Error("the text does not scan");
  const scan = leastMicroseconds(() => {
    kept += scanner.scan(text)?.root ?? 1;
  }, iterations);
  const parse = leastMicroseconds(() => {
    kept += JSON.parse(text.toString()) === null ? 1 : 0;
  }, iterations);
  rows.push({ label: `scan, ${label} chat`, microseconds: scan, baseline: parse, ratio: parse / scan, target });
}
process.stdout.write(JSON.stringify(rows));

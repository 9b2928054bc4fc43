// Fuzzes the event stream reader, time-boxed: node --import tsx packages/core/src/stream/sse-reader.fuzz.ts [seconds]. On any bytes,
// cut in any way, it throws nothing, gives the records of the uncut stream, holds its bound, and its work is linear.

import { strict as assert } from "node:assert";

import fc from "fast-check";

import { SseReader } from "./sse-reader.ts";

const seconds = Number(process.argv[2] ?? 20);

interface Outcome {
  readonly records: readonly string[];
  readonly accepted: boolean;
}

function read(chunks: readonly Uint8Array[], maxRecordBytes: number): Outcome {
  const records: string[] = [];
  const reader = new SseReader({
    maxRecordBytes,
    onRecord: ({ bytes, dataStart, dataEnd, rawStart, rawEnd, event, hasData }) => {
      // What the end of the stream completes is not the stream's, so it may exceed the bound.
      assert(rawEnd - rawStart <= maxRecordBytes + 2, "a record is larger than its bound");
      assert(dataEnd - dataStart <= rawEnd - rawStart, "data is larger than its record");
      assert(
        dataStart >= 0 && rawStart >= 0 && dataEnd <= bytes.length && rawEnd <= bytes.length,
        "a range leaves its bytes",
      );
      const view = Buffer.from(bytes);
      records.push(
        `${event}|${hasData}|${view.toString("latin1", dataStart, dataEnd)}|${view.toString("latin1", rawStart, rawEnd)}`,
      );
    },
  });
  let accepted = true;
  let pushedBytes = 0;
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    accepted = reader.push(lent);
    lent.fill(0xdb);
    if (!accepted) break;
    pushedBytes += chunk.length;
  }
  reader.end();
  if (accepted) assert(reader.workBytes <= 8 * pushedBytes + 16, "work is not linear");
  return { records, accepted };
}

function cut(bytes: Uint8Array, borders: readonly number[]): Uint8Array[] {
  const sorted = [0, ...borders.map((border) => border % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
}

const token = fc.constantFrom(
  ...[
    "data",
    "data: ",
    "event",
    "event: ",
    ":",
    ": c",
    "id: 1",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\r\r",
    "{}",
    "\u0000",
    "\ufeff",
    "🙂",
    "x".repeat(70),
  ].map((text) => Buffer.from(text)),
);
const stream = fc
  .array(fc.oneof({ weight: 8, arbitrary: token }, { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }) }), {
    maxLength: 60,
    size: "max",
  })
  .map((pieces) => Buffer.concat(pieces));

let runs = 0;
fc.assert(
  fc.property(
    stream,
    fc.array(fc.nat(), { maxLength: 30 }),
    fc.integer({ min: 1, max: 300 }),
    (bytes, borders, bound) => {
      runs++;
      assert.deepEqual(read(cut(bytes, borders), bound), read([bytes], bound));
    },
  ),
  { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1000, markInterruptAsFailure: false },
);
assert(runs > 0, "nothing was fuzzed");
process.stdout.write(`${runs} streams\n`);

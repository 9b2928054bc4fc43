// Cost of reading an event stream: node --import tsx packages/core/src/stream/sse-reader.bench.ts. Compares with eventsource-parser,
// which needs the bytes decoded to text first; the reader under test leaves them bytes.

import { createParser } from "eventsource-parser";

import { SseReader } from "./sse-reader.ts";

const ROUNDS = 9;
const MIN_ROUND_MS = 100;

const delta = (size: number): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${"x".repeat(size)}"}}\n\n`;

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

const streams = [
  { name: "300 B events, reads of 64 KiB", text: delta(200).repeat(2000), readBytes: 65_536 },
  { name: "300 B events, one a read", text: delta(200).repeat(2000), readBytes: delta(200).length },
  { name: "300 B events, reads of 100 B", text: delta(200).repeat(2000), readBytes: 100 },
  { name: "150 KB events, reads of 64 KiB", text: delta(150_000).repeat(10), readBytes: 65_536 },
  {
    name: "300 B events with CRLF, reads of 64 KiB",
    text: delta(200).replaceAll("\n", "\r\n").repeat(2000),
    readBytes: 65_536,
  },
];

function readBytes(chunks: readonly Uint8Array[]): number {
  let records = 0;
  const reader = new SseReader({ maxRecordBytes: 1 << 24, onRecord: () => records++ });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return records;
}

function readText(chunks: readonly Uint8Array[]): number {
  let records = 0;
  const parser = createParser({ onEvent: () => records++ });
  const decoder = new TextDecoder();
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return records;
}

/** Nanoseconds per record: the median of the rounds. */
function measure(read: (chunks: readonly Uint8Array[]) => number, chunks: readonly Uint8Array[]): number {
  const results: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let records = 0;
    const start = performance.now();
    let elapsed = 0;
    while (elapsed < MIN_ROUND_MS) {
      records += read(chunks);
      elapsed = performance.now() - start;
    }
    results.push((elapsed * 1e6) / records);
  }
  return results.sort((a, b) => a - b)[ROUNDS >> 1] as number;
}

process.stdout.write(`Node ${process.version}; ns per record, median of ${ROUNDS}\n`);
for (const { name, text, readBytes: size } of streams) {
  const chunks = cut(Buffer.from(text), size);
  const own = measure(readBytes, chunks);
  const other = measure(readText, chunks);
  process.stdout.write(
    `${name.padEnd(42)} SseReader ${own.toFixed(0).padStart(7)}   eventsource-parser ${other.toFixed(0).padStart(7)}\n`,
  );
}

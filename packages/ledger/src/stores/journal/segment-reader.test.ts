import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { entry, lineOfEntry, provisional } from "./fixtures/journal-rig.ts";
import type { ReadableFile } from "./journal-files.ts";
import { LineBuffer } from "./line-buffer.ts";
import { closeJson, holdJson, startJson } from "./line-json.ts";
import { parseLine } from "./line-reading.ts";
import { SegmentReader, type BadLine } from "./segment-reader.ts";

function fileOf(bytes: Buffer, maxReadBytes = Number.POSITIVE_INFINITY): ReadableFile {
  return {
    read: async (into, position) => bytes.copy(into, 0, position, position + Math.min(into.byteLength, maxReadBytes)),
    size: async () => bytes.byteLength,
    modifiedMs: async () => 0,
    close: async () => undefined,
  };
}

function framed(...lines: readonly string[]): Buffer {
  const buffer = new LineBuffer();
  for (const json of lines) buffer.push(json);
  let out = Buffer.alloc(0);
  buffer.drain((bytes, start, end) => {
    out = Buffer.concat([out, bytes.subarray(start, end)]);
    return end - start;
  });
  return out;
}

interface Found {
  readonly texts: readonly string[];
  readonly ends: readonly number[];
  readonly bad: readonly BadLine[];
  readonly position: number;
}

async function readAll(
  bytes: Buffer,
  options: { from?: number; maxReadBytes?: number; maxLineBytes?: number } = {},
): Promise<Found> {
  const reader = new SegmentReader(fileOf(bytes, options.maxReadBytes), options.from ?? 0, options.maxLineBytes);
  const found = { texts: [] as string[], ends: [] as number[], bad: [] as BadLine[] };
  for (let isAtEnd = false; !isAtEnd;) {
    const batch = await reader.read(bytes.byteLength);
    isAtEnd = batch.isAtEnd;
    for (const { json, end } of batch.lines) {
      found.texts.push(Buffer.from(json).toString("latin1"));
      found.ends.push(end);
    }
    found.bad.push(...batch.bad);
  }
  return { ...found, position: reader.position };
}

const LINES = [
  startJson("i", 1, 0),
  holdJson("r1", 1),
  lineOfEntry("attempt", provisional("r1")),
  lineOfEntry("entry", entry("r1", { tags: ["ü"] })),
  closeJson("r1", 1),
];

describe("SegmentReader", () => {
  it("reads every line in any sizes of reads, from any line on", async () => {
    const whole = framed(...LINES);
    const { ends } = await readAll(whole);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 0, max: LINES.length }),
        async (maxReadBytes, skip) => {
          const from = skip === 0 ? 0 : (ends[skip - 1] as number);
          const found = await readAll(whole, { from, maxReadBytes });
          expect(found.texts).toEqual(LINES.slice(skip));
          expect(found.bad).toEqual([]);
          expect(found.position).toBe(whole.byteLength);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("takes a file that is cut anywhere for the whole lines before the cut, and nothing for bad", async () => {
    const whole = framed(...LINES);
    const { ends } = await readAll(whole);
    for (let cut = 0; cut <= whole.byteLength; cut += 1) {
      const found = await readAll(whole.subarray(0, cut));
      const expected = ends.filter((end) => end <= cut);
      expect(found.texts).toEqual(LINES.slice(0, expected.length));
      expect(found.bad).toEqual([]);
      expect(found.position).toBe(expected.at(-1) ?? 0);
    }
  });

  it("finds any changed byte, reports the line it is in, and reads every other line", async () => {
    const whole = framed(...LINES);
    const { ends } = await readAll(whole);
    const starts = [0, ...ends];
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.byteLength - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const broken = Buffer.from(whole);
        broken[at] = (broken[at] as number) ^ flip;
        const found = await readAll(broken);
        const index = ends.findIndex((end) => at < end);
        const isFeed = at === (ends[index] as number) - 1;
        // Without its line feed a line runs into the next one, and takes it along.
        const lost = isFeed ? [index, index + 1] : [index];
        expect(found.texts).toEqual(LINES.filter((_, each) => !lost.includes(each)));
        const isTorn = isFeed && index === LINES.length - 1;
        expect(found.bad.length > 0).toBe(!isTorn);
        expect(found.bad[0]?.offset).toBe(isTorn ? undefined : starts[index]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("goes on behind lines of any length, in bounded memory", async () => {
    const long = Buffer.from(`${"x".repeat(900_000)}\n`);
    const bytes = Buffer.concat([framed(LINES[0] as string), long, framed(LINES[4] as string)]);
    const found = await readAll(bytes, { maxLineBytes: 1_000 });
    expect(found.texts).toEqual([LINES[0], LINES[4]]);
    const first = framed(LINES[0] as string).byteLength;
    expect(found.bad).toEqual([{ offset: first, byteLength: long.byteLength, reason: "too-long" }]);
  });

  it("takes a line at the bound and refuses one past it", async () => {
    const bytes = framed(LINES[4] as string);
    const bound = bytes.byteLength - 1;
    expect((await readAll(bytes, { maxLineBytes: bound })).texts).toEqual([LINES[4]]);
    expect((await readAll(bytes, { maxLineBytes: bound - 1 })).bad).toMatchObject([{ reason: "too-long" }]);
  });

  it("reads what a writer adds later, also when it had found half a line", async () => {
    const whole = framed(...LINES);
    const reader = new SegmentReader(fileOf(whole), 0);
    const texts: string[] = [];
    for (const until of [10, 300, 301, 1_000, whole.byteLength]) {
      const { lines } = await reader.read(until);
      texts.push(...lines.map(({ json }) => Buffer.from(json).toString("latin1")));
    }
    expect(texts).toEqual(LINES);
  });

  it("passes over kinds of later formats, and reports whole lines that are not of this format", async () => {
    const found = await readAll(framed('{"k":"note","x":1}', "[]", LINES[4] as string));
    expect(found.texts).toEqual([LINES[4]]);
    expect(found.bad).toMatchObject([{ reason: "format" }]);
  });

  it("fails no reader on any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        const found = await readAll(Buffer.from(bytes), { maxReadBytes: 7 });
        expect(found.texts).toEqual([]);
      }),
    );
  });
});

describe("parseLine", () => {
  const line = (kind: "start" | "hold" | "attempt" | "entry" | "close", json: string) => ({
    kind,
    json: Buffer.from(json),
    offset: 0,
    end: json.length,
  });
  const rows = [
    { name: "no JSON", input: line("entry", '{"k":"entry"'), expected: null },
    { name: "an entry without id", input: line("entry", '{"k":"entry"}'), expected: null },
    { name: "a start without format", input: line("start", '{"k":"start"}'), expected: null },
    { name: "a hold without request", input: line("hold", '{"k":"hold"}'), expected: null },
    {
      name: "an entry",
      input: line("entry", lineOfEntry("entry", entry("r1"))),
      expected: { k: "entry", entry: entry("r1") },
    },
    { name: "a hold", input: line("hold", holdJson("r1", 1)), expected: { k: "hold", requestId: "r1" } },
    { name: "a start", input: line("start", startJson("i", 1, 0)), expected: { k: "start", format: 1 } },
  ];
  it.each(rows)("reads $name", ({ input, expected }) => {
    expect(parseLine(input)).toEqual(expected);
  });
});

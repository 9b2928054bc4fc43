import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { FramedRecord } from "./record.ts";
import { SseReader } from "./sse-reader.ts";

interface Seen {
  readonly event: string;
  /** Null for a record without data. */
  readonly data: string | null;
  readonly raw: string;
}

const text = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.subarray(start, end)).toString("utf8");

const view = (record: FramedRecord): Seen => ({
  event: record.event,
  data: record.hasData ? text(record.bytes, record.dataStart, record.dataEnd) : null,
  raw: text(record.bytes, record.rawStart, record.rawEnd),
});

interface Reading {
  readonly seen: readonly Seen[];
  readonly accepted: boolean;
  readonly workBytes: number;
}

/** Each chunk is given in memory that is overwritten right after the call, as a socket's read buffer is. */
function readChunks(chunks: readonly Uint8Array[], maxRecordBytes: number): Reading {
  const seen: Seen[] = [];
  const reader = new SseReader({ maxRecordBytes, onRecord: (record) => seen.push(view(record)) });
  let accepted = true;
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    accepted = reader.push(lent);
    lent.fill(0xdb);
    if (!accepted) break;
  }
  reader.end();
  return { seen, accepted, workBytes: reader.workBytes };
}

const bytesOf = (input: string): Buffer => Buffer.from(input, "utf8");
const readWhole = (input: string, maxRecordBytes = 1 << 20): readonly Seen[] =>
  readChunks([bytesOf(input)], maxRecordBytes).seen;
const singles = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (byte) => Uint8Array.of(byte));

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const borders = [...new Set([0, bytes.length, ...cuts.map((cut) => cut % (bytes.length + 1))])].sort((a, b) => a - b);
  return borders.slice(1).map((end, i) => bytes.subarray(borders[i], end));
}

const rows: readonly { name: string; input: string; expected: readonly Seen[] }[] = [
  { name: "an empty stream", input: "", expected: [] },
  { name: "one data line", input: "data: a\n\n", expected: [{ event: "", data: "a", raw: "data: a\n\n" }] },
  { name: "no space after the colon", input: "data:a\n\n", expected: [{ event: "", data: "a", raw: "data:a\n\n" }] },
  {
    name: "two spaces after the colon",
    input: "data:  a\n\n",
    expected: [{ event: "", data: " a", raw: "data:  a\n\n" }],
  },
  {
    name: "a name",
    input: "event: e\ndata: a\n\n",
    expected: [{ event: "e", data: "a", raw: "event: e\ndata: a\n\n" }],
  },
  {
    name: "a name after the data, the last one counting",
    input: "event: x\ndata: a\nevent: e\n\n",
    expected: [{ event: "e", data: "a", raw: "event: x\ndata: a\nevent: e\n\n" }],
  },
  {
    name: "a name taken back by an empty one",
    input: "event: x\nevent\ndata: a\n\n",
    expected: [{ event: "", data: "a", raw: "event: x\nevent\ndata: a\n\n" }],
  },
  {
    name: "a name that holds for its record only",
    input: "event: e\n\ndata: a\n\n",
    expected: [
      { event: "e", data: null, raw: "event: e\n\n" },
      { event: "", data: "a", raw: "data: a\n\n" },
    ],
  },
  {
    name: "empty data",
    input: "data\n\ndata:\n\n",
    expected: [
      { event: "", data: "", raw: "data\n\n" },
      { event: "", data: "", raw: "data:\n\n" },
    ],
  },
  {
    name: "several data lines joined with LF",
    input: "data: a\r\ndata\rdata: b\nid: 1\ndata:c\n\n",
    expected: [{ event: "", data: "a\n\nb\nc", raw: "data: a\r\ndata\rdata: b\nid: 1\ndata:c\n\n" }],
  },
  {
    name: "several data lines of several records",
    input: "data: a\ndata: b\n\ndata: c\ndata: d\n\ndata: e\n\n",
    expected: [
      { event: "", data: "a\nb", raw: "data: a\ndata: b\n\n" },
      { event: "", data: "c\nd", raw: "data: c\ndata: d\n\n" },
      { event: "", data: "e", raw: "data: e\n\n" },
    ],
  },
  {
    name: "names that only look like fields",
    input: "database: a\ndata : b\n data: c\neventx: d\nDATA: e\ndat\n\n",
    expected: [{ event: "", data: null, raw: "database: a\ndata : b\n data: c\neventx: d\nDATA: e\ndat\n\n" }],
  },
  {
    name: "a comment as a record of its own",
    input: ": OPENROUTER PROCESSING\n\ndata: a\n\n",
    expected: [
      { event: "", data: null, raw: ": OPENROUTER PROCESSING\n\n" },
      { event: "", data: "a", raw: "data: a\n\n" },
    ],
  },
  {
    name: "a comment inside a record",
    input: "data: a\n:data: no\n\n",
    expected: [{ event: "", data: "a", raw: "data: a\n:data: no\n\n" }],
  },
  {
    name: "a doubled prefix as content",
    input: "data: data: a\n\n",
    expected: [{ event: "", data: "data: a", raw: "data: data: a\n\n" }],
  },
  {
    name: "a frame glued into another as one record",
    input: 'data: {"id":"x","obdata: {"id":"y"}\n\n',
    expected: [{ event: "", data: '{"id":"x","obdata: {"id":"y"}', raw: 'data: {"id":"x","obdata: {"id":"y"}\n\n' }],
  },
  {
    name: "CRLF",
    input: "data: a\r\n\r\ndata: b\r\n\r\n",
    expected: [
      { event: "", data: "a", raw: "data: a\r\n\r\n" },
      { event: "", data: "b", raw: "data: b\r\n\r\n" },
    ],
  },
  {
    name: "CR",
    input: "data: a\r\rdata: b\r\r",
    expected: [
      { event: "", data: "a", raw: "data: a\r\r" },
      { event: "", data: "b", raw: "data: b\r\r" },
    ],
  },
  {
    name: "CR CRLF, whose LF is in no record",
    input: "data: a\r\r\ndata: b\n\n",
    expected: [
      { event: "", data: "a", raw: "data: a\r\r" },
      { event: "", data: "b", raw: "data: b\n\n" },
    ],
  },
  {
    name: "LF CRLF",
    input: "data: a\n\r\ndata: b\n\n",
    expected: [
      { event: "", data: "a", raw: "data: a\n\r\n" },
      { event: "", data: "b", raw: "data: b\n\n" },
    ],
  },
  {
    name: "CRLF LF",
    input: "data: a\r\n\ndata: b\n\n",
    expected: [
      { event: "", data: "a", raw: "data: a\r\n\n" },
      { event: "", data: "b", raw: "data: b\n\n" },
    ],
  },
  {
    name: "LF CR, completed to CRLF",
    input: "data: a\n\rdata: b\n\n",
    expected: [
      { event: "", data: "a", raw: "data: a\n\r\n" },
      { event: "", data: "b", raw: "data: b\n\n" },
    ],
  },
  {
    name: "CRLF CR, completed to CRLF",
    input: "data: a\r\n\rdata: b\n\n",
    expected: [
      { event: "", data: "a", raw: "data: a\r\n\r\n" },
      { event: "", data: "b", raw: "data: b\n\n" },
    ],
  },
  {
    name: "stray blank lines, which are in no record",
    input: "\n\r\n\rdata: a\n\n\n\r\r\n\ndata: b\n\n",
    expected: [
      { event: "", data: "a", raw: "data: a\n\n" },
      { event: "", data: "b", raw: "data: b\n\n" },
    ],
  },
  {
    name: "a byte order mark, stripped",
    input: "\ufeffdata: a\n\n",
    expected: [{ event: "", data: "a", raw: "data: a\n\n" }],
  },
  {
    name: "a second byte order mark, kept",
    input: "\ufeff\ufeffdata: a\n\n",
    expected: [{ event: "", data: null, raw: "\ufeffdata: a\n\n" }],
  },
  { name: "only a byte order mark", input: "\ufeff", expected: [] },
  { name: "an end without blank line", input: "data: a\n", expected: [{ event: "", data: "a", raw: "data: a\n\n" }] },
  {
    name: "an end inside a line",
    input: "event: e\ndata: a",
    expected: [{ event: "e", data: "a", raw: "event: e\ndata: a\n\n" }],
  },
  { name: "an end after CR", input: "data: a\r", expected: [{ event: "", data: "a", raw: "data: a\r\n\n" }] },
  { name: "an end after CRLF", input: "data: a\r\n", expected: [{ event: "", data: "a", raw: "data: a\r\n\n" }] },
  {
    name: "an end inside the second data line",
    input: "data: a\ndata: b",
    expected: [{ event: "", data: "a\nb", raw: "data: a\ndata: b\n\n" }],
  },
  {
    name: "an end inside a field name",
    input: "data: a\n\ndat",
    expected: [
      { event: "", data: "a", raw: "data: a\n\n" },
      { event: "", data: null, raw: "dat\n\n" },
    ],
  },
  {
    name: "characters of two, three and four bytes",
    input: 'event: é\ndata: {"delta":"北🙂"}\n\n',
    expected: [{ event: "é", data: '{"delta":"北🙂"}', raw: 'event: é\ndata: {"delta":"北🙂"}\n\n' }],
  },
  {
    name: "lines longer than the short search, with the other line end far behind",
    input: `data: ${"a".repeat(100)}\n: ${"b".repeat(100)}\r\n\r\ndata: ${"c".repeat(60)}\r\r`,
    expected: [
      { event: "", data: "a".repeat(100), raw: `data: ${"a".repeat(100)}\n: ${"b".repeat(100)}\r\n\r\n` },
      { event: "", data: "c".repeat(60), raw: `data: ${"c".repeat(60)}\r\r` },
    ],
  },
];

describe("SseReader", () => {
  it.each(rows)("reads $name, whole, byte by byte and with one cut anywhere", ({ input, expected }) => {
    const bytes = bytesOf(input);
    expect(readWhole(input)).toEqual(expected);
    expect(readChunks(singles(bytes), 1 << 20).seen).toEqual(expected);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(readChunks([bytes.subarray(0, cut), bytes.subarray(cut)], 1 << 20).seen, `cut at ${cut}`).toEqual(
        expected,
      );
    }
  });

  const piece = fc.constantFrom(
    ..."data|data:|data: |event: |event|id: 1|: c|:|\n|\n\n|\r|\r\n|\r\n\r\n|\n\r|a|{}|北|🙂|\ufeff| |message_stop|x:y|retry: 1".split(
      "|",
    ),
  );
  const stream = fc
    .array(fc.oneof({ weight: 6, arbitrary: piece }, { weight: 1, arbitrary: fc.string({ maxLength: 80 }) }), {
      maxLength: 40,
    })
    .map((pieces) => pieces.join(""));
  const anyBytes = fc.oneof(
    stream.map(bytesOf),
    fc
      .array(fc.constantFrom(...bytesOf("data: \n\r:ev\xff\ufeff")), { maxLength: 60 })
      .map((list) => Buffer.from(list)),
  );
  const cuts = fc.array(fc.nat(), { maxLength: 12 });

  it("gives the same records however the bytes are cut, bounded or not", () => {
    fc.assert(
      fc.property(anyBytes, cuts, fc.constantFrom(7, 12, 20, 40, 1 << 20), (bytes, where, bound) => {
        const whole = readChunks([bytes], bound);
        for (const chunks of [cutAt(bytes, where), singles(bytes)]) {
          const cut = readChunks(chunks, bound);
          expect(cut.accepted).toBe(whole.accepted);
          expect(cut.seen).toEqual(whole.seen);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("agrees with eventsource-parser on the events of any stream", () => {
    fc.assert(
      fc.property(anyBytes, cuts, (bytes, where) => {
        const expected: { event: string; data: string }[] = [];
        const oracle = createParser({ onEvent: ({ event, data }) => expected.push({ event: event ?? "", data }) });
        // The oracle reads text and waits for a blank line at the end; decoding strips the byte order mark.
        oracle.feed(`${new TextDecoder().decode(bytes)}\n\n`);
        const seen = readChunks(cutAt(bytes, where), 1 << 20).seen.filter(({ data }) => data !== null);
        expect(seen.map(({ event, data }) => ({ event, data }))).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("gives raw bytes that rejoin to the stream when every record ends with one blank line", () => {
    const line = fc
      .tuple(fc.constantFrom("data: ", "event: ", ": ", "id:"), fc.stringMatching(/^[a-z{} ]{0,70}$/))
      .map((parts) => parts.join(""));
    const record = fc.tuple(fc.array(line, { minLength: 1, maxLength: 4 }), fc.constantFrom("\n", "\r\n", "\r"));
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), cuts, (records, where) => {
        const input = records.map(([lines, end]) => lines.map((each) => each + end).join("") + end).join("");
        const { seen } = readChunks(cutAt(bytesOf(input), where), 1 << 20);
        expect(seen.map(({ raw }) => raw).join("")).toBe(input);
      }),
    );
  });

  it("gives raw bytes that a reader reads as the same one record", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        // A stream of its own would lose a byte order mark that was content here.
        const records = readChunks([bytes], 1 << 20).seen.filter(({ raw }) => !raw.startsWith("\ufeff"));
        expect(records.map(({ raw }) => readWhole(raw))).toEqual(records.map((record) => [record]));
      }),
    );
  });

  it("delivers records of one chunk as ranges of the chunk itself", () => {
    const chunk = bytesOf("event: a\ndata: 1\n\n: c\r\n\r\ndata: 2\r\rdata: 3\n\n");
    const owners: boolean[] = [];
    const reader = new SseReader({ maxRecordBytes: 100, onRecord: (record) => owners.push(record.bytes === chunk) });
    reader.push(chunk);
    expect(owners).toEqual([true, true, true, true]);
    expect(reader.workBytes).toBeLessThanOrEqual(chunk.length);
  });

  it("delivers records behind a straddling one as ranges of their chunk", () => {
    const chunk = bytesOf("a: 1\n\ndata: 2\n\n");
    const owners: boolean[] = [];
    const reader = new SseReader({ maxRecordBytes: 100, onRecord: (record) => owners.push(record.bytes === chunk) });
    reader.push(bytesOf("dat"));
    reader.push(chunk);
    expect(owners).toEqual([false, true]);
  });

  it("uses one record object and empties it after the callback", () => {
    const records: FramedRecord[] = [];
    const reader = new SseReader({ maxRecordBytes: 100, onRecord: (record) => records.push(record) });
    reader.push(bytesOf("data: 1\n\ndata: 2\n\n"));
    expect(records[0]).toBe(records[1]);
    expect(records[0]?.bytes).toHaveLength(0);
  });

  it.each([
    { name: "a record of one chunk", chunks: ["data: 1234\n\n"] },
    { name: "a straddling record", chunks: ["dat", "a: 1234\n", "\n"] },
    { name: "a record with CRLF cut inside", chunks: ["data: 12\r", "\n\r", "\n"] },
    { name: "a comment", chunks: [": 45678901\n\n"] },
    { name: "joined data", chunks: ["data:\ndata\n\n"] },
  ])("takes $name at the bound and refuses it one byte past it", ({ chunks }) => {
    const bytes = chunks.map(bytesOf);
    const length = Buffer.concat(bytes).length;
    expect(length).toBe(12);
    expect(readChunks(bytes, length)).toMatchObject({ accepted: true, seen: [{}] });
    expect(readChunks(bytes, length - 1)).toMatchObject({ accepted: false, seen: [] });
  });

  it.each([
    { name: "a line without end", chunk: "data: aaaaaaaaaaaaaaaaaaaaaaa" },
    { name: "comments without end", chunk: ": c\n: c\n: c\n: c\n: c\n: c\n: c\n" },
    { name: "fields without end", chunk: "data\ndata\ndata\ndata\ndata\n" },
  ])("refuses $name past the bound, after the records before it, and stays dead", ({ chunk }) => {
    const seen: Seen[] = [];
    const reader = new SseReader({ maxRecordBytes: 20, onRecord: (record) => seen.push(view(record)) });
    expect(reader.push(bytesOf(`data: a\n\n${chunk}`))).toBe(false);
    expect(reader.push(bytesOf("\n\ndata: b\n\n"))).toBe(false);
    reader.stop();
    expect(reader.push(bytesOf("data: b\n\n"))).toBe(false);
    reader.end();
    expect(seen.map(({ data }) => data)).toEqual(["a"]);
  });

  it("refuses a push from inside the callback", () => {
    const accepted: boolean[] = [];
    const reader: SseReader = new SseReader({
      maxRecordBytes: 100,
      onRecord: () => accepted.push(reader.push(bytesOf("data: inner\n\n"))),
    });
    expect(reader.push(bytesOf("data: 1\n\ndata: 2\n\n"))).toBe(true);
    expect(accepted).toEqual([false, false]);
  });

  it("delivers nothing after stop, and takes what else arrives", () => {
    const seen: string[] = [];
    const reader: SseReader = new SseReader({
      maxRecordBytes: 100,
      onRecord: (record) => {
        seen.push(view(record).raw);
        reader.stop();
      },
    });
    expect(reader.push(bytesOf("data: 1\n\ndata: 2\n\ndat"))).toBe(true);
    expect(reader.push(bytesOf("a: 3\n\n"))).toBe(true);
    reader.end();
    expect(seen).toEqual(["data: 1\n\n"]);
  });

  it.each([{ chunks: ["data: 1\n\ndata: 2\n\n"] }, { chunks: ["dat", "a: 1\n\ndata: 2\n\n"] }])(
    "delivers nothing after a callback threw, and refuses what else arrives",
    ({ chunks }) => {
      let calls = 0;
      const reader = new SseReader({
        maxRecordBytes: 100,
        onRecord: () => {
          calls++;
          throw new Error("callback");
        },
      });
      expect(() => chunks.map((chunk) => reader.push(bytesOf(chunk)))).toThrow("callback");
      expect(reader.push(bytesOf("data: 3\n\n"))).toBe(false);
      reader.end();
      expect(calls).toBe(1);
    },
  );

  it("ignores what arrives after the end", () => {
    const seen: Seen[] = [];
    const reader = new SseReader({ maxRecordBytes: 100, onRecord: (record) => seen.push(view(record)) });
    reader.push(bytesOf("data: 1"));
    reader.end();
    reader.end();
    expect(reader.push(bytesOf("data: 2\n\n"))).toBe(true);
    expect(seen).toHaveLength(1);
  });

  const MEGABYTE = 1 << 20;
  /** A hang guard for a loaded machine; the law is in the counted work. */
  const SLOW_MS = 60_000;
  it.each([
    { name: "one event", input: `data: ${"x".repeat(MEGABYTE)}\n\n`, records: 1 },
    { name: "one event of many data lines", input: `${"data: x\n".repeat(MEGABYTE / 8)}\n`, records: 1 },
    { name: "blank lines", input: "\n".repeat(MEGABYTE), records: 0 },
    { name: "blank lines of CR", input: "\r".repeat(MEGABYTE), records: 0 },
    { name: "empty events", input: "data\n\n".repeat(MEGABYTE / 8), records: MEGABYTE / 8 },
    { name: "comments", input: ":\n\n".repeat(MEGABYTE / 4), records: MEGABYTE / 4 },
    { name: "lines of CR without any LF", input: `${`: ${"x".repeat(60)}\r`.repeat(MEGABYTE / 64)}\r`, records: 1 },
    { name: "lines of LF without any CR", input: `${`: ${"x".repeat(60)}\n`.repeat(MEGABYTE / 64)}\n`, records: 1 },
  ])(
    "costs work linear in the bytes for a megabyte of $name, in one chunk, in reads of 64 KiB and byte by byte",
    ({ input, records }) => {
      const bytes = bytesOf(input);
      const reads = Array.from({ length: Math.ceil(bytes.length / 65536) }, (_, i) =>
        bytes.subarray(i * 65536, (i + 1) * 65536),
      );
      for (const chunks of [[bytes], reads, singles(bytes)]) {
        let count = 0;
        const reader = new SseReader({ maxRecordBytes: 2 * MEGABYTE, onRecord: () => count++ });
        for (const chunk of chunks) reader.push(chunk);
        reader.end();
        expect(count).toBe(records);
        expect(reader.workBytes).toBeLessThanOrEqual(8 * bytes.length);
      }
    },
    SLOW_MS,
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createRecordReader } from "./framing.ts";
import { LineReader } from "./ndjson-reader.ts";
import { SseReader } from "./sse-reader.ts";

interface Seen {
  readonly data: string;
  readonly raw: string;
}

function readChunks(
  chunks: readonly Uint8Array[],
  maxRecordBytes: number,
): { seen: Seen[]; accepted: boolean; workBytes: number } {
  const seen: Seen[] = [];
  const reader = new LineReader({
    maxRecordBytes,
    onRecord: ({ bytes, dataStart, dataEnd, rawStart, rawEnd, event, hasData }) => {
      expect([event, hasData]).toEqual(["", true]);
      const text = Buffer.from(bytes);
      seen.push({ data: text.toString("utf8", dataStart, dataEnd), raw: text.toString("utf8", rawStart, rawEnd) });
    },
  });
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
const singles = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (byte) => Uint8Array.of(byte));

const rows: readonly { name: string; input: string; expected: readonly Seen[] }[] = [
  { name: "an empty stream", input: "", expected: [] },
  {
    name: "lines",
    input: '{"a":1}\n[]\n',
    expected: [
      { data: '{"a":1}', raw: '{"a":1}\n' },
      { data: "[]", raw: "[]\n" },
    ],
  },
  {
    name: "CRLF",
    input: "{}\r\n[]\r\n",
    expected: [
      { data: "{}", raw: "{}\r\n" },
      { data: "[]", raw: "[]\r\n" },
    ],
  },
  { name: "a CR inside a line as content", input: "[1,\r2]\n", expected: [{ data: "[1,\r2]", raw: "[1,\r2]\n" }] },
  { name: "empty lines, dropped", input: "\n\r\n{}\n\n\r\n", expected: [{ data: "{}", raw: "{}\n" }] },
  {
    name: "a last line without end",
    input: "{}\n[]",
    expected: [
      { data: "{}", raw: "{}\n" },
      { data: "[]", raw: "[]\n" },
    ],
  },
  { name: "a last line that ends with CR", input: "[]\r", expected: [{ data: "[]", raw: "[]\r\n" }] },
  { name: "characters of several bytes", input: '"北🙂"\n', expected: [{ data: '"北🙂"', raw: '"北🙂"\n' }] },
];

describe("LineReader", () => {
  it.each(rows)("reads $name, whole, byte by byte and with one cut anywhere", ({ input, expected }) => {
    const bytes = bytesOf(input);
    expect(readChunks([bytes], 100).seen).toEqual(expected);
    expect(readChunks(singles(bytes), 100).seen).toEqual(expected);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(readChunks([bytes.subarray(0, cut), bytes.subarray(cut)], 100).seen, `cut at ${cut}`).toEqual(expected);
    }
  });

  it("gives the lines of the text however it is cut, and refuses a line over the bound", () => {
    const line = fc.stringMatching(/^[a-z{}\r北]{0,12}$/);
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 10 }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(6, 10, 100),
        (lines, size, bound) => {
          const bytes = bytesOf(lines.join("\n"));
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          );
          const cut = readChunks(chunks, bound);
          const whole = readChunks([bytes], bound);
          expect(cut.seen).toEqual(whole.seen);
          expect(cut.accepted).toBe(whole.accepted);
          if (bound < 100) return;
          expect(whole.seen.map(({ data }) => data)).toEqual(
            lines.map((each) => each.replace(/\r$/, "")).filter((each) => each !== ""),
          );
        },
      ),
    );
  });

  it("takes a line at the bound and refuses one past it for good", () => {
    expect(readChunks([bytesOf("123"), bytesOf("4\n")], 5)).toMatchObject({ accepted: true, seen: [{ data: "1234" }] });
    expect(readChunks([bytesOf("123"), bytesOf("45\n")], 5)).toMatchObject({ accepted: false, seen: [] });
    expect(readChunks([bytesOf("1\n12345\n2\n")], 5)).toMatchObject({ accepted: false, seen: [{ data: "1" }] });
  });

  it("costs work linear in the bytes for a megabyte in one line or in empty ones, byte by byte", () => {
    for (const input of ["x".repeat(1 << 20), "\n".repeat(1 << 20)]) {
      expect(readChunks(singles(bytesOf(input)), 1 << 21).workBytes).toBeLessThanOrEqual(4 << 20);
    }
  }, 60_000);

  it("delivers nothing after stop or a throwing callback", () => {
    let calls = 0;
    const stopped: LineReader = new LineReader({ maxRecordBytes: 10, onRecord: () => (calls++, stopped.stop()) });
    expect(stopped.push(bytesOf("1\n2\n"))).toBe(true);
    expect(stopped.push(bytesOf("3\n"))).toBe(true);
    stopped.end();
    expect(calls).toBe(1);
    const thrown = new LineReader({
      maxRecordBytes: 10,
      onRecord: () => {
        calls++;
        throw new Error("callback");
      },
    });
    expect(() => thrown.push(bytesOf("1\n2\n"))).toThrow("callback");
    expect(thrown.push(bytesOf("3\n"))).toBe(false);
    expect(calls).toBe(2);
  });
});

describe("createRecordReader", () => {
  const options = { maxRecordBytes: 10, onRecord: () => {} };
  it("makes the reader of the framing", () => {
    expect(createRecordReader("sse", options)).toBeInstanceOf(SseReader);
    expect(createRecordReader("ndjson", options)).toBeInstanceOf(LineReader);
  });
});

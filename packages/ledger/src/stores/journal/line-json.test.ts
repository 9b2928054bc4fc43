import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { EntryUsage, LedgerEntry } from "../../entries/index.ts";
import { entry, lineOfEntry } from "./fixtures/journal-rig.ts";
import { LineBuffer } from "./line-buffer.ts";
import { closeJson, haveSameNames, holdJson, namesJson, startJson } from "./line-json.ts";
import { parseLine } from "./line-reading.ts";
import { NameMemo, quoteText } from "./name-memo.ts";
import type { JournalLine } from "./segment-reader.ts";

const name = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("\ud800", "\udc00", '"', "\\", "\n", "é") }),
);
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { nil: null });
const count = fc.maxSafeNat();
const usage: fc.Arbitrary<EntryUsage> = fc.record({
  input: count,
  cacheRead: maybe(count),
  cacheWrite: maybe(count),
  cacheWriteByTtl: maybe(fc.dictionary(fc.integer({ min: 1, max: 99_999 }).map(String), count)),
  inputAudio: maybe(count),
  inputImage: maybe(count),
  output: count,
  reasoning: maybe(count),
  outputAudio: maybe(count),
  // The one name that an object literal cannot hold as a member of its own.
  serverTools: maybe(
    fc.dictionary(
      name.filter((each) => each !== "__proto__"),
      count,
    ),
  ),
});
// A record of every member: a new one fails to compile here until it is in the line as well.
const ledgerEntry: fc.Arbitrary<LedgerEntry> = fc.record<LedgerEntry>({
  id: name,
  requestId: name,
  attempt: count,
  rule: fc.constantFrom("actual", "recovered", "adjusted"),
  adjusts: maybe(name),
  usageSource: fc.constantFrom("provider", "estimate", "none"),
  usage: maybe(usage),
  deliveredBytes: count,
  priceId: maybe(name),
  costNanoUsd: maybe(fc.maxSafeInteger()),
  overdrawnNanoUsd: count,
  openedMs: count,
  startedMs: count,
  endedMs: count,
  key: name,
  owner: maybe(name),
  endUser: maybe(name),
  tags: fc.array(name),
  model: name,
  deployment: name,
  provider: maybe(name),
  upstreamModel: name,
  upstreamRequestId: maybe(name),
  generation: maybe(count),
  clientDialect: maybe(name),
  providerDialect: maybe(name),
});

/** A line as a reader hands it on. */
function lineOf(json: string): JournalLine {
  const kind = (JSON.parse(json) as { k: JournalLine["kind"] }).k;
  return { kind, json: Buffer.from(json), offset: 0, end: json.length };
}

const NAMES: readonly (keyof LedgerEntry)[] = Object.keys(
  JSON.parse(
    `{${namesJson(entry("r", { owner: "o", endUser: "u", clientDialect: "c" }), new NameMemo()).slice(1)}}`,
  ) as object,
) as (keyof LedgerEntry)[];

describe("JSON of lines", () => {
  it("holds every member of an entry, whatever its names are made of, in ASCII on one line", () => {
    fc.assert(
      fc.property(ledgerEntry, fc.constantFrom("entry", "attempt"), (value, kind) => {
        const json = lineOfEntry(kind as "entry" | "attempt", value);
        expect(json).toMatch(/^[\x20-\x7e]*$/);
        expect(parseLine(lineOf(json))).toEqual({ k: kind, entry: value });
      }),
      { numRuns: 2_000 },
    );
  });

  it("has the same names for an attempt and its entry where they are told to be the same", () => {
    fc.assert(
      fc.property(ledgerEntry, ledgerEntry, fc.subarray(NAMES as (keyof LedgerEntry)[]), (one, other, differing) => {
        const changed = Object.fromEntries(differing.map((member) => [member, other[member]]));
        const entry = { ...other, ...Object.fromEntries(NAMES.map((member) => [member, one[member]])), ...changed };
        const isSame = haveSameNames(one, entry);
        const memo = new NameMemo();
        expect(isSame && namesJson(one, memo) !== namesJson(entry, memo)).toBe(false);
        expect(isSame || differing.length > 0).toBe(true);
      }),
    );
  });

  const rows = [
    { name: "a hold", json: holdJson("r\n1", 5), expected: { k: "hold", requestId: "r\n1", atMs: 5 } },
    { name: "a close", json: closeJson('r"1', 12), expected: { k: "close", requestId: 'r"1', atMs: 12 } },
    {
      name: "a start",
      json: startJson("i", 3, 2),
      expected: { k: "start", format: 1, incarnation: "i", number: 3, carried: 2 },
    },
  ];
  it.each(rows)("holds every member of $name", ({ json, expected }) => {
    expect(JSON.parse(json)).toEqual(expected);
  });
});

describe("NameMemo", () => {
  it("says what a text is in JSON, also after more names than it keeps", () => {
    const memo = new NameMemo();
    const names = [...Array.from({ length: 2_500 }, (_, index) => `name "${index}"`), "x".repeat(300), "ü"];
    for (const each of [...names, ...names.toReversed()]) expect(memo.quote(each)).toBe(quoteText(each));
    expect(JSON.parse(memo.quote('"ü\ud800'))).toBe('"ü\ud800');
  });
});

describe("LineBuffer", () => {
  it("gives lines out in order and whole, whatever part of them each write takes", () => {
    const lines = fc.array(fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 300 }), { maxLength: 20 }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(lines, fc.infiniteStream(fc.integer({ min: 1, max: 5_000 })), (turns, sizes) => {
        const buffer = new LineBuffer();
        const whole = new LineBuffer();
        const written: Buffer[] = [];
        const expected: Buffer[] = [];
        const takeAll = (bytes: Uint8Array, start: number, end: number): number => {
          expected.push(Buffer.from(bytes.subarray(start, end)));
          return end - start;
        };
        for (const turn of turns) {
          for (const json of turn) {
            buffer.push(json);
            whole.push(json);
          }
          let tries = 0;
          const takeSome = (bytes: Uint8Array, start: number, end: number): number => {
            tries += 1;
            if (tries > 2) throw new Error("no room");
            const taken = Math.min(sizes.next().value as number, end - start);
            written.push(Buffer.from(bytes.subarray(start, start + taken)));
            return taken;
          };
          try {
            buffer.drain(takeSome);
          } catch {
            // The rest waits for the next turn.
          }
          whole.drain(takeAll);
        }
        buffer.drain((bytes, start, end) => {
          written.push(Buffer.from(bytes.subarray(start, end)));
          return end - start;
        });
        expect(Buffer.concat(written).equals(Buffer.concat(expected))).toBe(true);
        expect(buffer.byteLength).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("frames a line by the CRC-32 of its JSON", () => {
    const buffer = new LineBuffer();
    // The check value of CRC-32 for "123456789" (ISO-HDLC) is cbf43926.
    buffer.push("123456789");
    buffer.drain((bytes, start, end) => {
      expect(Buffer.from(bytes.subarray(start, end)).toString("latin1")).toBe("cbf43926 123456789\n");
      return end - start;
    });
  });

  it("moves what waits to the front instead of growing for ever", () => {
    const buffer = new LineBuffer();
    const json = lineOfEntry("entry", entry("r"));
    for (let index = 0; index < 5_000; index += 1) {
      buffer.push(json);
      let isFirst = true;
      try {
        buffer.drain(() => {
          if (!isFirst) throw new Error("no room");
          isFirst = false;
          return json.length + 9;
        });
      } catch {
        // One byte fewer than came stays each time.
      }
    }
    expect(buffer.byteLength).toBe(5_000);
  });
});

import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { scan, scanRange } from "./scan.ts";
import type { ScanResult } from "./scan.ts";
import type { ScanLimits } from "./scan-limits.ts";
import { ABSENT } from "./tape.ts";

interface SuiteCase {
  readonly name: string;
  readonly text?: string;
  readonly base64?: string;
  readonly repeat?: string;
  readonly times?: number;
}

const suite = JSON.parse(readFileSync(new URL("./fixtures/json-test-suite.json", import.meta.url), "utf8")) as {
  readonly cases: readonly SuiteCase[];
};

function inputOf({ text = "", base64 = "", repeat = "", times = 0 }: SuiteCase): Buffer {
  return Buffer.concat([Buffer.from(repeat.repeat(times)), Buffer.from(text), Buffer.from(base64, "base64")]);
}

/** The answer for every case the RFC leaves open: null is accepted, else the code. */
const NUMBER_RANGE = "RFC 8259 §6 sets no range; the spelling is kept and its reader decides";
const LONE_SURROGATE = "RFC 8259 §8.2 has the grammar allow the escape; the token moves on as it is";
const NOT_UTF8 = "RFC 8259 §8.1 demands UTF-8";
const DECISIONS: Readonly<Record<string, readonly [code: string | null, reason: string]>> = {
  i_number_double_huge_neg_exp: [null, NUMBER_RANGE],
  i_number_huge_exp: [null, NUMBER_RANGE],
  i_number_neg_int_huge_exp: [null, NUMBER_RANGE],
  i_number_pos_double_huge_exp: [null, NUMBER_RANGE],
  i_number_real_neg_overflow: [null, NUMBER_RANGE],
  i_number_real_pos_overflow: [null, NUMBER_RANGE],
  i_number_real_underflow: [null, NUMBER_RANGE],
  i_number_too_big_neg_int: [null, NUMBER_RANGE],
  i_number_too_big_pos_int: [null, NUMBER_RANGE],
  i_number_very_big_negative_int: [null, NUMBER_RANGE],
  i_object_key_lone_2nd_surrogate: [null, LONE_SURROGATE],
  i_string_1st_surrogate_but_2nd_missing: [null, LONE_SURROGATE],
  i_string_1st_valid_surrogate_2nd_invalid: [null, LONE_SURROGATE],
  "i_string_UTF-16LE_with_BOM": ["json_encoding", NOT_UTF8],
  "i_string_UTF-8_invalid_sequence": ["json_encoding", NOT_UTF8],
  "i_string_UTF8_surrogate_U+D800": ["json_encoding", NOT_UTF8],
  i_string_incomplete_surrogate_and_escape_valid: [null, LONE_SURROGATE],
  i_string_incomplete_surrogate_pair: [null, LONE_SURROGATE],
  i_string_incomplete_surrogates_escape_valid: [null, LONE_SURROGATE],
  i_string_invalid_lonely_surrogate: [null, LONE_SURROGATE],
  i_string_invalid_surrogate: [null, LONE_SURROGATE],
  "i_string_invalid_utf-8": ["json_encoding", NOT_UTF8],
  "i_string_inverted_surrogates_U+1D11E": [null, LONE_SURROGATE],
  i_string_iso_latin_1: ["json_encoding", NOT_UTF8],
  i_string_lone_second_surrogate: [null, LONE_SURROGATE],
  i_string_lone_utf8_continuation_byte: ["json_encoding", NOT_UTF8],
  i_string_not_in_unicode_range: ["json_encoding", NOT_UTF8],
  i_string_overlong_sequence_2_bytes: ["json_encoding", NOT_UTF8],
  i_string_overlong_sequence_6_bytes: ["json_encoding", NOT_UTF8],
  i_string_overlong_sequence_6_bytes_null: ["json_encoding", NOT_UTF8],
  "i_string_truncated-utf-8": ["json_encoding", NOT_UTF8],
  i_string_utf16BE_no_BOM: ["json_syntax", NOT_UTF8],
  i_string_utf16LE_no_BOM: ["json_syntax", NOT_UTF8],
  i_structure_500_nested_arrays: ["json_depth", "deeper than the default limit of 128"],
  "i_structure_UTF-8_BOM_empty_object": ["json_syntax", "RFC 8259 §8.1 lets a parser refuse a byte order mark"],
};

/** Valid by the grammar, but a request may not repeat a name (RFC 8259 §4: names SHOULD be unique). */
const REPEATED_NAMES = new Set(["y_object_duplicated_key", "y_object_duplicated_key_and_value"]);

describe("JSONTestSuite", () => {
  it("is complete", () => {
    expect(suite.cases.length).toBe(318);
    const open = suite.cases.filter(({ name }) => name.startsWith("i_")).map(({ name }) => name);
    expect(Object.keys(DECISIONS).toSorted()).toEqual(open.toSorted());
  });

  it.each(suite.cases.filter(({ name }) => name.startsWith("y_")))("accepts $name", (row) => {
    const bytes = inputOf(row);
    const result = scan(bytes);
    const code = REPEATED_NAMES.has(row.name) ? "json_duplicate_member" : null;
    expect(result.ok ? null : result.error.code).toBe(code);
    const tolerant = scan(bytes, { duplicates: "last-wins" });
    expect(tolerant.ok && tolerant.document.value(0)).toEqual(JSON.parse(bytes.toString()));
  });

  it.each(suite.cases.filter(({ name }) => name.startsWith("n_")))("refuses $name", (row) => {
    const result = scan(inputOf(row), { duplicates: "last-wins" });
    expect(result.ok).toBe(false);
    const deep = scan(inputOf(row), { maxDepth: 1_000_000 });
    expect(deep.ok).toBe(false);
  });

  it.each(Object.entries(DECISIONS))("decides %s as %s", (name, [code]) => {
    const row = suite.cases.find((candidate) => candidate.name === name);
    const result = scan(inputOf(row ?? { name }));
    expect(result.ok ? null : result.error.code).toBe(code);
  });
});

describe("scan, where it fails", () => {
  const rows: readonly { input: string; code: string; offset: number; line: number; column: number; path: string }[] = [
    { input: "", code: "json_syntax", offset: 0, line: 1, column: 1, path: "$" },
    { input: " \n ", code: "json_syntax", offset: 3, line: 2, column: 2, path: "$" },
    { input: "[1,\n 2,\n x]", code: "json_syntax", offset: 9, line: 3, column: 2, path: "$[2]" },
    { input: "[1,]", code: "json_syntax", offset: 3, line: 1, column: 4, path: "$[1]" },
    { input: '{"a":1,}', code: "json_syntax", offset: 7, line: 1, column: 8, path: "$" },
    { input: '{"a" 1}', code: "json_syntax", offset: 5, line: 1, column: 6, path: "$.a" },
    { input: '{"é":nul}', code: "json_syntax", offset: 6, line: 1, column: 6, path: '$["é"]' },
    {
      input: '{"messages":[{"a":[]},{"content":"\t"}]}',
      code: "json_syntax",
      offset: 34,
      line: 1,
      column: 35,
      path: "$.messages[1].content",
    },
    { input: '{"a":{"b":[[],[0,-]]}}', code: "json_syntax", offset: 18, line: 1, column: 19, path: "$.a.b[1][1]" },
    { input: '{"a b":{"\\u0063":"\\x"}}', code: "json_syntax", offset: 18, line: 1, column: 19, path: '$["a b"].c' },
    { input: '{"a":{"b":1},"a":2}', code: "json_duplicate_member", offset: 13, line: 1, column: 14, path: "$" },
    { input: '[{"a":1,"\\u0061":2}]', code: "json_duplicate_member", offset: 8, line: 1, column: 9, path: "$[0]" },
    { input: '[{"a":1,"b":2,"a":3},x', code: "json_duplicate_member", offset: 14, line: 1, column: 15, path: "$[0]" },
    { input: "{} {}", code: "json_syntax", offset: 3, line: 1, column: 4, path: "$" },
  ];
  it.each(rows)("says where for $input", ({ input, ...expected }) => {
    const result = scan(Buffer.from(input));
    expect(result).toMatchObject({ ok: false, error: expected });
  });

  it("reports the first invalid byte when the text is broken behind it", () => {
    const result = scan(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x78]));
    expect(result).toMatchObject({ ok: false, error: { code: "json_encoding", offset: 2 } });
  });

  it("reports the syntax error when the invalid byte is behind it", () => {
    const result = scan(Buffer.from([0x5b, 0x78, 0x22, 0xff, 0x22]));
    expect(result).toMatchObject({ ok: false, error: { code: "json_syntax", offset: 1 } });
  });

  it("shortens long names and deep paths, and never shows values", () => {
    const result = scan(Buffer.from(`{"${"n".repeat(500)}":["secret",${'{"a":'.repeat(60)}"secret\n`));
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.error.message.length).toBeLessThan(400);
    expect(result.error.path).toContain("…");
    expect(result.error.message).not.toContain("secret");
  });
});

describe("scan limits", () => {
  const nest = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  const members = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(",")}}`;
  const rows: readonly { name: string; limits?: ScanLimits; atLimit: string; past: string; code: string }[] = [
    { name: "default depth", atLimit: nest(128), past: nest(129), code: "json_depth" },
    {
      name: "depth in objects",
      limits: { maxDepth: 2 },
      atLimit: '{"a":{},"b":[]}',
      past: '{"a":{"b":{}}}',
      code: "json_depth",
    },
    { name: "depth 0", limits: { maxDepth: 0 }, atLimit: "1", past: "[]", code: "json_depth" },
    { name: "members", limits: { maxMembers: 5 }, atLimit: members(5), past: members(6), code: "json_members" },
    { name: "members 0", limits: { maxMembers: 0 }, atLimit: "{}", past: members(1), code: "json_members" },
    { name: "default members", atLimit: members(100_000), past: members(100_001), code: "json_members" },
    { name: "nodes in an array", limits: { maxNodes: 4 }, atLimit: "[1,2,3]", past: "[1,2,3,4]", code: "json_members" },
    {
      name: "nodes in an object",
      limits: { maxNodes: 5 },
      atLimit: members(2),
      past: members(3),
      code: "json_members",
    },
    {
      name: "nodes beyond one tape",
      limits: { maxNodes: 1001 },
      atLimit: `[${"0,".repeat(999)}0]`,
      past: `[${"0,".repeat(1000)}0]`,
      code: "json_members",
    },
    { name: "one node", limits: { maxNodes: 1 }, atLimit: "[]", past: "[0]", code: "json_members" },
  ];
  it.each(rows)("accepts $name at the limit and refuses it one past", ({ limits, atLimit, past, code }) => {
    expect(scan(Buffer.from(atLimit), limits).ok).toBe(true);
    expect(scan(Buffer.from(past), limits)).toMatchObject({ ok: false, error: { code } });
  });
});

/** Texts near JSON: valid ones with white space, and the same with a few bytes changed. */
const spacing = fc.constantFrom("", " ", "\n\t", "\r\n  ");
const validText = fc
  .tuple(
    fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }),
    fc.constantFrom(undefined, 1, 2, "\t"),
    spacing,
    spacing,
  )
  .map(([value, indent, before, after]) => `${before}${JSON.stringify(value, null, indent)}${after}`);
const escapedText = fc
  .array(
    fc.oneof(
      fc.constantFrom("\\n", "\\u00e9", "\\ud83d\\ude00", "\\ud800", "\\/", "\\\\", '\\"', "é", "😀", "#", "]", "!"),
      fc.string({ maxLength: 9 }).map((s) => JSON.stringify(s).slice(1, -1)),
    ),
  )
  .map((pieces) => `["${pieces.join("")}"]`);
const brokenText = fc
  .tuple(
    fc.oneof(validText, escapedText),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\0-.eE+tfn \n\u0001u'.split(""))), { maxLength: 3 }),
  )
  .map(([text, changes]) => {
    let changed = text;
    for (const [at, character] of changes) {
      const place = at % (changed.length + 1);
      changed = changed.slice(0, place) + character + changed.slice(place + (at % 2));
    }
    return changed;
  });

function parseOrNothing(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // Not JSON: that is the answer.
    return null;
  }
}

/** All that a result says, with offsets counted from the start of the text. The message names the offset and is left out. */
function outcomeOf(result: ScanResult, textStart: number): unknown {
  if (!result.ok) return { ...result.error, message: "", offset: result.error.offset - textStart };
  const { document } = result;
  return { value: document.value(0), start: document.start(0) - textStart, end: document.end(0) - textStart };
}

describe("scan, compared with JSON.parse", () => {
  it("accepts the same texts and gives the same values", () => {
    fc.assert(
      fc.property(fc.oneof(validText, escapedText, brokenText), (text) => {
        const bytes = Buffer.from(text);
        // What UTF-8 cannot hold was replaced by the encoder; both sides read the same bytes.
        const expected = parseOrNothing(bytes.toString());
        const result = scan(bytes, { duplicates: "last-wins" });
        const actual = result.ok ? { value: result.document.value(0) } : null;
        expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
      }),
      { numRuns: 2000 },
    );
  });

  it("gives the same result at every alignment and inside other bytes", () => {
    fc.assert(
      fc.property(
        fc.oneof(validText, brokenText),
        fc.nat(7),
        fc.nat(7),
        fc.constantFrom(0x22, 0x5c, 0x20, 0xff),
        (text, before, after, fill) => {
          const inner = Buffer.from(text);
          const whole = new Uint8Array(before + inner.length + after).fill(fill);
          whole.set(inner, before);
          const alone = outcomeOf(scan(Uint8Array.from(inner)), 0);
          expect(outcomeOf(scan(whole.subarray(before, before + inner.length)), 0)).toEqual(alone);
          expect(outcomeOf(scanRange(whole, before, before + inner.length), before)).toEqual(alone);
        },
      ),
    );
  });

  it("finds a stop byte at every place of a long string", () => {
    for (const stop of ['"', "\\", "\u001f"]) {
      for (let place = 0; place < 40; place++) {
        for (const neighbour of ["#", "]", "!", "a", "é"]) {
          const text = `"${neighbour.repeat(place)}${stop}${neighbour.repeat(40)}"`;
          expect(scan(Buffer.from(text)).ok).toBe(parseOrNothing(text) !== null);
        }
      }
    }
  });
});

describe("scan, its slices", () => {
  it("rejoin to the input bytes", () => {
    fc.assert(
      fc.property(validText, (text) => {
        const bytes = Buffer.from(text);
        const result = scan(bytes, { duplicates: "last-wins" });
        if (!result.ok) throw new Error(result.error.message);
        const { document } = result;
        const rejoin = (node: number): string => {
          const raw = document.raw(node);
          let at = raw.start;
          let out = "";
          const take = (child: number): void => {
            out += bytes.toString("utf8", at, document.start(child)) + rejoin(child);
            at = document.end(child);
          };
          for (let key = document.firstMember(node); key !== ABSENT; key = document.nextMember(key)) {
            take(key);
            take(document.memberValue(key));
          }
          for (let item = document.firstElement(node); item !== ABSENT; item = document.nextElement(item)) take(item);
          return out + bytes.toString("utf8", at, raw.end);
        };
        const whole =
          bytes.toString("utf8", 0, document.start(0)) + rejoin(0) + bytes.toString("utf8", document.end(0));
        expect(whole).toBe(text);
      }),
    );
  });
});

describe("scanRange", () => {
  it.each([
    [-1, 2],
    [0, 3],
    [2, 1],
    [0.5, 2],
  ])("throws a RangeError for %d to %d in two bytes", (start, end) => {
    expect(() => scanRange(Buffer.from("{}"), start, end)).toThrow(RangeError);
  });
});

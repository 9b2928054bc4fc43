import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Document } from "./document.ts";
import { scan } from "./scan.ts";
import type { ScanLimits } from "./scan-limits.ts";
import { ABSENT, JsonKind } from "./tape.ts";

function documentOf(text: string, limits?: ScanLimits): Document {
  // A plain Uint8Array at an odd offset: what a Buffer does by itself is not what is tested.
  const padded = new Uint8Array(Buffer.byteLength(text) + 3);
  padded.set(Buffer.from(text), 3);
  const result = scan(padded.subarray(3), limits);
  if (!result.ok) throw new Error(result.error.message);
  return result.document;
}

describe("Document, kinds", () => {
  const rows = [
    { text: "{}", kind: JsonKind.object, question: "isObject" },
    { text: "[]", kind: JsonKind.array, question: "isArray" },
    { text: '""', kind: JsonKind.string, question: "isString" },
    { text: "0", kind: JsonKind.number, question: "isNumber" },
    { text: "true", kind: JsonKind.true, question: "isBoolean" },
    { text: "false", kind: JsonKind.false, question: "isBoolean" },
    { text: "null", kind: JsonKind.null, question: "isNull" },
  ] as const;
  const questions = ["isObject", "isArray", "isString", "isNumber", "isBoolean", "isNull"] as const;
  it.each(rows)("tells $text", ({ text, kind, question }) => {
    const document = documentOf(text);
    expect(document.kind(0)).toBe(kind);
    expect(questions.filter((each) => document[each](0))).toEqual([question]);
  });

  it("answers no to every question about ABSENT", () => {
    const document = documentOf("{}");
    expect(questions.filter((each) => document[each](ABSENT))).toEqual([]);
    expect(document.kind(ABSENT)).toBe(0);
    expect(document.count(ABSENT)).toBe(0);
    expect(document.member(ABSENT, "a")).toBe(ABSENT);
    expect(document.firstMember(ABSENT)).toBe(ABSENT);
    expect(document.firstElement(ABSENT)).toBe(ABSENT);
    expect(document.stringEquals(ABSENT, "")).toBe(false);
    expect(document.hasEscape(ABSENT)).toBe(false);
    expect(document.value(ABSENT)).toBeUndefined();
  });
});

describe("Document.member", () => {
  const text = '{"a":1,"\\u0062":2,"ä":3,"":4,"__proto__":5,"a\\n":6,"ab":7}';
  it.each([
    ["a", 1],
    ["b", 2],
    ["ä", 3],
    ["", 4],
    ["__proto__", 5],
    ["a\n", 6],
    ["ab", 7],
    ["\\u0062", undefined],
    ["A", undefined],
    ["abc", undefined],
    ["é", undefined],
    ["toString", undefined],
  ])("finds %j as %j", (name, expected) => {
    const document = documentOf(text);
    expect(document.value(document.member(0, name))).toBe(expected);
  });

  it("takes the last of repeated names, also when spelled with an escape", () => {
    const document = documentOf('{"a":1,"b":2,"\\u0061":3}', { duplicates: "last-wins" });
    expect(document.value(document.member(0, "a"))).toBe(3);
    expect(document.value(0)).toEqual({ b: 2, a: 3 });
    expect(document.count(0)).toBe(3);
  });

  it("gives ABSENT for what is no object", () => {
    expect(documentOf('["a"]').member(0, "a")).toBe(ABSENT);
  });
});

describe("Document, values", () => {
  it("keeps a member __proto__ a member", () => {
    const value = documentOf('{"__proto__":{"x":1}}').value(0) as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value)).toEqual(["__proto__"]);
  });

  it("gives text and raw slices of the source, undecoded", () => {
    const document = documentOf('{"t":"a\\u00e9b","n":1.0e0}');
    const { bytes, start, end } = document.text(document.member(0, "t"));
    expect(bytes).toBe(document.bytes);
    expect(Buffer.from(bytes.subarray(start, end)).toString()).toBe("a\\u00e9b");
    const raw = document.raw(document.member(0, "n"));
    expect(Buffer.from(raw.bytes.subarray(raw.start, raw.end)).toString()).toBe("1.0e0");
    expect(document.hasEscape(document.member(0, "t"))).toBe(true);
    expect(document.hasEscape(document.member(0, "n"))).toBe(false);
  });

  it.each(["0", "-0", "1e400", "12345678901234567890", "1.5E-3", "-12.25"])(
    "reads the number %s as JSON.parse does",
    (text) => {
      expect(documentOf(text).number(0)).toBe(JSON.parse(text));
    },
  );

  it("keeps a lone surrogate escape in a string", () => {
    expect(documentOf('"\\ud800x"').string(0)).toBe("\ud800x");
  });

  it("compares strings as their decoded values compare", () => {
    const value = fc.string({ unit: fc.constantFrom("a", "b", "é", "日", "😀", "\n", '"'), maxLength: 4 });
    fc.assert(
      fc.property(value, value, (a, b) => {
        const document = documentOf(JSON.stringify(a));
        expect(document.stringEquals(0, b)).toBe(a === b);
        expect(document.stringEquals(0, a)).toBe(true);
      }),
    );
  });
});

describe("Document.path", () => {
  it("gives a JSON Pointer that leads to the node", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        const document = documentOf(text);
        const visit = (node: number, pointer: string): void => {
          expect(document.path(node)).toBe(pointer);
          for (let key = document.firstMember(node); key !== ABSENT; key = document.nextMember(key)) {
            const step = `${pointer}/${document.memberName(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
            expect(document.path(key)).toBe(step);
            visit(document.memberValue(key), step);
          }
          let index = 0;
          for (let item = document.firstElement(node); item !== ABSENT; item = document.nextElement(item))
            visit(item, `${pointer}/${index++}`);
          expect(document.isArray(node) ? document.count(node) : 0).toBe(index);
        };
        visit(0, "");
      }),
    );
  });

  it("escapes tilde and slash (RFC 6901 §3)", () => {
    const document = documentOf('{"a/b~c":[1]}');
    expect(document.path(document.firstElement(document.member(0, "a/b~c")))).toBe("/a~1b~0c/0");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { indexedRange, indexedText, originalText, storedText } from "./stored-text.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("\u0000", "\u001a", "\ud800", "\udc00", "0", "a", "#", "😀"), { maxLength: 12 })
    .map((parts) => parts.join("")),
);

/** As both databases compare: byte by byte in UTF-8. */
const compare = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

describe("storedText", () => {
  it("leaves all text alone that databases can hold", () => {
    for (const text of ["", "plain", "'quoted' \"text\" \\ {a,b}", "line\r\nfeed", "é e\u0301 😀 \u{10ffff} \uffff"])
      expect(storedText(text)).toBe(text);
  });

  it("holds no NUL and no lone surrogate, and comes back as it was", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = storedText(text);
        expect([Buffer.from(stored).toString(), stored.includes("\u0000")]).toEqual([stored, false]);
        expect(originalText(stored)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("indexedText", () => {
  it.each([
    { length: 400, isWhole: true },
    { length: 401, isWhole: false },
  ])("of $length characters is whole: $isWhole", ({ length, isWhole }) => {
    expect(indexedText("x".repeat(length)) === "x".repeat(length)).toBe(isWhole);
  });

  it("of any text fits into an index of PostgreSQL", () => {
    for (const unit of ["x", "\u0000", "\ud800", "😀", "\uffff"])
      for (const count of [100, 400, 401, 70_000])
        expect(Buffer.byteLength(indexedText(unit.repeat(count)))).toBeLessThan(2_700);
  });

  it("tells long texts apart, and from short ones that look like them", () => {
    const texts = ["a", "b", "\ud800", "\udc00"].flatMap((end) => [
      `${"x".repeat(70_000)}${end}`,
      `${"x".repeat(99)}😀${"x".repeat(400)}${end}`,
    ]);
    const alike = texts.map((text) => indexedText(text));
    expect(new Set([...alike, ...alike.map((text) => indexedText(text))]).size).toBe(2 * texts.length);
  });
});

describe("indexedRange", () => {
  it("has every indexed text with this beginning", () => {
    const beginning = fc.oneof(
      anyText,
      fc.tuple(fc.nat(110), anyText).map(([length, end]) => "x".repeat(length) + end),
    );
    const rest = fc.oneof(anyText, fc.constantFrom("/1", "y".repeat(500)));
    fc.assert(
      fc.property(beginning, rest, (first, second) => {
        const [from, to] = indexedRange(first);
        // A beginning that ends within a pair is no beginning of what the pair makes whole.
        fc.pre(storedText(first + second).startsWith(storedText(first)));
        const indexed = indexedText(first + second);
        expect([compare(from, indexed) <= 0, compare(indexed, to) < 0]).toEqual([true, true]);
      }),
      { numRuns: 2_000 },
    );
  });
});

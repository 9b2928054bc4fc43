import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { ByteSlice } from "../json/index.ts";
import {
  isEmptyText,
  isSlice,
  numToNumber,
  rawToValue,
  retainRaw,
  retainText,
  textEquals,
  textToString,
} from "./text.ts";

/** A slice in the middle of a buffer that is itself in the middle of its memory. */
function slice(text: string): ByteSlice {
  const inner = Buffer.from(text);
  const memory = new Uint8Array(inner.byteLength + 10).fill(0x21);
  memory.set(inner, 5);
  return { bytes: memory.subarray(2), start: 3, end: 3 + inner.byteLength };
}

const escaped = (text: string): ByteSlice => slice(JSON.stringify(text).slice(1, -1));

describe("texts", () => {
  it.each([
    { text: "plain", expected: "plain" },
    { text: slice(String.raw`a\n\u00e9\ud83d\ude00`), expected: "a\né😀" },
    { text: slice("ä😀"), expected: "ä😀" },
    { text: slice(""), expected: "" },
  ])("decode to $expected", ({ text, expected }) => {
    expect(textToString(text)).toBe(expected);
    expect(isEmptyText(text)).toBe(expected === "");
  });

  it("are equal when they decode to the same, whatever their form (property)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (left, right) => {
        expect(textToString(escaped(left))).toBe(left);
        expect(textEquals(escaped(left), left)).toBe(true);
        expect(textEquals(left, escaped(right))).toBe(left === right);
      }),
    );
  });

  it("outlive their buffer once retained", () => {
    const text = slice("kept");
    const kept = retainText(text);
    text.bytes.fill(0xdb);
    expect(textToString(kept)).toBe("kept");
    expect(retainText("string")).toBe("string");
  });
});

describe("raw values and numbers", () => {
  it.each([
    { raw: slice('{"a":[1,"é"]}'), expected: { a: [1, "é"] } },
    { raw: { value: { b: null } }, expected: { b: null } },
    { raw: slice("null"), expected: null },
  ])("decode to $expected", ({ raw, expected }) => {
    expect(rawToValue(raw)).toEqual(expected);
  });

  it("outlive their buffer once retained", () => {
    const raw = slice("[1]");
    const kept = retainRaw(raw);
    raw.bytes.fill(0xdb);
    expect(rawToValue(kept)).toEqual([1]);
    const made = { value: 1 };
    expect(retainRaw(made)).toBe(made);
  });

  it.each([
    { num: slice("-0.5e1"), expected: -5 },
    { num: slice("1e400"), expected: Number.POSITIVE_INFINITY },
    { num: 7, expected: 7 },
  ])("read a number as $expected", ({ num, expected }) => {
    expect(numToNumber(num)).toBe(expected);
  });

  it("tell references from values", () => {
    expect([isSlice(slice("x")), isSlice("x"), isSlice(1), isSlice({ value: { bytes: 1 } })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

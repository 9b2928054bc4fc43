import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeText, encodeString, escapeBytes, unescapeBytes } from "./json-string.ts";
import type { ByteSlice } from "./tape.ts";

const inside = (text: string): ByteSlice => {
  const bytes = Buffer.from(`xx${text}yyy`);
  return { bytes, start: 2, end: bytes.length - 3 };
};
const textOf = ({ bytes, start, end }: ByteSlice): string => Buffer.from(bytes.subarray(start, end)).toString();
/** Any string, lone surrogates included, with the characters that JSON treats apart made likely. */
const anyString = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'"\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\ud800\udc00é日'.split("")),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});
/** The inside of a token, each unit escaped in full, in short or not at all. */
const anyToken = fc.array(fc.tuple(anyString, fc.boolean())).map((pieces) =>
  pieces
    .map(([text, isFull]) =>
      isFull
        ? text
            .split("")
            .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
            .join("")
        : JSON.stringify(text).slice(1, -1),
    )
    .join(""),
);

describe("encodeString and decodeText", () => {
  it("are inverse for any string, lone surrogates included", () => {
    fc.assert(
      fc.property(anyString, (value) => {
        const token = encodeString(value);
        expect(Buffer.from(token).toString()).toBe(token);
        expect(decodeText(inside(token.slice(1, -1)))).toBe(value);
      }),
    );
  });
});

describe("unescapeBytes", () => {
  const rows = [
    { name: "all short escapes", input: '\\"\\\\\\/\\b\\f\\n\\r\\t', expected: '"\\/\b\f\n\r\t' },
    { name: "hexadecimal in both cases", input: "\\u00E9\\u00e9", expected: "éé" },
    { name: "a surrogate pair", input: "a\\ud83d\\ude00b", expected: "a😀b" },
    { name: "a lone high surrogate at the end", input: "a\\ud83d", expected: "a\ufffd" },
    { name: "two high surrogates and a low one", input: "\\ud83d\\ud83d\\ude00", expected: "\ufffd😀" },
    { name: "a high surrogate before another escape", input: "\\ud83d\\n", expected: "\ufffd\n" },
    { name: "a high surrogate before plain text", input: "\\ud83du0041", expected: "\ufffdu0041" },
    { name: "a low surrogate first", input: "\\ude00\\ud83d", expected: "\ufffd\ufffd" },
    { name: "an escape at each end", input: "\\nmid\\n", expected: "\nmid\n" },
  ];
  it.each(rows)("decodes $name", ({ input, expected }) => {
    expect(Buffer.from(unescapeBytes(inside(input))).toString()).toBe(expected);
  });

  it("gives a view of the source when there is no escape", () => {
    const slice = inside("plain é");
    const out = unescapeBytes(slice);
    expect(out.buffer).toBe(slice.bytes.buffer);
    expect(Buffer.from(out).toString()).toBe("plain é");
  });

  it("gives the UTF-8 of what decodeText gives", () => {
    fc.assert(
      fc.property(anyToken, (token) => {
        const slice = inside(token);
        expect(Buffer.from(unescapeBytes(slice))).toEqual(Buffer.from(decodeText(slice)));
      }),
      { numRuns: 500 },
    );
  });
});

describe("escapeBytes", () => {
  it("gives the range itself when nothing needs an escape", () => {
    const slice = inside("plain é /\u007f");
    expect(escapeBytes(slice.bytes, slice.start, slice.end)).toEqual(slice);
    expect(escapeBytes(slice.bytes, slice.start, slice.end).bytes).toBe(slice.bytes);
  });

  it("writes what JSON.stringify writes, and unescapeBytes takes it back", () => {
    fc.assert(
      fc.property(anyString, (value) => {
        const bytes = Buffer.from(value);
        const escaped = escapeBytes(bytes, 0, bytes.length);
        expect(textOf(escaped)).toBe(JSON.stringify(bytes.toString()).slice(1, -1));
        expect(Buffer.from(unescapeBytes(escaped))).toEqual(bytes);
      }),
      { numRuns: 500 },
    );
  });
});

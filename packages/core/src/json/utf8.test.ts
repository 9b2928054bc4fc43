import { isUtf8 } from "node:buffer";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { firstInvalidUtf8, isUtf8Range } from "./utf8.ts";

describe("firstInvalidUtf8", () => {
  const rows: readonly { name: string; bytes: readonly number[]; expected: number }[] = [
    { name: "ASCII", bytes: [0x61], expected: -1 },
    { name: "a lone continuation byte", bytes: [0x61, 0x80], expected: 1 },
    { name: "an overlong two-byte form", bytes: [0xc1, 0xbf], expected: 0 },
    { name: "an overlong three-byte form", bytes: [0xe0, 0x9f, 0xbf], expected: 0 },
    { name: "a surrogate", bytes: [0xed, 0xa0, 0x80], expected: 0 },
    { name: "the last code point before the surrogates", bytes: [0xed, 0x9f, 0xbf], expected: -1 },
    { name: "an overlong four-byte form", bytes: [0xf0, 0x8f, 0xbf, 0xbf], expected: 0 },
    { name: "U+10FFFF", bytes: [0xf4, 0x8f, 0xbf, 0xbf], expected: -1 },
    { name: "beyond U+10FFFF", bytes: [0xf4, 0x90, 0x80, 0x80], expected: 0 },
    { name: "a sequence cut at the end", bytes: [0x61, 0xf0, 0x9f, 0x98], expected: 1 },
  ];
  it.each(rows)("gives $expected for $name", ({ bytes, expected }) => {
    expect(firstInvalidUtf8(Uint8Array.from(bytes), 0, bytes.length)).toBe(expected);
  });

  it("agrees with isUtf8 on any bytes, and everything before the offset is valid", () => {
    const likely = fc.constantFrom(
      0x41,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
      0xff,
    );
    fc.assert(
      fc.property(fc.array(likely, { maxLength: 12 }), (list) => {
        const bytes = Uint8Array.from(list);
        const offset = firstInvalidUtf8(bytes, 0, bytes.length);
        expect(offset === -1).toBe(isUtf8(bytes));
        expect(isUtf8(bytes.subarray(0, Math.max(offset, 0)))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("isUtf8Range", () => {
  it("looks at the range only", () => {
    const bytes = Uint8Array.from([0xff, 0x61, 0xff]);
    expect(isUtf8Range(bytes, 1, 2)).toBe(true);
    expect(isUtf8Range(bytes, 0, 3)).toBe(false);
  });
});

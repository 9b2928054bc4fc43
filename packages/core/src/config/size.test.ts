import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MAX_SIZE_BYTES, readSizeBytes } from "./size.ts";

describe("readSizeBytes", () => {
  const rows: readonly { readonly size: string | number; readonly expected: number | null }[] = [
    { size: 1, expected: 1 },
    { size: 65_536, expected: 65_536 },
    { size: MAX_SIZE_BYTES, expected: MAX_SIZE_BYTES },
    { size: MAX_SIZE_BYTES + 1, expected: null },
    { size: 0, expected: null },
    { size: -1, expected: null },
    { size: 1.5, expected: null },
    { size: Number.NaN, expected: null },
    { size: "1B", expected: 1 },
    { size: "1kB", expected: 1000 },
    { size: "1KB", expected: 1000 },
    { size: "1KiB", expected: 1024 },
    { size: "3MB", expected: 3_000_000 },
    { size: "32MiB", expected: 33_554_432 },
    { size: "1GB", expected: 1_000_000_000 },
    { size: "1GiB", expected: MAX_SIZE_BYTES },
    { size: "2GiB", expected: null },
    { size: "32", expected: null },
    { size: "32 MiB", expected: null },
    { size: "32mib", expected: null },
    { size: "0MiB", expected: null },
    { size: "1.5MiB", expected: null },
    { size: "", expected: null },
  ];
  it.each(rows)("reads $size as $expected", ({ size, expected }) => {
    expect(readSizeBytes(size)).toBe(expected);
  });

  it("gives bytes within the bound, or null, for any text or number", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^[0-9]{1,13}([KMG]i?)?B$/)), (size) => {
        const bytes = readSizeBytes(size);
        expect(bytes === null || (Number.isInteger(bytes) && bytes >= 1 && bytes <= MAX_SIZE_BYTES)).toBe(true);
      }),
    );
  });
});

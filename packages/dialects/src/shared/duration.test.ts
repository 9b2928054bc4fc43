import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { formatDuration, readDurationMs } from "./duration.ts";

describe("readDurationMs", () => {
  it.each([
    ["1h2m3s", 3_723_000],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["", undefined],
    ["x", undefined],
    ["5", undefined],
  ])("reads '%s' as %s", (text, expected) => {
    expect(readDurationMs(text)).toBe(expected);
  });
});

describe("formatDuration", () => {
  it.each([
    [360_000, "6m0s"],
    [120, "120ms"],
    [119.2, "120ms"],
    [1000, "1s"],
    [1500, "1.5s"],
    [59_999.9, "1m0s"],
    [61_001, "1m1.001s"],
    [3_600_000, "1h0m0s"],
    [90_061_000, "25h1m1s"],
    [0, "0s"],
    [-5, "0s"],
    [Number.NaN, "0s"],
  ])("writes %d ms as %s", (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });

  it("writes what is read again as the same time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), (ms) => {
        expect(readDurationMs(formatDuration(ms))).toBeCloseTo(ms, 3);
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MAX_DURATION_MS, readDurationMs } from "./duration.ts";

describe("readDurationMs", () => {
  const rows: readonly { readonly text: string; readonly expected: number | null }[] = [
    { text: "1ms", expected: 1 },
    { text: "10s", expected: 10_000 },
    { text: "5m", expected: 300_000 },
    { text: "1h", expected: 3_600_000 },
    { text: "24d", expected: 2_073_600_000 },
    { text: "25d", expected: null },
    { text: `${MAX_DURATION_MS}ms`, expected: MAX_DURATION_MS },
    { text: `${MAX_DURATION_MS + 1}ms`, expected: null },
    { text: "0s", expected: null },
    { text: "01s", expected: null },
    { text: "1.5s", expected: null },
    { text: "-1s", expected: null },
    { text: "10", expected: null },
    { text: "10 s", expected: null },
    { text: "10S", expected: null },
    { text: "1h30m", expected: null },
    { text: "10s\n", expected: null },
    { text: "off", expected: null },
    { text: "", expected: null },
  ];
  it.each(rows)("reads $text as $expected", ({ text, expected }) => {
    expect(readDurationMs(text)).toBe(expected);
  });

  it("gives milliseconds within the bound, or null, for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9]{1,12}(ms|s|m|h|d)$/)), (text) => {
        const milliseconds = readDurationMs(text);
        expect(milliseconds === null || (milliseconds >= 1 && milliseconds <= MAX_DURATION_MS)).toBe(true);
      }),
    );
  });
});

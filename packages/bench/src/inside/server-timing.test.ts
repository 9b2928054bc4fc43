import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseServerTiming } from "./server-timing.ts";

describe("parseServerTiming", () => {
  it.each([
    { name: "one entry", value: "gateway;dur=0.42", expected: [{ metric: "gateway", durationMs: 0.42 }] },
    {
      name: "several entries",
      value: 'cache;desc="miss", db;dur=53, app;dur=47.2',
      expected: [
        { metric: "db", durationMs: 53 },
        { metric: "app", durationMs: 47.2 },
      ],
    },
    {
      name: "a quoted description with separators",
      value: 'a;desc="x, y; dur=9";dur=1',
      expected: [{ metric: "a", durationMs: 1 }],
    },
    {
      name: "white space",
      value: " a ; dur = 2 , b;dur=3",
      expected: [
        { metric: "a", durationMs: 2 },
        { metric: "b", durationMs: 3 },
      ],
    },
    { name: "no duration", value: "miss", expected: [] },
    { name: "nothing", value: "", expected: [] },
    { name: "a quote that never ends", value: 'a;dur=1, b;desc="', expected: [{ metric: "a", durationMs: 1 }] },
  ])("reads $name", ({ value, expected }) => {
    expect(parseServerTiming(value)).toEqual(expected);
  });

  it("ends on any text", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        for (const { durationMs } of parseServerTiming(value)) expect(durationMs).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

import { describe, expect, it } from "vitest";

import { ExchangeTiming } from "./exchange-timing.ts";

interface Row {
  readonly name: string;
  readonly marks: readonly (readonly [atMs: number, mark: "markBody" | "markSend" | "markAnswer"])[];
  readonly expected: string;
}

const ROWS: readonly Row[] = [
  { name: "a request that was refused by its head", marks: [], expected: "" },
  { name: "a request whose body came", marks: [[1.5, "markBody"]], expected: "read;dur=1.500" },
  {
    name: "a call without an answer",
    marks: [
      [1, "markBody"],
      [1.25, "markSend"],
    ],
    expected: "read;dur=1.000, gateway;dur=0.250",
  },
  {
    name: "an answered call",
    marks: [
      [1, "markBody"],
      [2, "markSend"],
      [102.0004, "markAnswer"],
    ],
    expected: "read;dur=1.000, gateway;dur=1.000, upstream;dur=100.000",
  },
  {
    name: "a second call after one that failed with an answer",
    marks: [
      [1, "markBody"],
      [2, "markSend"],
      [5, "markAnswer"],
      [10, "markSend"],
      [14, "markAnswer"],
    ],
    expected: "read;dur=1.000, gateway;dur=1.000, upstream;dur=4.000",
  },
  {
    name: "a second call that has no answer yet",
    marks: [
      [1, "markBody"],
      [2, "markSend"],
      [5, "markAnswer"],
      [10, "markSend"],
    ],
    expected: "read;dur=1.000, gateway;dur=1.000",
  },
];

describe("ExchangeTiming", () => {
  it.each(ROWS)("tells the parts of $name", ({ marks, expected }) => {
    let nowMs = 0;
    const timing = new ExchangeTiming({ monotonicMs: () => nowMs });
    for (const [atMs, mark] of marks) {
      nowMs = atMs;
      timing[mark]();
    }
    expect(timing.header()).toBe(expected);
  });
});

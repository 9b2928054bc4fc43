import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { calendarWindow, type CalendarUnit } from "./calendar.ts";
import { CalendarWindow, SlidingWindow } from "./spend-window.ts";

describe("calendarWindow", () => {
  it.each<{ readonly unit: CalendarUnit; readonly at: string; readonly start: string; readonly end: string }>([
    { unit: "minute", at: "2026-11-30T12:34:59.999Z", start: "2026-11-30T12:34:00Z", end: "2026-11-30T12:35:00Z" },
    { unit: "hour", at: "2026-11-30T12:00:00Z", start: "2026-11-30T12:00:00Z", end: "2026-11-30T13:00:00Z" },
    { unit: "day", at: "2026-12-31T23:59:59Z", start: "2026-12-31T00:00:00Z", end: "2027-01-01T00:00:00Z" },
    { unit: "week", at: "2026-11-30T00:00:00Z", start: "2026-11-30T00:00:00Z", end: "2026-12-07T00:00:00Z" },
    { unit: "week", at: "2026-11-29T23:59:59Z", start: "2026-11-23T00:00:00Z", end: "2026-11-30T00:00:00Z" },
    { unit: "month", at: "2028-02-29T12:00:00Z", start: "2028-02-01T00:00:00Z", end: "2028-03-01T00:00:00Z" },
    { unit: "month", at: "2026-12-31T12:00:00Z", start: "2026-12-01T00:00:00Z", end: "2027-01-01T00:00:00Z" },
  ])("puts $at into the $unit from $start to $end", ({ unit, at, start, end }) => {
    expect(calendarWindow(unit, Date.parse(at))).toEqual({ startMs: Date.parse(start), endMs: Date.parse(end) });
  });
});

describe("CalendarWindow", () => {
  it("starts anew at the end of its unit and at no other time, also when the clock goes back", () => {
    const window = new CalendarWindow("minute");
    window.roll(60_000);
    window.add(5);
    window.roll(119_999);
    expect(window.spent).toBe(5);
    window.roll(30_000);
    expect(window.spent).toBe(5);
    window.roll(120_000);
    expect(window.spent).toBe(0);
    expect(window.waitMs(170_000)).toBe(10_000);
  });
});

const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 90_000 }), fc.nat(1000)), { maxLength: 60 });

describe("SlidingWindow", () => {
  it.each([60_000, 1000, 600_000, 3_600_000])(
    "of %i ms forgets nothing too early and everything at the latest one part too late",
    (lengthMs) => {
      fc.assert(
        fc.property(steps, (moves) => {
          const window = new SlidingWindow(lengthMs);
          const spends: { readonly atMs: number; readonly amount: number }[] = [];
          let nowMs = 1_780_000_000_000;
          for (const [waitMs, amount] of moves) {
            nowMs += waitMs;
            window.roll(nowMs);
            window.add(amount);
            spends.push({ atMs: nowMs, amount });
            const since = (fromMs: number): number =>
              spends.reduce((sum, spend) => (spend.atMs > fromMs ? sum + spend.amount : sum), 0);
            expect(window.spent).toBeGreaterThanOrEqual(since(nowMs - lengthMs));
            expect(window.spent).toBeLessThanOrEqual(since(nowMs - lengthMs - lengthMs / 60 - 1));
          }
        }),
        { numRuns: 500 },
      );
    },
  );

  it("has freed what was asked for after the wait it told, and not yet a millisecond before", () => {
    fc.assert(
      fc.property(steps, fc.nat(2000), (moves, excess) => {
        const window = new SlidingWindow(60_000);
        const twin = new SlidingWindow(60_000);
        let nowMs = 1_780_000_000_000;
        for (const [waitMs, amount] of moves) {
          nowMs += waitMs;
          for (const each of [window, twin]) {
            each.roll(nowMs);
            each.add(amount);
          }
        }
        const before = window.spent;
        fc.pre(excess > 0 && excess <= before);
        const waitMs = window.waitMs(nowMs, excess);
        twin.roll(nowMs + waitMs - 1);
        expect(before - twin.spent).toBeLessThan(excess);
        window.roll(nowMs + waitMs);
        expect(before - window.spent).toBeGreaterThanOrEqual(excess);
      }),
      { numRuns: 1000 },
    );
  });

  it("stays at a whole number when more is booked than a double counts", () => {
    const window = new SlidingWindow(1000);
    window.roll(0);
    window.add(Number.MAX_SAFE_INTEGER);
    window.add(5);
    expect(window.spent).toBe(Number.MAX_SAFE_INTEGER);
    window.roll(10_000);
    expect(window.spent).toBe(0);
  });
});

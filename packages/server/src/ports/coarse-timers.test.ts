import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { CoarseTimers } from "./coarse-timers.ts";

const TICK_MS = 100;
let nowMs = 0;

beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => vi.useRealTimers());

function advance(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1) {
    nowMs += 1;
    vi.advanceTimersByTime(1);
  }
}

describe("coarse timers", () => {
  it("call back once, never early and at most a tick late, unless cancelled", () => {
    const step = fc.record({ delayMs: fc.nat(900), cancelAfterMs: fc.option(fc.nat(900)) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const timers = new CoarseTimers(TICK_MS, () => nowMs);
        const startMs = nowMs;
        const calls: number[][] = steps.map(() => []);
        const pending = steps.map(({ delayMs }, index) =>
          timers.schedule(delayMs, () => calls[index]?.push(nowMs - startMs)),
        );
        for (let at = 0; at <= 1_100; at += 1) {
          steps.forEach(({ cancelAfterMs }, index) => {
            if (cancelAfterMs === at) pending[index]?.cancel();
          });
          advance(1);
        }
        steps.forEach(({ delayMs, cancelAfterMs }, index) => {
          const called = calls[index] ?? [];
          const mustCall = cancelAfterMs === null || cancelAfterMs > delayMs + TICK_MS;
          const mayCall = cancelAfterMs === null || cancelAfterMs >= delayMs;
          expect([called.length >= Number(mustCall), called.length <= Number(mayCall)]).toEqual([true, true]);
          for (const at of called) expect([at >= delayMs, at <= delayMs + TICK_MS + 1]).toEqual([true, true]);
        });
        expect(timers.size).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it("stop ticking when nothing is pending", () => {
    const timers = new CoarseTimers(TICK_MS, () => nowMs);
    timers.schedule(50, () => undefined);
    advance(2 * TICK_MS + 1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("go on when a callback throws", () => {
    const timers = new CoarseTimers(TICK_MS, () => nowMs);
    let calls = 0;
    timers.schedule(10, () => {
      throw new Error("a defect");
    });
    timers.schedule(10, () => (calls += 1));
    expect(() => advance(TICK_MS + 1)).toThrow("a defect");
    advance(2 * TICK_MS);
    expect(calls).toBe(1);
  });
});

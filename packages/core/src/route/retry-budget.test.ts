import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { RetryBudget } from "./retry-budget.ts";

/** Takes repetitions until none is granted. */
function drain(budget: RetryBudget, nowMs: number): number {
  let granted = 0;
  for (; budget.hasRoom(nowMs); granted++) budget.spend(nowMs);
  return granted;
}

describe("RetryBudget", () => {
  it("grants its floor without any traffic, and the floor anew every second", () => {
    const budget = new RetryBudget(0);
    expect(drain(budget, 0)).toBe(10);
    expect(drain(budget, 99)).toBe(0);
    expect(drain(budget, 100)).toBe(1);
    expect(drain(budget, 1_100)).toBe(10);
    expect(drain(budget, 3_600_000)).toBe(10);
  });

  it("grants a fifth of the requests on top of the floor", () => {
    const budget = new RetryBudget(0);
    for (let request = 0; request < 1_000; request++) budget.earn();
    // Sums of 0.2 may miss a whole number by the last bit.
    expect(Math.abs(drain(budget, 0) - 210)).toBeLessThanOrEqual(1);
  });

  it("remembers a thousand repetitions at most", () => {
    const budget = new RetryBudget(0);
    for (let request = 0; request < 100_000; request++) budget.earn();
    expect(drain(budget, 0)).toBe(1_010);
  });

  it("takes from the floor first, so that earned room lasts", () => {
    const budget = new RetryBudget(0, 1, 1);
    budget.earn();
    budget.spend(0);
    expect(budget.hasRoom(0)).toBe(true);
    budget.spend(0);
    expect(budget.hasRoom(0)).toBe(false);
    expect(budget.hasRoom(1_000)).toBe(true);
  });

  it("is not filled by a clock that goes back", () => {
    const budget = new RetryBudget(10_000);
    drain(budget, 10_000);
    expect(budget.hasRoom(9_000)).toBe(false);
    expect(budget.hasRoom(9_050)).toBe(false);
  });

  it("never grants more than floor, elapsed time and share allow (property)", () => {
    const steps = fc.array(
      fc.oneof(fc.constant("earn" as const), fc.constant("spend" as const), fc.integer({ min: 1, max: 2_000 })),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(steps, (rows) => {
        const budget = new RetryBudget(0, 0.5, 4);
        let nowMs = 0;
        let earned = 0;
        let granted = 0;
        for (const row of rows) {
          if (row === "earn") {
            budget.earn();
            earned += 0.5;
          } else if (row === "spend") {
            if (!budget.hasRoom(nowMs)) continue;
            budget.spend(nowMs);
            granted += 1;
          } else nowMs += row;
          expect(granted).toBeLessThanOrEqual(4 + (nowMs / 1_000) * 4 + earned + 1e-6);
        }
      }),
    );
  });
});

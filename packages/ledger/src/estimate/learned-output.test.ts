import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { LearnedOutput } from "./learned-output.ts";

describe("LearnedOutput", () => {
  it("expects the initial length of an unknown model, and the model's own for a new key of a known one", () => {
    const learned = new LearnedOutput({ initialTokens: 7 });
    expect(learned.expect("m", "a")).toBe(7);
    learned.learn("m", "a", 100);
    expect([learned.expect("m", "a"), learned.expect("m", "b"), learned.expect("other", "a")]).toEqual([150, 150, 7]);
  });

  it("comes near the length of steady answers", () => {
    const learned = new LearnedOutput();
    learned.learn("m", "a", 5000);
    for (let answer = 0; answer < 100; answer += 1) learned.learn("m", "a", 200);
    expect(learned.expect("m", "a")).toBeLessThan(210);
    expect(learned.expect("m", "a")).toBeGreaterThanOrEqual(200);
  });

  it("keeps a bounded number of pairs, those learned from last", () => {
    const learned = new LearnedOutput({ maxPairs: 3, initialTokens: 1 });
    for (const key of ["a", "b", "c"]) learned.learn(`m-${key}`, key, 100);
    learned.learn("m-a", "a", 100);
    learned.learn("m-d", "d", 100);
    expect(learned.size).toBe(3);
    expect([learned.expect("m-a", "a") > 1, learned.expect("m-b", "b"), learned.expect("m-d", "d") > 1]).toEqual([
      true,
      1,
      true,
    ]);
  });

  it("never expects less than nothing or more than it has seen with its deviation", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), { minLength: 1 }), (lengths) => {
        const learned = new LearnedOutput();
        for (const length of lengths) learned.learn("m", "k", length);
        const expected = learned.expect("m", "k");
        expect(expected).toBeGreaterThanOrEqual(0);
        expect(expected).toBeLessThanOrEqual(Math.max(...lengths) * 2 + 1);
      }),
    );
  });
});

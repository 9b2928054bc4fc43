import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { orderByWeight } from "./order.ts";

/** Low-discrepancy numbers in [0, 1): the golden ratio sequence fills the interval evenly. */
function evenly(): () => number {
  let value = 0;
  return () => {
    value = (value + 0.618_033_988_749_895) % 1;
    return value;
  };
}

const weighted = (...weights: readonly number[]): readonly { readonly weight: number; readonly id: number }[] =>
  weights.map((weight, id) => ({ weight, id }));

describe("orderByWeight", () => {
  it("gives back what it got for none and one, without a draw", () => {
    const never = (): number => {
      throw new Error("no draw is needed");
    };
    const one = weighted(1);
    expect(orderByWeight([], never)).toEqual([]);
    expect(orderByWeight(one, never)).toBe(one);
  });

  it.each([
    { random: 0, expected: [0, 1, 2] },
    { random: 0.249, expected: [0, 1, 2] },
    { random: 0.25, expected: [1, 0, 2] },
    { random: 0.999_999, expected: [2, 1, 0] },
  ])("draws by the share of the weight at $random", ({ random, expected }) => {
    expect(orderByWeight(weighted(1, 1, 2), () => random).map(({ id }) => id)).toEqual(expected);
  });

  it("puts weight 0 last in the given order", () => {
    expect(orderByWeight(weighted(0, 1, 0), () => 0.5).map(({ id }) => id)).toEqual([1, 0, 2]);
    expect(orderByWeight(weighted(0, 0), () => 0.5).map(({ id }) => id)).toEqual([0, 1]);
  });

  it("puts each first as often as its weight says", () => {
    const random = evenly();
    const items = weighted(1, 2, 5);
    const firsts = [0, 0, 0];
    for (let draw = 0; draw < 8_000; draw++) {
      const [first] = orderByWeight(items, random);
      firsts[first?.id ?? 0] = (firsts[first?.id ?? 0] ?? 0) + 1;
    }
    for (const [id, expected] of [1_000, 2_000, 5_000].entries())
      expect(Math.abs((firsts[id] ?? 0) - expected)).toBeLessThan(200);
  });

  it("is a permutation and leaves its input alone (property)", () => {
    const anyItems = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 12 });
    const anyDraws = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
    fc.assert(
      fc.property(anyItems, anyDraws, (weights, draws) => {
        const items = Object.freeze([...weighted(...weights)]);
        const ordered = orderByWeight(items, () => draws.next().value as number);
        expect([...ordered].sort((left, right) => left.id - right.id)).toEqual(items);
      }),
    );
  });
});

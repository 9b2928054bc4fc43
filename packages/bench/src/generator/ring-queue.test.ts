// The queue against an array.
import fc from "fast-check";
import { expect, it } from "vitest";

import { pickRequest } from "./mix.ts";
import { RingQueue } from "./ring-queue.ts";

it("gives back what was put in, in order, across growth and wrap-around", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -40, max: 60 }), { maxLength: 150 }), (moves) => {
      const queue = new RingQueue();
      const model: [number, number][] = [];
      let next = 0;
      for (const move of moves) {
        for (let count = 0; count < move * 20; count += 1) {
          next += 1;
          queue.push(next % 7, next);
          model.push([next % 7, next]);
        }
        for (let count = 0; count > move * 20 && model.length > 0; count -= 1) {
          expect([queue.peekRequest(), queue.peekDueUs()]).toEqual(model.shift());
          queue.drop();
        }
        expect(queue.length).toBe(model.length);
      }
    }),
    { numRuns: 20 },
  );
});

it("mixes requests in the stated shares, the same for the same seed", () => {
  const weights = [60, 15, 10, 5, 5, 5];
  const counts = weights.map(() => 0);
  for (let index = 0; index < 100_000; index += 1) {
    const picked = pickRequest(weights, 42, index);
    counts[picked] = (counts[picked] ?? 0) + 1;
    expect(pickRequest(weights, 42, index)).toBe(picked);
  }
  weights.forEach((weight, index) => expect(Math.abs((counts[index] ?? 0) / 1000 - weight)).toBeLessThan(0.5));
});

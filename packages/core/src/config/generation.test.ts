import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isGatewayError } from "../errors/index.ts";
import { GenerationHolder } from "./generation.ts";
import type { Snapshot } from "./snapshot.ts";

const snapshot = (generation: number): Snapshot => ({ generation }) as unknown as Snapshot;

const codeOf = (act: () => void): string | null => {
  try {
    act();
    return null;
  } catch (error) {
    return isGatewayError(error) ? error.code : "unexpected";
  }
};

describe("GenerationHolder", () => {
  it("retires a replaced snapshot when its last request lets go of it", () => {
    const retired: number[] = [];
    const holder = new GenerationHolder(snapshot(1), ({ generation }) => retired.push(generation));
    const held = holder.acquire();
    expect(holder.acquire()).toBe(held);
    holder.swap(snapshot(2));
    expect(holder.current().generation).toBe(2);
    expect(holder.inFlight(held)).toBe(2);
    holder.release(held);
    expect(retired).toEqual([]);
    holder.release(held);
    expect(retired).toEqual([1]);
    expect(holder.replacedCount).toBe(0);
  });

  it("retires an unused snapshot as it is replaced, and never the current one", () => {
    const retired: number[] = [];
    const holder = new GenerationHolder(snapshot(1), ({ generation }) => retired.push(generation));
    holder.release(holder.acquire());
    expect(retired).toEqual([]);
    holder.swap(snapshot(5));
    expect(retired).toEqual([1]);
  });

  it("refuses a generation that does not grow and a release without an acquire", () => {
    const holder = new GenerationHolder(snapshot(3));
    expect(codeOf(() => holder.swap(snapshot(3)))).toBe("state_violation");
    expect(codeOf(() => holder.swap(snapshot(2)))).toBe("state_violation");
    expect(codeOf(() => holder.release(holder.current()))).toBe("state_violation");
    expect(codeOf(() => holder.release(snapshot(9)))).toBe("state_violation");
  });

  it("retires each replaced snapshot exactly once, after its last release, in any order of steps", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant("swap"), fc.constant("acquire"), fc.nat(50)), { maxLength: 80 }),
        (steps) => {
          const retired: number[] = [];
          const held: Snapshot[] = [];
          let generation = 1;
          const holder = new GenerationHolder(snapshot(1), (old) => {
            expect(held).not.toContain(old);
            retired.push(old.generation);
          });
          for (const step of steps) {
            if (step === "swap") holder.swap(snapshot(++generation));
            else if (step === "acquire") held.push(holder.acquire());
            else {
              const [released] = held.splice(Number(step), 1);
              if (released !== undefined) holder.release(released);
            }
          }
          for (const each of held.splice(0)) holder.release(each);
          expect(retired.toSorted((left, right) => left - right)).toEqual(
            Array.from({ length: generation - 1 }, (_, index) => index + 1),
          );
        },
      ),
    );
  });
});

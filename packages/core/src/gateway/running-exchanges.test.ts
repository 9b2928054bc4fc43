import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { RunningList, type RunningMember } from "./running-exchanges.ts";

describe("the list of running exchanges", () => {
  it("holds what was added and not removed, whatever the order", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(7)), { maxLength: 60 }), (steps) => {
        const list = new RunningList<RunningMember & { readonly id: number }>();
        const members = Array.from({ length: 8 }, (_, id) => ({ id, runningSlot: -1 }));
        const model = new Set<number>();
        for (const [isAdded, id] of steps) {
          const member = members[id] as (typeof members)[number];
          if (isAdded && !model.has(id)) {
            list.add(member);
            model.add(id);
          } else if (!isAdded) {
            list.remove(member);
            model.delete(id);
          }
          expect(list.size).toBe(model.size);
          expect(new Set(list.members().map((each) => each.id))).toEqual(model);
        }
      }),
    );
  });

  it("lets go of what was removed", () => {
    const list = new RunningList<RunningMember>();
    const [first, second] = [{ runningSlot: -1 }, { runningSlot: -1 }];
    list.add(first);
    list.add(second);
    list.remove(first);
    list.remove(first);
    expect([first.runningSlot, second.runningSlot, list.members()]).toEqual([-1, 0, [second]]);
  });
});

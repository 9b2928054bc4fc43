import { describe, expect, it } from "vitest";

import { deepFreeze, freezeMap, freezeSet } from "./freeze.ts";

describe("freezing", () => {
  it("lets a map and a set be read and not changed", () => {
    const map = freezeMap(new Map([["a", 1]]));
    const set = freezeSet(new Set(["a"]));
    expect([map.get("a"), [...map], set.has("a"), [...set]]).toEqual([1, [["a", 1]], true, ["a"]]);
    for (const change of ["set", "delete", "clear"] as const)
      expect(() => (map as Map<string, number>)[change]("a", 2)).toThrow(TypeError);
    for (const change of ["add", "delete", "clear"] as const)
      expect(() => (set as Set<string>)[change]("a")).toThrow(TypeError);
    expect([map.size, set.size]).toEqual([1, 1]);
  });

  it("freezes plain objects and lists at any depth and leaves instances alone", () => {
    const instance = new (class {
      value = 1;
    })();
    const tree = deepFreeze({ list: [{ deep: 1 }], instance });
    expect([tree, tree.list, tree.list[0]].every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(instance)).toBe(false);
  });
});

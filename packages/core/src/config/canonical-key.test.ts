import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { canonicalKey } from "./canonical-key.ts";

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
};

describe("canonicalKey", () => {
  it("is the same for any order of members", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalKey(reversed(value))).toBe(canonicalKey(value));
      }),
    );
  });

  it("tells different values apart", () => {
    const values = [1, "1", null, [], {}, [1, 2], [2, 1], { a: 1 }, { a: [1] }, { b: 1 }, { a: 1, b: 1 }, "a:1", true];
    expect(new Set(values.map(canonicalKey)).size).toBe(values.length);
  });

  it("takes an undefined member for an absent one", () => {
    expect(canonicalKey({ a: undefined, b: 1 })).toBe(canonicalKey({ b: 1 }));
  });
});

import { describe, expect, test } from "vitest";

import { encodablePart, isRemoved, restorePlace } from "./encodable-part.ts";
import { placesOf, valueAt } from "./json-places.ts";
import type { JsonObject } from "./spelled-json.ts";

const BODY: JsonObject = { a: 1, list: ["x", "bad", "y", { bad: 1, good: 2 }], b: { bad: 3 } };

/** Refuses whatever is or is called bad, one round after the other. */
const refusing =
  (limit: number) =>
  (body: JsonObject): readonly string[] =>
    placesOf(body)
      .filter((place) => place.endsWith("/bad") || valueAt(body, place) === "bad")
      .slice(0, limit);

describe("encodablePart", () => {
  test.each([1, 2, 9])("takes out all that is refused, %d places a round", (limit) => {
    const { body, removed } = encodablePart(BODY, refusing(limit));
    expect(body).toEqual({ a: 1, list: ["x", "y", { good: 2 }], b: {} });
    expect([...removed].sort()).toEqual(["/b/bad", "/list/1", "/list/3/bad"]);
  });

  test("leaves a body alone that is refused as a whole", () => {
    expect(encodablePart(BODY, () => ["", "header:x"])).toEqual({ body: BODY, removed: new Set() });
  });

  test("stops where the rest would be no request", () => {
    const { removed } = encodablePart(BODY, (body) => ("a" in body ? ["/a"] : null));
    expect(removed.size).toBe(0);
  });
});

test.each([
  { place: "/list/0", removed: ["/list/0"], expected: "/list/1" },
  { place: "/list/1/0", removed: ["/list/1", "/list/2"], expected: "/list/3/0" },
  { place: "/list/0/1", removed: ["/list/0", "/list/1/0"], expected: "/list/1/2" },
  { place: "/a/b", removed: ["/list/0"], expected: "/a/b" },
  { place: "", removed: ["/a"], expected: "" },
])("restorePlace finds $place again where $removed is gone", ({ place, removed, expected }) => {
  expect(restorePlace(place, new Set(removed))).toBe(expected);
});

test("isRemoved is true of a place and all below it", () => {
  const removed = new Set(["/a/b"]);
  expect(["/a/b", "/a/b/c", "/a/bc", "/a"].map((place) => isRemoved(place, removed))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

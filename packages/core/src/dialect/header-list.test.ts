import { describe, expect, it } from "vitest";

import { findHeader, findHeaders } from "./header-list.ts";

const HEADERS = ["Accept", "a", "X-Many", "1", "x-many", "2", "x-empty", ""];

describe("findHeader", () => {
  it.each([
    { name: "accept", expected: "a" },
    { name: "x-many", expected: "1" },
    { name: "x-empty", expected: "" },
    { name: "a", expected: undefined },
    { name: "x-man", expected: undefined },
  ])("finds the first value of $name without regard to case", ({ name, expected }) => {
    expect(findHeader(HEADERS, name)).toBe(expected);
  });

  it("takes no value for a name, and no name without a value for a field", () => {
    expect(findHeader(["x", "accept", "accept", "b"], "accept")).toBe("b");
    expect(findHeader(["accept"], "accept")).toBeUndefined();
  });
});

describe("findHeaders", () => {
  it("finds every value in order", () => {
    expect(findHeaders(HEADERS, "x-many")).toEqual(["1", "2"]);
    expect(findHeaders(HEADERS, "x-none")).toEqual([]);
  });
});

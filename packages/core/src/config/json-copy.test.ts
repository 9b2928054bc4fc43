import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { copyJson, MAX_CONFIG_DEPTH, MAX_CONFIG_VALUES } from "./json-copy.ts";

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
};

const firstProblem = (value: unknown): unknown => {
  const copy = copyJson(value);
  return copy.ok ? null : copy.problems[0];
};

describe("copyJson", () => {
  it("gives an equal value that shares no object with the original, for any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = copyJson(value);
        expect(copy).toEqual({ ok: true, value });
        const isObject = typeof value === "object" && value !== null;
        expect(copy.ok && copy.value === value).toBe(!isObject);
      }),
    );
  });

  it("leaves undefined members out and keeps __proto__ a member", () => {
    const copy = copyJson(JSON.parse('{"__proto__": {"a": 1}}'));
    expect(copy.ok && Object.keys(copy.value as object)).toEqual(["__proto__"]);
    expect(copy.ok && Object.getPrototypeOf(copy.value)).toBe(Object.prototype);
    expect(copyJson({ a: undefined })).toEqual({ ok: true, value: {} });
  });

  it("takes the deepest nesting and refuses one more level", () => {
    expect(firstProblem(nested(MAX_CONFIG_DEPTH))).toBeNull();
    expect(firstProblem(nested(MAX_CONFIG_DEPTH + 1))).toEqual({
      path: "/0".repeat(MAX_CONFIG_DEPTH),
      message: "must be nested at most 32 levels deep",
    });
  });

  it("takes the most values and refuses one more, with one problem", () => {
    const list = (length: number): readonly unknown[] => Array.from({ length }, () => 0);
    expect(firstProblem(list(MAX_CONFIG_VALUES - 1))).toBeNull();
    expect(copyJson(list(MAX_CONFIG_VALUES + 5))).toEqual({
      ok: false,
      problems: [{ path: "", message: "must hold at most 1000000 values" }],
    });
  });
});

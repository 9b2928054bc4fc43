import { describe, expect, test } from "vitest";

import type { Raw } from "@dragoman/core";

import { moveToDescription, satisfiesStrictRules, unsupportedKeywords, withObjectType } from "./schema-rules.ts";

const raw = (json: string): Raw => {
  const bytes = Buffer.from(`[${json}]`);
  return { bytes, start: 1, end: bytes.length - 1 };
};
const textOf = (schema: Raw): string =>
  "bytes" in schema
    ? Buffer.from(schema.bytes).subarray(schema.start, schema.end).toString()
    : JSON.stringify(schema.value);

describe("satisfiesStrictRules", () => {
  test.each([
    ['{"type":"object","properties":{},"additionalProperties":false}', true],
    ['{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}', true],
    ['{"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false}', false],
    ['{"type":"object","properties":{"a":{}},"required":["a"]}', false],
    [
      '{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}},"required":["a"],"additionalProperties":false}',
      false,
    ],
    [
      '{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":["object","null"]}]}}},"required":["a"],"additionalProperties":false}',
      false,
    ],
    [
      '{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"type":"object","properties":{"y":{}}}}}',
      false,
    ],
    ['{"type":"string"}', false],
    ["true", false],
  ])("%s is %s", (schema, expected) => {
    expect(satisfiesStrictRules(raw(schema))).toBe(expected);
  });

  test("does not take a property for a keyword", () => {
    expect(
      satisfiesStrictRules(
        raw(
          '{"type":"object","properties":{"properties":{"type":"string"}},"required":["properties"],"additionalProperties":false}',
        ),
      ),
    ).toBe(true);
  });
});

describe("withObjectType", () => {
  test.each([
    ['{"type":"object", "x": 1.0}', '{"type":"object", "x": 1.0}'],
    ['{ "properties":{"s":{"type":"string"}} }', '{ "properties":{"s":{"type":"string"}},"type":"object" }'],
    ["{}", '{"type":"object","properties":{}}'],
    ["null", '{"type":"object","properties":{}}'],
    ['{"type":"string"}', null],
    ['{"anyOf":[]}', null],
    ["[]", null],
  ])("%s becomes %s", (schema, expected) => {
    const result = withObjectType(raw(schema));
    expect(result.ok ? textOf(result.schema) : null).toBe(expected);
  });

  test("makes an empty object schema of nothing", () => {
    const result = withObjectType(undefined);
    expect(result.ok ? textOf(result.schema) : null).toBe('{"type":"object","properties":{}}');
  });
});

describe("keywords that a target lacks", () => {
  const subset = {
    allowed: (keyword: string, value: unknown) => keyword !== "minimum" && !(keyword === "format" && value === "odd"),
    requireClosedObjects: true,
  };

  test("are found wherever schemas are", () => {
    const schema = raw(
      '{"type":"object","properties":{"minimum":{"type":"integer","minimum":1},"b":{"anyOf":[{"format":"odd"},{"format":"date"}]}},"additionalProperties":false}',
    );
    expect(unsupportedKeywords(schema, subset)).toEqual([
      "/properties/minimum/minimum",
      "/properties/b/anyOf/0/format",
    ]);
    expect(unsupportedKeywords(raw('{"type":"object"}'), subset)).toEqual(["/additionalProperties"]);
    expect(unsupportedKeywords(raw('{"type":"string"}'), subset)).toEqual([]);
  });

  test("move into the description in words, and open objects are closed", () => {
    const schema = raw(
      '{"type":"object","properties":{"a":{"type":"integer","minimum":1,"description":"n"},"b":{"minimum": 2}},"additionalProperties":true}',
    );
    expect(textOf(moveToDescription(schema, subset))).toBe(
      String.raw`{"type":"object","properties":{"a":{"type":"integer","description":"n\nminimum: 1"},"b":{"description":"minimum: 2"}},"additionalProperties":false}`,
    );
  });
});

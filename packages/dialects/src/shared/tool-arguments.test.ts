import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { concat, SegmentWriter } from "@dragoman/core";
import type { ArgumentText } from "@dragoman/core";

import { argumentsAsValue, argumentsToText, writeArgumentsAsString } from "./tool-arguments.ts";

const inToken = (json: string): ArgumentText => {
  const bytes = Buffer.from(JSON.stringify(json));
  return { text: { bytes, start: 1, end: bytes.length - 1 }, encoded: true };
};
const plain = (json: string): ArgumentText => {
  const bytes = Buffer.from(json);
  return { text: { bytes, start: 0, end: bytes.length }, encoded: false };
};

function valueOf(argument: ArgumentText): string | null {
  const value = argumentsAsValue(argument);
  return value.ok ? Buffer.from(value.raw.bytes).subarray(value.raw.start, value.raw.end).toString() : null;
}

function asString(argument: ArgumentText): string {
  const writer = new SegmentWriter();
  writeArgumentsAsString(writer, argument);
  return Buffer.from(concat(writer.finish())).toString();
}

describe("argumentsAsValue", () => {
  test.each([
    ['{"c": 12345678901234567890, "d":1.0}', '{"c": 12345678901234567890, "d":1.0}'],
    [' {"a":"\\u00e9\\n"} ', '{"a":"\\u00e9\\n"}'],
    ["", "{}"],
    [" \n\t", "{}"],
    ["[1]", null],
    ['"x"', null],
    ["null", null],
    ['{"a":', null],
    ['{"a":1} x', null],
  ])("%j", (json, expected) => {
    for (const argument of [inToken(json), plain(json), { text: json, encoded: true }])
      expect(valueOf(argument)).toBe(expected);
  });

  test("takes decoded values", () => {
    expect(valueOf({ text: { value: { a: 1 } }, encoded: false })).toBe('{"a":1}');
  });
});

describe("writeArgumentsAsString", () => {
  test("writes any JSON so that it reads back the same, from every form", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        for (const argument of [inToken(json), plain(json), { text: json, encoded: false }]) {
          expect(JSON.parse(asString(argument))).toBe(json);
          expect(argumentsToText(argument)).toBe(json);
        }
      }),
    );
  });
});

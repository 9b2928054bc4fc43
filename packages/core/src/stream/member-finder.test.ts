import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MemberFinder } from "./member-finder.ts";

interface Found {
  readonly complete: boolean;
  readonly value: string | null;
}

function findIn(chunks: readonly Uint8Array[], name = "usage", maxBytes = 1000): Found {
  const finder = new MemberFinder({ name, maxBytes });
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    finder.push(lent);
    lent.fill(0xdb);
  }
  const { complete, value } = finder.finish();
  return { complete, value: value === null ? null : Buffer.from(value).toString("utf8") };
}

const bytesOf = (input: string): Buffer => Buffer.from(input, "utf8");
const singles = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (byte) => Uint8Array.of(byte));
const cutEvery = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

const rows: readonly { name: string; input: string; expected: Found }[] = [
  { name: "an empty text", input: "", expected: { complete: false, value: null } },
  { name: "white space", input: " \n", expected: { complete: false, value: null } },
  { name: "an empty object", input: "{}", expected: { complete: true, value: null } },
  {
    name: "an object",
    input: '{"a":1,"usage":{"n":[1,{"x":"}"}]},"b":2}',
    expected: { complete: true, value: '{"n":[1,{"x":"}"}]}' },
  },
  { name: "a number", input: '{"usage":12}', expected: { complete: true, value: "12" } },
  {
    name: "a number with white space around",
    input: ' {"usage" : 12 \n, "b":1} ',
    expected: { complete: true, value: "12" },
  },
  { name: "a literal at the end", input: '{"a":[],"usage":null}', expected: { complete: true, value: "null" } },
  {
    name: "a string with escapes",
    input: '{"usage":"a\\"}\\\\","b":"\\\\"}',
    expected: { complete: true, value: '"a\\"}\\\\"' },
  },
  {
    name: "the last occurrence",
    input: '{"usage":1,"usage":{"n":2},"a":3}',
    expected: { complete: true, value: '{"n":2}' },
  },
  {
    name: "no nested occurrence",
    input: '{"a":{"usage":1},"b":[{"usage":2}]}',
    expected: { complete: true, value: null },
  },
  {
    name: "no occurrence in a value",
    input: '{"a":"usage","b":["usage",1]}',
    expected: { complete: true, value: null },
  },
  {
    name: "no longer or shorter name",
    input: '{"usages":1,"usag":2,"Usage":3,"":4}',
    expected: { complete: true, value: null },
  },
  { name: "an escaped name", input: '{"\\u0075s\\u0061ge":1}', expected: { complete: true, value: "1" } },
  {
    name: "a fully escaped name",
    input: '{"\\u0075\\u0073\\u0061\\u0067\\u0065":1}',
    expected: { complete: true, value: "1" },
  },
  { name: "a name with a bad escape", input: '{"usage\\x":1}', expected: { complete: true, value: null } },
  { name: "an array", input: '["usage",{"usage":1}]', expected: { complete: true, value: null } },
  { name: "an outermost number", input: "12", expected: { complete: true, value: null } },
  { name: "an outermost number and white space", input: "12 ", expected: { complete: true, value: null } },
  { name: "an outermost string", input: '"usage"', expected: { complete: true, value: null } },
  { name: "an outermost string without end", input: '"usage', expected: { complete: false, value: null } },
  { name: "two values without a comma", input: '{"usage":1 2}', expected: { complete: true, value: "1" } },
  { name: "a second value", input: '{"usage":1} {}', expected: { complete: false, value: "1" } },
  { name: "two numbers", input: "1 2", expected: { complete: false, value: null } },
  { name: "a number that runs into an object", input: "1{}", expected: { complete: false, value: null } },
  { name: "an outermost comma", input: ",", expected: { complete: false, value: null } },
  { name: "an object without end", input: '{"usage":{"n":1},"b":"', expected: { complete: false, value: '{"n":1}' } },
  { name: "a value without end", input: '{"usage":{"n":1', expected: { complete: false, value: null } },
  { name: "a number that may go on", input: '{"usage":12', expected: { complete: false, value: null } },
  { name: "an end inside an escape", input: '{"usage":1,"a":"\\', expected: { complete: false, value: "1" } },
  { name: "brackets that do not match", input: '{"a":[}]', expected: { complete: false, value: null } },
  { name: "one bracket too many", input: '{"usage":1}}', expected: { complete: false, value: "1" } },
  { name: "a closing bracket first", input: "]{}", expected: { complete: false, value: null } },
  { name: "brackets inside strings", input: '{"a":"[{","usage":"]}"}', expected: { complete: true, value: '"]}"' } },
  {
    name: "characters of several bytes",
    input: '{"é":1,"usage":"北🙂"}',
    expected: { complete: true, value: '"北🙂"' },
  },
];

describe("MemberFinder", () => {
  it.each(rows)("reads $name, whole, byte by byte and with one cut anywhere", ({ input, expected }) => {
    const bytes = bytesOf(input);
    expect(findIn([bytes])).toEqual(expected);
    expect(findIn(singles(bytes))).toEqual(expected);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(findIn([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toEqual(expected);
    }
  });

  it("keeps a value at the bound and drops it one byte past it, also the last of several", () => {
    const input = bytesOf('{"usage":1,"usage":"1234"}');
    for (const chunks of [[input], singles(input)]) {
      expect(findIn(chunks, "usage", 6)).toEqual({ complete: true, value: '"1234"' });
      expect(findIn(chunks, "usage", 5)).toEqual({ complete: true, value: null });
    }
  });

  it("finds a value behind one that was too long", () => {
    expect(findIn([bytesOf('{"usage":"123456","usage":1}')], "usage", 5)).toEqual({ complete: true, value: "1" });
  });

  it("reads nesting up to its bound and calls deeper texts broken", () => {
    const nested = (depth: number): Buffer => bytesOf("[".repeat(depth) + "]".repeat(depth));
    expect(findIn([nested(1024)]).complete).toBe(true);
    expect(findIn([nested(1025)]).complete).toBe(false);
  });

  it("looks for any name", () => {
    expect(findIn([bytesOf('{"":1}')], "")).toEqual({ complete: true, value: "1" });
    expect(findIn([bytesOf('{"a\\"b北":1}')], 'a"b北')).toEqual({ complete: true, value: "1" });
  });

  const name = fc.oneof(fc.constantFrom("usage", "a", "usag", "usage\\"), fc.string({ maxLength: 6 }));
  const members = fc.array(fc.tuple(name, fc.jsonValue({ maxDepth: 3 })), { maxLength: 6 });
  const space = fc.constantFrom("", "", " ", "\n\t", "\r\n  ");
  const document = fc.tuple(members, space, fc.constantFrom(undefined, 2)).map(([list, gap, indent]) => {
    const inner = list.map(
      ([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${JSON.stringify(value, null, indent)}${gap}`,
    );
    return `${gap}{${inner.join(",")}${gap}}${gap}`;
  });

  it("agrees with JSON.parse on any document however it is cut", () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 1, max: 40 }), fc.constantFrom("usage", "a"), (input, size, wanted) => {
        const { complete, value } = findIn(cutEvery(bytesOf(input), size), wanted, 1 << 20);
        const parsed = JSON.parse(input) as Record<string, unknown>;
        expect(complete).toBe(true);
        expect(value === null ? undefined : JSON.parse(value)).toEqual(
          Object.hasOwn(parsed, wanted) ? parsed[wanted] : undefined,
        );
      }),
      { numRuns: 500 },
    );
  });

  it("never calls a document complete before its last bracket, nor with more behind it", () => {
    fc.assert(
      fc.property(members, fc.nat(), (list, where) => {
        const input = bytesOf(
          `{${list.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
        );
        expect(findIn([input.subarray(0, where % input.length)]).complete).toBe(false);
        expect(findIn([input, bytesOf("x")]).complete).toBe(false);
      }),
    );
  });

  it("gives the same answer for any bytes however they are cut", () => {
    const anyBytes = fc
      .array(fc.constantFrom(...bytesOf('{}[],:"\\ usage1\n')), { maxLength: 60 })
      .map((list) => Buffer.from(list));
    const prefixed = fc
      .tuple(fc.constantFrom("", '{"usage":'), anyBytes)
      .map(([head, tail]) => Buffer.concat([bytesOf(head), tail]));
    fc.assert(
      fc.property(prefixed, fc.integer({ min: 1, max: 9 }), (bytes, size) => {
        expect(findIn(cutEvery(bytes, size), "usage", 8)).toEqual(findIn([bytes], "usage", 8));
      }),
      { numRuns: 2000 },
    );
  });
});

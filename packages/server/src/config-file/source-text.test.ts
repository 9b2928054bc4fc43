import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readSource } from "./source-text.ts";

describe("readSource", () => {
  const good: readonly { readonly name: string; readonly text: string; readonly expected: unknown }[] = [
    { name: "YAML", text: "a: 1\nb: [x, y]\n", expected: { a: 1, b: ["x", "y"] } },
    { name: "JSON with tabs", text: '{\n\t"a": 1,\n\t"b": [true, null]\n}\n', expected: { a: 1, b: [true, null] } },
    {
      name: "words that YAML 1.1 took for booleans",
      text: "a: off\nb: no\nc: on\n",
      expected: { a: "off", b: "no", c: "on" },
    },
    { name: "days as texts", text: "a: 2030-01-31\n", expected: { a: "2030-01-31" } },
    { name: "numbers as names", text: "1: x\n", expected: { "1": "x" } },
    { name: "no merge keys", text: "<<: { a: 1 }\n", expected: { "<<": { a: 1 } } },
    { name: "aliases", text: "a: &x [1]\nb: *x\n", expected: { a: [1], b: [1] } },
    { name: "an empty text", text: "", expected: null },
    { name: "a byte order mark", text: "\uFEFFa: 1\n", expected: { a: 1 } },
  ];
  it.each(good)("reads $name", ({ text, expected }) => {
    const reading = readSource(text);
    expect(reading.ok && reading.value).toEqual(expected);
  });

  it("reads __proto__ as a name like any other", () => {
    const reading = readSource("__proto__: { a: 1 }\n");
    expect(reading.ok && Object.keys(reading.value as object)).toEqual(["__proto__"]);
  });

  const bomb = `a: &a [x]\n${Array.from({ length: 12 }, (_, index) => `b${index}: &b${index} [*${index === 0 ? "a" : `b${index - 1}`}, *${index === 0 ? "a" : `b${index - 1}`}]\n`).join("")}`;
  const bad: readonly {
    readonly name: string;
    readonly text: string;
    readonly line: number;
    readonly column: number;
    readonly message: RegExp;
  }[] = [
    { name: "a repeated name", text: "a: 1\nb: 2\na: 3\n", line: 3, column: 1, message: /there twice/ },
    { name: "a repeated name in JSON", text: '{"a": 1, "a": 2}', line: 1, column: 10, message: /there twice/ },
    { name: "two documents", text: "a: 1\n---\nb: 2\n", line: 2, column: 1, message: /one document/ },
    { name: "a tag", text: "a: !x 1\n", line: 1, column: 4, message: /unknown tag/ },
    { name: "an open list", text: "a:\n  - [1\n", line: 3, column: 1, message: /./ },
    { name: "a bad indentation", text: "a:\n  b: 1\n c: 2\n", line: 3, column: 1, message: /same column/ },
    { name: "a list as a name", text: "? [a]\n: 1\n", line: 1, column: 3, message: /names of members are texts/ },
    { name: "an alias without anchor", text: "a: *hunter2\n", line: 1, column: 1, message: /anchor before it/ },
    { name: "aliases that multiply", text: bomb, line: 1, column: 1, message: /at most 100 copies/ },
  ];
  it.each(bad)("refuses $name with its place", ({ text, line, column, message }) => {
    const reading = readSource(text);
    const problem = reading.ok ? null : reading.problems[0];
    expect([problem?.line, problem?.column]).toEqual([line, column]);
    expect(problem?.message).toMatch(message);
    expect(problem?.message).not.toContain("hunter2");
  });

  const places: readonly { readonly path: string; readonly line: number; readonly column: number }[] = [
    { path: "", line: 2, column: 1 },
    { path: "/a", line: 2, column: 1 },
    { path: "/a/b~1c", line: 3, column: 3 },
    { path: "/a/b~1c/1", line: 5, column: 7 },
    { path: "/a/b~1c/1/x", line: 5, column: 7 },
    { path: "/a/b~1c/7", line: 3, column: 3 },
    { path: "/a/missing/deeper", line: 2, column: 1 },
    { path: "/d/b~1c/0", line: 4, column: 7 },
    { path: "/e/y", line: 7, column: 6 },
    { path: "/e/2", line: 7, column: 12 },
  ];
  it.each(places)("finds $path at $line:$column", ({ path, line, column }) => {
    const reading = readSource("# note\na: &a\n  b/c:\n    - 1\n    - x: 2\nd: *a\ne: { y: 1, 2: 3 }\n");
    expect(reading.ok && reading.locate(path)).toEqual({ line, column });
  });

  it("never throws and places every mistake inside the text, for any text", () => {
    const yamlish = fc.array(
      fc.constantFrom("a", ":", " ", "\n", "-", "[", "]", "{", "}", "&x", "*x", "!", "'", '"', "#", "|", "\t", "?"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          yamlish.map((pieces) => pieces.join("")),
          fc.json(),
        ),
        (text) => {
          const reading = readSource(text);
          const lines = text.split("\n").length;
          const found = reading.ok ? [reading.locate("/a/0/b")] : reading.problems;
          for (const { line, column } of found) {
            expect(line).toBeGreaterThanOrEqual(1);
            expect(line).toBeLessThanOrEqual(lines + 1);
            expect(column).toBeGreaterThanOrEqual(1);
          }
        },
      ),
    );
  });
});

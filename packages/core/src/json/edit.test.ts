import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isGatewayError } from "../errors/gateway-error.ts";
import type { Document } from "./document.ts";
import { Edits } from "./edit.ts";
import { scan } from "./scan.ts";
import { concat } from "./segments.ts";
import { ABSENT } from "./tape.ts";

function documentOf(text: string): Document {
  const result = scan(Buffer.from(text));
  if (!result.ok) throw new Error(result.error.message);
  return result.document;
}

/** The node a JSON Pointer leads to; with `#` at its end, the name node of that member. */
function find(document: Document, pointer: string): number {
  let at = document.root;
  const steps = pointer.replace("#", "").split("/").slice(1);
  steps.forEach((step, index) => {
    if (document.isArray(at)) {
      at = document.firstElement(at);
      for (let i = 0; i < Number(step); i++) at = document.nextElement(at);
      return;
    }
    let key = document.firstMember(at);
    while (key !== ABSENT && !document.nameEquals(key, step)) key = document.nextMember(key);
    at = pointer.endsWith("#") && index === steps.length - 1 ? key : document.memberValue(key);
  });
  return at;
}

type Step =
  | readonly ["remove", string]
  | readonly ["replace", string, string]
  | readonly ["insert", string, string, string];

function edit(text: string, steps: readonly Step[]): string {
  const document = documentOf(text);
  const edits = new Edits(document);
  for (const step of steps) {
    const node = find(document, step[1]);
    if (step[0] === "remove") edits.remove(node);
    else if (step[0] === "replace") edits.replace(node, step[2]);
    else edits.insertMember(node, step[2], step[3]);
  }
  return Buffer.from(concat(edits.finish())).toString();
}

describe("Edits", () => {
  const rows: readonly { name: string; text: string; steps: readonly Step[]; expected: string }[] = [
    { name: "nothing", text: '{ "a" : 1.0 }', steps: [], expected: '{ "a" : 1.0 }' },
    {
      name: "a value",
      text: '{ "a" : 1.0 , "b":2}',
      steps: [["replace", "/a", '"x"']],
      expected: '{ "a" : "x" , "b":2}',
    },
    { name: "a name", text: '{"a":1}', steps: [["replace", "/a#", '"z"']], expected: '{"z":1}' },
    { name: "the root", text: "[1]", steps: [["replace", "", "{}"]], expected: "{}" },
    { name: "a new member", text: '{"a":1 }', steps: [["insert", "", 'n"', "[2]"]], expected: '{"a":1,"n\\"":[2] }' },
    {
      name: "a new member in an empty object",
      text: '{"o":{ }}',
      steps: [["insert", "/o", "n", "1"]],
      expected: '{"o":{"n":1 }}',
    },
    {
      name: "two new members",
      text: "{}",
      steps: [
        ["insert", "", "a", "1"],
        ["insert", "", "b", "2"],
      ],
      expected: '{"a":1,"b":2}',
    },
    {
      name: "the first member gone",
      text: '{"a":1, "b":2, "c":3}',
      steps: [["remove", "/a#"]],
      expected: '{"b":2, "c":3}',
    },
    {
      name: "a middle member gone",
      text: '{"a":1, "b":2, "c":3}',
      steps: [["remove", "/b#"]],
      expected: '{"a":1, "c":3}',
    },
    {
      name: "the last member gone",
      text: '{"a":1, "b":2, "c":3 }',
      steps: [["remove", "/c#"]],
      expected: '{"a":1, "b":2 }',
    },
    {
      name: "two neighbours gone",
      text: "[1, 2, 3, 4]",
      steps: [
        ["remove", "/2"],
        ["remove", "/1"],
      ],
      expected: "[1, 4]",
    },
    {
      name: "first and last gone",
      text: "[1,2,3]",
      steps: [
        ["remove", "/0"],
        ["remove", "/2"],
      ],
      expected: "[2]",
    },
    {
      name: "all gone",
      text: "[ 1, 2 ]",
      steps: [
        ["remove", "/0"],
        ["remove", "/1"],
      ],
      expected: "[  ]",
    },
    {
      name: "all gone and one new",
      text: '{ "a":1 }',
      steps: [
        ["remove", "/a#"],
        ["insert", "", "a", "2"],
      ],
      expected: '{"a":2  }',
    },
    {
      name: "last gone and one new",
      text: '{"a":1,"b":2}',
      steps: [
        ["remove", "/b#"],
        ["insert", "", "c", "3"],
      ],
      expected: '{"a":1,"c":3}',
    },
    {
      name: "last value changed and one new",
      text: '{"a":1}',
      steps: [
        ["insert", "", "c", "3"],
        ["replace", "/a", "9"],
      ],
      expected: '{"a":9,"c":3}',
    },
    {
      name: "an element gone from a nested array",
      text: '{"a":[{"b":1,"c":2}]}',
      steps: [["remove", "/a/0/b#"]],
      expected: '{"a":[{"c":2}]}',
    },
  ];
  it.each(rows)("writes $name and leaves the rest", ({ text, steps, expected }) => {
    expect(edit(text, steps)).toBe(expected);
  });

  const violations: readonly { name: string; text: string; steps: readonly Step[] }[] = [
    {
      name: "a value replaced twice",
      text: '{"a":1}',
      steps: [
        ["replace", "/a", "2"],
        ["replace", "/a", "3"],
      ],
    },
    {
      name: "a value inside a replaced one",
      text: '{"a":{"b":1}}',
      steps: [
        ["replace", "/a/b", "2"],
        ["replace", "/a", "3"],
      ],
    },
    {
      name: "a value of a removed member",
      text: '{"a":1}',
      steps: [
        ["replace", "/a", "2"],
        ["remove", "/a#"],
      ],
    },
    {
      name: "a member inside a removed one",
      text: '{"a":{"b":1}}',
      steps: [
        ["remove", "/a#"],
        ["remove", "/a/b#"],
      ],
    },
    {
      name: "a member put into a replaced object",
      text: '{"a":{}}',
      steps: [
        ["replace", "/a", "2"],
        ["insert", "/a", "x", "1"],
      ],
    },
    { name: "a name that is there", text: '{"\\u0061":1}', steps: [["insert", "", "a", "2"]] },
    {
      name: "a name inserted twice",
      text: "{}",
      steps: [
        ["insert", "", "a", "2"],
        ["insert", "", "a", "2"],
      ],
    },
    { name: "a member put into an array", text: "[]", steps: [["insert", "", "a", "2"]] },
    { name: "a value removed without its name", text: '{"a":1}', steps: [["remove", "/a"]] },
    { name: "the root removed", text: "[]", steps: [["remove", ""]] },
  ];
  it.each(violations)("throws state_violation for $name", ({ text, steps }) => {
    let thrown: unknown;
    try {
      edit(text, steps);
    } catch (error) {
      thrown = error;
    }
    expect(isGatewayError(thrown) && thrown.code).toBe("state_violation");
  });

  it("throws state_violation for an absent node and a second finish", () => {
    const edits = new Edits(documentOf("{}"));
    expect(() => edits.replace(ABSENT, "1")).toThrow("absent");
    expect(() => edits.remove(ABSENT)).toThrow("absent");
    edits.finish();
    expect(() => edits.finish()).toThrow("before");
  });

  it("keeps large untouched parts as slices of the source", () => {
    const document = documentOf(`{"big":"${"x".repeat(5000)}","model":"a"}`);
    const edits = new Edits(document);
    edits.replace(document.member(0, "model"), '"b"');
    const { parts } = edits.finish();
    expect(parts[0]?.buffer).toBe(document.bytes.buffer);
  });

  it("gives on random documents what the same edit on the parsed value gives", () => {
    const object = fc.dictionary(
      fc.string({ maxLength: 4 }).filter((name) => name !== "__proto__"),
      fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(
        object,
        fc.array(fc.constantFrom("keep", "remove", "replace", "inside"), { minLength: 6, maxLength: 6 }),
        fc.constantFrom(undefined, 1),
        fc.boolean(),
        (value, actions, indent, isInserting) => {
          const document = documentOf(JSON.stringify(value, null, indent));
          const edits = new Edits(document);
          const expected = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
          let index = 0;
          for (let key = document.firstMember(0); key !== ABSENT; key = document.nextMember(key)) {
            const name = document.memberName(key);
            const node = document.memberValue(key);
            const action = actions[index++];
            const inner = expected[name];
            if (action === "remove") {
              edits.remove(key);
              delete expected[name];
            } else if (action === "replace") {
              edits.replace(node, Buffer.from("[7]"));
              expected[name] = [7];
            } else if (action === "inside" && Array.isArray(inner)) {
              let at = 0;
              for (let item = document.firstElement(node); item !== ABSENT; item = document.nextElement(item))
                if (at++ % 2 === 0) edits.remove(item);
              expected[name] = inner.filter((_, place) => place % 2 === 1);
            }
          }
          if (isInserting) {
            edits.insertMember(0, "inserted", "null");
            expected["inserted"] = null;
          }
          const text = Buffer.from(concat(edits.finish())).toString();
          expect(JSON.parse(text)).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

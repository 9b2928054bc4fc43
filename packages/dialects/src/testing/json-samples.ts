// Generators that samples of requests and streams are made of. No text is blank: blank texts have rules of their own in each dialect.
import fc from "fast-check";

import type { JsonObject, JsonValue } from "./spelled-json.ts";

/** A text with at least one visible character, of any script and with what JSON escapes. */
export const visibleText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom("a", "Zürich", "日本", "😀", '"', "\\n", "x\ny"), fc.string({ unit: "binary", maxLength: 12 }))
  .map(([head, tail]) => head + tail.trimEnd());

/** A name that dialects take for tools. */
export const toolName: fc.Arbitrary<string> = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);

/** An object as models write it for a call, as text; integers beyond doubles and odd spellings included. */
export const argumentsText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("{}", '{"n": 12345678901234567890}', '{"x":1.0,"y":"\\u00e9\\n"}', '{ "a" : [ 1e3 , null ] }'),
  fc
    .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3, noNullPrototype: true })
    .map((value) => JSON.stringify(value)),
);

/** JSON schemas of objects that every dialect takes. */
export const objectSchema: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { type: "object", properties: {} },
  { type: "object", properties: { c: { type: "string" } }, required: ["c"], additionalProperties: false },
  {
    type: "object",
    properties: { n: { type: "integer", description: "é" } },
    required: ["n"],
    additionalProperties: false,
  },
);

/** Some members of a record, each by itself present or not. */
export function someOf(members: Readonly<Record<string, fc.Arbitrary<JsonValue>>>): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
}

/** Cuts a text into fragments at code points; the fragments' concatenation is the text. */
export function fragmentsOf(text: string, sizes: readonly number[]): readonly string[] {
  const points = Array.from(text);
  const fragments: string[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= points.length) break;
    fragments.push(points.slice(at, at + size).join(""));
    at += size;
  }
  if (at < points.length || fragments.length === 0) fragments.push(points.slice(at).join(""));
  return fragments;
}

/** Sizes for {@link fragmentsOf}; an empty fragment is one that servers send. */
export const fragmentSizes: fc.Arbitrary<readonly number[]> = fc.array(fc.integer({ min: 0, max: 6 }), {
  maxLength: 4,
});

/** Counts that agree with each other. */
export interface Counts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Counts as a provider without faults reports them. */
export const counts: fc.Arbitrary<Counts> = fc
  .tuple(fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(500))
  .map(([fresh, cacheRead, cacheWrite, reasoning, visible]) => ({
    input: fresh + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: reasoning + visible,
    reasoning,
  }));

/** How records of a stream are framed. */
export interface Framing {
  readonly lineEnd: "\n" | "\r\n" | "\r";
  readonly hasComments: boolean;
  readonly isLastOpen: boolean;
}

export const framing: fc.Arbitrary<Framing> = fc.record({
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  hasComments: fc.boolean(),
  isLastOpen: fc.boolean(),
}) as fc.Arbitrary<Framing>;

/** Writes records, each given as its lines. */
export function frame(records: readonly (readonly string[])[], { lineEnd, hasComments, isLastOpen }: Framing): string {
  const comment = hasComments ? `: OPENROUTER PROCESSING${lineEnd}${lineEnd}` : "";
  const text = comment + records.map((lines) => [...lines, ""].join(lineEnd)).join(lineEnd) + lineEnd;
  return isLastOpen ? text.slice(0, -2 * lineEnd.length) : text;
}

// Reads the worked examples: fenced blocks whose first line names format, role, dialect and, for errors, the HTTP status. Macros keep
// lines short; in `sse` blocks each line is one record without its blank line and without the `event:` line of dialects that have one.
import { readFileSync } from "node:fs";

import { spelledJson } from "../src/testing/spelled-json.ts";
import type { JsonValue } from "../src/testing/spelled-json.ts";

/** One block of an example. */
export interface FixtureBlock {
  readonly role: string;
  readonly dialect: string;
  readonly status: number;
  readonly text: string;
}

const MACROS: readonly (readonly [name: string, text: string])[] = [
  ["@T", '{"type":"object","properties":{"c":{"type":"string"}},"required":["c"],"additionalProperties":false}'],
  ["@C", '"id":"chatcmpl-t1","object":"chat.completion.chunk","created":1790000000,"model":"up-model"'],
];

const BLOCK = /^```(?:json|sse) (\S+) (\S+)(?: (\d+))?\n(.*?)^```$/gms;

/** The blocks of an example, macros expanded. */
export function readFixture(id: string): readonly FixtureBlock[] {
  const source = readFileSync(new URL(`fixtures/${id.toLowerCase()}.txt`, import.meta.url), "utf8");
  return [...source.matchAll(BLOCK)].map(([, role = "", dialect = "", status = "200", text = ""]) => ({
    role,
    dialect,
    status: Number(status),
    text: MACROS.reduce((expanded, [name, value]) => expanded.replaceAll(name, value), text.trimEnd()),
  }));
}

/** The block of a role; an example without it is a mistake of the test. */
export function blockOf(blocks: readonly FixtureBlock[], role: string): FixtureBlock {
  const block = blocks.find((candidate) => candidate.role === role);
  if (block === undefined) throw new Error(`the example has no block ${role}`);
  return block;
}

/** The stream that a block stands for, as bytes on the wire. */
export function wireOf(block: FixtureBlock): Buffer {
  const records = block.text.split("\n").map((line) => {
    const type =
      block.dialect === "anthropic" ? `event: ${(JSON.parse(line.slice(6)) as { type: string }).type}\n` : "";
    return `${type}${line}\n\n`;
  });
  return Buffer.from(records.join(""), "utf8");
}

/** A stream's records as comparable values: framing exactly, data as JSON with its numbers' spelling. */
export function recordsOf(wire: Uint8Array): readonly JsonValue[] {
  const text = Buffer.from(wire).toString("utf8");
  if (text !== "" && !text.endsWith("\n\n")) throw new Error("the last record is open");
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((record) => {
      const [head, data] = splitRecord(record);
      return [head, data === "[DONE]" ? data : spelledJson(data)];
    });
}

function splitRecord(record: string): readonly [head: string, data: string] {
  const at = record.indexOf("data: ");
  return [record.slice(0, at + 6), record.slice(at + 6)];
}

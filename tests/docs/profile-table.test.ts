// The table of profile members says what the code knows: every member and none that is not there, and the defaults of `generic`.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { openaiChat } from "@dragoman/dialects";

import { REPOSITORY } from "./markdown-files.ts";

const page = readFileSync(join(REPOSITORY, "docs/configuration.md"), "utf8");
const section = page.slice(page.indexOf("### Profiles of compatible servers"), page.indexOf("## `models`"));

/** Rows by member: value and the default's text. */
const rows = new Map(
  [...section.matchAll(/^\| _(\w+)_ +\|([^|]*)\|([^|]*)\|/gm)].map(([, member = "", value = "", standard = ""]) => [
    member,
    { value: value.trim(), standard: standard.trim() },
  ]),
);

function compile(name: string): Readonly<Record<string, unknown>> {
  const compiled = openaiChat.provider?.compileProfile(name, {});
  if (compiled?.ok !== true) throw new Error(`there is no profile ${name}`);
  return compiled.profile;
}

/** How the table writes a value, where it writes the value itself. */
function written(value: unknown): string | null {
  if (typeof value === "string" || typeof value === "boolean") return `\`${value}\``;
  if (value === null) return "null";
  if (!Array.isArray(value)) return null;
  return value.length === 0 ? "none" : value.map((item) => `\`${item}\``).join(", ");
}

/** Defaults that the table tells in words. */
const IN_WORDS: ReadonlySet<string> = new Set(["cachedPaths", "toolChoices", "toolCallIdRule", "finishReasonMap"]);

describe("the table of profile members in docs/configuration.md", () => {
  const { name: _name, ...generic } = compile("generic");

  it("has every member, and no other", () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(generic).sort());
  });

  it.each(Object.keys(generic).filter((member) => !IN_WORDS.has(member)))("tells the default of %s", (member) => {
    expect(rows.get(member)?.standard).toBe(written(generic[member]));
  });

  it("names profiles that exist", () => {
    const [, names = ""] = /By name: ([^]*?)\. With/.exec(section) ?? [];
    const listed = [...names.matchAll(/`([\w-]+)`/g)].map(([, each = ""]) => each);
    expect(listed.length).toBeGreaterThan(5);
    for (const each of listed.filter((word) => word !== "openai-compatible")) expect(compile(each)["name"]).toBe(each);
  });
});

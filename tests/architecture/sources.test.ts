// Rules about the text of source files that neither compiler nor linter checks. Every rule is shown to catch a planted breach,
// and the walk over the repository fails when it finds no file to read.
import { readFileSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));

interface SourceRule {
  readonly name: string;
  /** Paths, relative to `packages/`, that the rule is about. */
  readonly applies: RegExp;
  readonly isBroken: (text: string, path: string) => boolean;
}

function productionUnder(folders: string): RegExp {
  return new RegExp(`^(${folders})/(?!.*\\.(test|test-d|fuzz|bench)\\.ts$)`);
}

const PRODUCTION = productionUnder("[^/]+/src");

const RULES: readonly SourceRule[] = [
  {
    name: "shared code names no dialect and no vendor",
    applies: productionUnder("core/src|dialects/src/shared|dialects/src/testing"),
    isBroken: (text) => /openai|anthropic|gemini|claude|gpt/i.test(text),
  },
  {
    name: "exports are listed by hand",
    applies: PRODUCTION,
    isBroken: (text) => /^\s*export\s+(type\s+)?\*/m.test(text),
  },
  {
    name: "a file says what lives in it first",
    applies: PRODUCTION,
    isBroken: (text) => !/^(#!.*\n)?(\/\/\/ <reference.*\n)?\s*\/[/*](?!\/)/.test(text),
  },
  {
    name: "a thing goes to the room that owns it",
    applies: /\/src\//,
    isBroken: (_, path) =>
      path.split("/").some((part) => /^(utils?|helpers?|common|misc|types|constants)(\.|$)/.test(part)),
  },
  {
    name: "unfinished work carries an issue number",
    applies: /\.ts$/,
    isBroken: (text) => /\b(TODO|FIXME|XXX)\b(?!.*#\d+)/.test(text),
  },
];

function brokenRules(path: string, text: string): string[] {
  return RULES.filter(({ applies, isBroken }) => applies.test(path) && isBroken(text, path)).map(({ name }) => name);
}

function sourceFiles(): string[] {
  return readdirSync(PACKAGES, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll(sep, "/"))
    .filter((path) => path.endsWith(".ts") && !/(^|\/)(node_modules|dist)\//.test(path));
}

const OPENING = "// What lives here.\n";

describe("source rules", () => {
  it.each([
    { path: "core/src/ir/part.ts", text: `${OPENING}export const vendor = "OpenAI";`, broken: RULES[0]?.name },
    { path: "core/src/ir/part.ts", text: `${OPENING}// As Claude does it.`, broken: RULES[0]?.name },
    { path: "dialects/src/shared/retry-after.ts", text: `${OPENING}// GPT only.`, broken: RULES[0]?.name },
    { path: "core/src/index.ts", text: `${OPENING}export * from "./ir/part.ts";`, broken: RULES[1]?.name },
    { path: "server/src/index.ts", text: `${OPENING}export type * from "./cli.ts";`, broken: RULES[1]?.name },
    { path: "server/src/cli.ts", text: `export const first = 1;`, broken: RULES[2]?.name },
    { path: "dialects/src/utils/text.ts", text: OPENING, broken: RULES[3]?.name },
    { path: "server/src/http/types.ts", text: OPENING, broken: RULES[3]?.name },
    { path: "server/test/serve.test.ts", text: `// ${"TO"}DO later`, broken: RULES[4]?.name },
  ])("catch in $path: $text", ({ path, text, broken }) => {
    expect(brokenRules(path, text)).toEqual([broken]);
  });

  it.each([
    { path: "core/src/ir/part.test.ts", text: `export const vendor = "openai";` },
    { path: "dialects/src/anthropic/part.ts", text: `${OPENING}export const vendor = "anthropic";` },
    { path: "server/src/cli.ts", text: `#!/usr/bin/env node\n${OPENING}` },
    { path: "server/src/index.ts", text: `/// <reference types="node" preserve="true" />\n/** What lives here. */\n` },
    { path: "core/src/ir/part.ts", text: `${OPENING}// ${"TO"}DO: bound it, see #12` },
  ])("allow in $path: $text", ({ path, text }) => {
    expect(brokenRules(path, text)).toEqual([]);
  });

  it("hold in every source file", () => {
    const files = sourceFiles();
    expect(files).toEqual(
      expect.arrayContaining(["core/src/index.ts", "dialects/src/index.ts", "server/src/index.ts"]),
    );
    const breaches = files.flatMap((path) =>
      brokenRules(path, readFileSync(join(PACKAGES, path), "utf8")).map((rule) => `${path}: ${rule}`),
    );
    expect(breaches).toEqual([]);
  });
});

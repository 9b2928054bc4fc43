// Plants breaches of the lint rules that keep core and dialects pure and exports named, and proves that the linter's
// configuration catches each one in the folders it is meant for, and only there.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const LINTER = join(dirname(createRequire(import.meta.url).resolve("oxlint/package.json")), "bin", "oxlint");

const BREACHES = [
  { rule: "no-restricted-globals", code: `export const planted: string = process.version;` },
  { rule: "no-restricted-globals", code: `export const planted: unknown = fetch("http://localhost/");` },
  { rule: "no-restricted-globals", code: `setTimeout(() => 1, 1);` },
  { rule: "no-restricted-globals", code: `export const planted: number = performance.now();` },
  { rule: "no-restricted-properties", code: `export const planted: number = Date.now();` },
  { rule: "no-restricted-properties", code: `export const planted: number = Math.random();` },
  {
    rule: "no-restricted-imports",
    code: `import { randomUUID } from "node:crypto"; export const planted: string = randomUUID();`,
  },
  { rule: "no-console", code: `console.log(1);` },
  { rule: "no-default-export", code: `export default 1;` },
  { rule: "no-explicit-any", code: `export const planted: any = 1;` },
] as const;

const LAWFUL = [
  {
    path: "packages/core/src/json/hash.ts",
    code: `import { createHash } from "node:crypto"; export const hash: unknown = createHash("sha256");`,
  },
  { path: "packages/core/src/json/hash.test.ts", code: `export const at: number = Date.now();` },
  { path: "packages/server/src/clock.ts", code: `export const at: number = Date.now();` },
  { path: "vitest.config.ts", code: `export default {};` },
];

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

function pathOf(index: number): string {
  return `packages/${index % 2 === 0 ? "core" : "dialects"}/src/room/planted-${index}.ts`;
}

describe("lint rules", () => {
  let root = "";
  let diagnostics: readonly Diagnostic[] = [];

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "dragoman-lint-"));
    cpSync(join(REPOSITORY, ".oxlintrc.json"), join(root, ".oxlintrc.json"));
    const planted = BREACHES.map(({ code }, index) => ({ path: pathOf(index), code }));
    for (const { path, code } of [...planted, ...LAWFUL]) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), `${code}\n`);
    }
    const { stdout } = spawnSync(process.execPath, [LINTER, "--format", "json"], { cwd: root, encoding: "utf8" });
    diagnostics = (JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] }).diagnostics;
  });

  afterAll(() => {
    rmSync(root, { recursive: true });
  });

  const rulesIn = (path: string): string[] =>
    diagnostics.filter(({ filename }) => filename === path).map(({ code }) => code.replace(/^.*\((.*)\)$/, "$1"));

  it.each(BREACHES.map((row, index) => ({ ...row, index })))("$rule: catch $code", ({ rule, index }) => {
    expect(rulesIn(pathOf(index))).toContain(rule);
  });

  it.each(LAWFUL)("allow in $path: $code", ({ path }) => {
    expect(rulesIn(path)).toEqual([]);
  });
});

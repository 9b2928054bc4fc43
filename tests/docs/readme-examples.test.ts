// The TypeScript examples of the READMEs compile as strictly as the tests do. They are compiled in memory, as if each stood beside
// its README, so that nothing is left behind.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

import ts from "typescript";
import { describe, expect, it } from "vitest";

import { readCodeBlocks, REPOSITORY } from "./markdown-files.ts";

/** Compiling reads the sources of three packages; a busy machine takes its time. */
const COMPILER_TIMEOUT_MS = 240_000;

const PACKAGES = readdirSync(join(REPOSITORY, "packages")).filter((name) =>
  existsSync(join(REPOSITORY, "packages", name, "package.json")),
);

/** Pages outside of the packages whose examples are compiled. */
const PAGES = ["README.md", "docs/embedding.md", "docs/custom-dialects.md"];

interface Example {
  /** Where it stands, for people. */
  readonly name: string;
  /** The file that it would be. */
  readonly file: string;
  readonly code: string;
}

function examplesOf(path: string): Example[] {
  const blocks = readCodeBlocks(readFileSync(join(REPOSITORY, path), "utf8"));
  return blocks
    .filter(({ language }) => language === "ts")
    .map(({ line, code }) => ({
      name: `${path}:${line}`,
      file: join(REPOSITORY, dirname(path), `example-of-line-${line}.ts`),
      code,
    }));
}

/** The options that tests are compiled with. */
function readCompilerOptions(): ts.CompilerOptions {
  const path = join(REPOSITORY, "tsconfig.test.json");
  const { config, error } = ts.readConfigFile(path, (name) => ts.sys.readFile(name));
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"));
  return ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY, undefined, path).options;
}

/** Messages of the compiler about each example, by its name. */
function compile(examples: readonly Example[]): ReadonlyMap<string, readonly string[]> {
  const options: ts.CompilerOptions = { ...readCompilerOptions(), noEmit: true, incremental: false };
  delete options.tsBuildInfoFile;
  const codeOf = new Map(examples.map(({ file, code }) => [file, code]));
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (name) => codeOf.has(name) || disk.fileExists(name);
  host.readFile = (name) => codeOf.get(name) ?? disk.readFile(name);
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const code = codeOf.get(name);
    return code === undefined
      ? disk.getSourceFile(name, languageVersion, ...rest)
      : ts.createSourceFile(name, code, languageVersion);
  };
  const program = ts.createProgram({ rootNames: [...codeOf.keys()], options, host });
  return new Map(
    examples.map(({ name, file }) => {
      const diagnostics = ts.getPreEmitDiagnostics(program, program.getSourceFile(file));
      return [name, diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))];
    }),
  );
}

const WRONG: Example = {
  name: "a planted mistake",
  file: join(REPOSITORY, "example-with-a-mistake.ts"),
  code: 'import { createGateway } from "dragoman";\nawait createGateway({ version: 2 });\n',
};

describe("READMEs", () => {
  it.each(PACKAGES)("packages/%s/README.md has one TypeScript example", (name) => {
    expect(examplesOf(`packages/${name}/README.md`)).toHaveLength(1);
  });

  it("have examples that compile, and a mistake in one would be seen", { timeout: COMPILER_TIMEOUT_MS }, () => {
    const examples = [...PAGES, ...PACKAGES.map((name) => `packages/${name}/README.md`)].flatMap(examplesOf);
    const pages = examples.map(({ name }) => name.split(":")[0]);
    for (const page of PAGES) expect(pages).toContain(page);
    const { [WRONG.name]: planted, ...found } = Object.fromEntries(compile([...examples, WRONG]));
    expect(planted?.join("\n")).toContain("'2' is not assignable to type '1'");
    expect(found).toEqual(Object.fromEntries(examples.map(({ name }) => [name, []])));
  });
});

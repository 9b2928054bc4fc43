// The smoke test's own judges: that a closure which is too large or builds something is refused, and that an example which fails or
// prints something else is seen.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { checkClosure, type Closure } from "./smoke-consumer.ts";
import { runExample, writeExamples, type Example } from "./smoke-examples.ts";
import type { NodeRelease } from "./smoke-nodes.ts";

const CLEAN: Closure = { foreign: ["a", "b"], withInstallScript: [], nativeFiles: [], bytes: 1 };
const OWN: NodeRelease = { version: process.version, path: process.execPath };

describe("a closure", () => {
  it("is accepted at its bound", () => {
    expect(() => checkClosure("it", CLEAN, 2)).not.toThrow();
  });

  it.each([
    { name: "is past its bound", closure: CLEAN, maxForeign: 1, message: "more than 1: a, b" },
    {
      name: "has an install script",
      closure: { ...CLEAN, withInstallScript: ["a"] },
      maxForeign: 2,
      message: "scripts: a",
    },
    {
      name: "has native code",
      closure: { ...CLEAN, nativeFiles: ["a/x.node"] },
      maxForeign: 2,
      message: "code: a/x.node",
    },
  ])("is refused when it $name", ({ closure, maxForeign, message }) => {
    expect(() => checkClosure("it", closure, maxForeign)).toThrow(message);
  });
});

describe("an example", () => {
  let folder = "";

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "dragoman-examples-"));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function runCode(code: string, expected: RegExp): void {
    const example: Example = { name: "planted", stem: "planted", expected };
    writeFileSync(join(folder, "planted.mjs"), code);
    runExample({ folder, packed: [] }, example, OWN);
  }

  it("is taken from every page with one expectation each", () => {
    const examples = writeExamples({ folder, packed: [] });
    expect(examples.map(({ name }) => name.split(":")[0])).toEqual([
      "README.md",
      "README.md",
      "packages/core/README.md",
      "packages/dialects/README.md",
      "packages/ledger/README.md",
      "packages/server/README.md",
    ]);
  });

  it.each([
    { name: "prints something else", code: `console.log("b");` },
    { name: "throws after it printed", code: `console.log("a"); throw new Error("late");` },
    {
      name: "is killed without a visit",
      code: `console.log("a"); process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1);`,
    },
  ])("fails when it $name", ({ code }) => {
    writeExamples({ folder, packed: [] });
    expect(() => runCode(code, /^a$/m)).toThrow("planted on Node");
  });

  it("that serves is visited on a free port and ended", () => {
    writeExamples({ folder, packed: [] });
    const code = `import { createServer } from "node:http"; createServer((req, res) => res.writeHead(202).end()).listen(1, "127.0.0.1");`;
    expect(() => runCode(code, /^visited 202$/m)).not.toThrow();
  });
});

// Plants one violation of every import rule in a copy of the repository's layout and proves that exactly these are caught,
// so a rule that stops matching (or a checker that stops reading) fails here instead of passing everything.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { checkLayers, loadLayerConfiguration, type LayerReport } from "../../scripts/layers.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

type Tree = Readonly<Record<string, string>>;

/** A small tree in which every import is allowed: each row of the second table breaks one rule in it. */
const LAWFUL: Tree = {
  "packages/core/src/index.ts": `export { run } from "./gateway/run.ts";`,
  "packages/core/src/errors/codes.ts": `export const CODE = 1;`,
  "packages/core/src/json/parse.ts": `import { Buffer } from "node:buffer"; import { CODE } from "../errors/codes.ts"; export const parse = [Buffer, CODE];`,
  "packages/core/src/ir/request.ts": `import { parse } from "../json/parse.ts"; export const request = parse;`,
  "packages/core/src/dialect/contract.ts": `import { request } from "../ir/request.ts"; export const contract = request;`,
  "packages/core/src/config/compile.ts": `import Ajv from "ajv"; import { contract } from "../dialect/contract.ts"; export const compile = [Ajv, contract];`,
  "packages/core/src/route/plan.ts": `import { compile } from "../config/compile.ts"; export const plan = compile;`,
  "packages/core/src/stream/relay.ts": `import { compile } from "../config/compile.ts"; export const relay = compile;`,
  "packages/core/src/gateway/run.ts": `import { plan } from "../route/plan.ts"; import { relay } from "../stream/relay.ts"; export const run = [plan, relay];`,
  "packages/core/src/json/parse.test.ts": `import { readFileSync } from "node:fs"; import { parse } from "./parse.ts"; readFileSync(String(parse));`,
  "packages/dialects/src/index.ts": `export { kinds } from "./kinds/all.ts";`,
  "packages/dialects/src/shared/text.ts": `import { run } from "@dragoman/core"; export const text = run;`,
  "packages/dialects/src/first/encode.ts": `import { text } from "../shared/text.ts"; export const first = text;`,
  "packages/dialects/src/second/encode.ts": `import { text } from "../shared/text.ts"; export const second = text;`,
  "packages/dialects/src/kinds/all.ts": `import { first } from "../first/encode.ts"; import { second } from "../second/encode.ts"; export const kinds = [first, second];`,
  "packages/dialects/src/testing/index.ts": `import { text } from "../shared/text.ts"; export const laws = text;`,
  "packages/dialects/src/first/encode.test.ts": `import { laws } from "../testing/index.ts"; import { first } from "./encode.ts"; export const checked = [laws, first];`,
  "packages/ledger/src/index.ts": `import { run } from "@dragoman/core"; import { store } from "./stores/file.ts"; export const account = [run, store];`,
  "packages/ledger/src/stores/file.ts": `import { writeFileSync } from "node:fs"; export const store = writeFileSync;`,
  "packages/server/src/index.ts": `import { account } from "@dragoman/ledger"; import { createServer } from "node:net"; import { run } from "@dragoman/core"; import { kinds } from "@dragoman/dialects"; export const serve = [account, createServer, run, kinds];`,
  "packages/bench/src/index.ts": `import { tick } from "./generator/clock.ts"; export const bench = tick;`,
  "packages/bench/src/generator/clock.ts": `import { performance } from "node:perf_hooks"; export const tick = performance;`,
  "packages/server/test/serve.test.ts": `import { laws } from "@dragoman/dialects/testing"; import { serve } from "../src/index.ts"; export const checked = [laws, serve];`,
  "node_modules/ajv/package.json": `{ "name": "ajv", "version": "1.0.0", "main": "index.js" }`,
  "node_modules/ajv/index.js": ``,
  "node_modules/undeclared/package.json": `{ "name": "undeclared", "version": "1.0.0", "main": "index.js" }`,
  "node_modules/undeclared/index.js": ``,
};

interface Planted {
  readonly rule: string;
  readonly from: string;
  readonly imports: string;
}

const core = (room: string): string => `packages/core/src/${room}/planted.ts`;
const dialects = (room: string): string => `packages/dialects/src/${room}/planted.ts`;

/** Every row is a file of its own that is added to the lawful tree, with one import that the rule forbids. */
const PLANTED: readonly Planted[] = [
  { rule: "core-imports-lower-packages-only", from: "packages/core/src/up.ts", imports: "@dragoman/dialects" },
  { rule: "dialects-imports-lower-packages-only", from: "packages/dialects/src/up.ts", imports: "dragoman" },
  { rule: "ledger-imports-lower-packages-only", from: "packages/ledger/src/up.ts", imports: "@dragoman/dialects" },
  {
    rule: "ledger-is-entered-by-its-exports",
    from: "packages/server/src/deep.ts",
    imports: "../../ledger/src/stores/file.ts",
  },
  { rule: "ledger-is-imported-by-name", from: "packages/server/src/relative.ts", imports: "../../ledger/src/index.ts" },
  { rule: "ledger-declares-its-dependencies", from: "packages/ledger/src/undeclared.ts", imports: "undeclared" },
  {
    rule: "core-is-entered-by-its-exports",
    from: "packages/server/src/deep.ts",
    imports: "../../core/src/json/parse.ts",
  },
  {
    rule: "dialects-is-entered-by-its-exports",
    from: "packages/server/src/deep.ts",
    imports: "../../dialects/src/first/encode.ts",
  },
  { rule: "server-is-entered-by-its-exports", from: "tests/deep.test.ts", imports: "../packages/server/src/cli.ts" },
  { rule: "core-is-imported-by-name", from: "packages/server/src/relative.ts", imports: "../../core/src/index.ts" },
  {
    rule: "dialects-is-imported-by-name",
    from: "packages/server/src/relative.ts",
    imports: "../../dialects/src/index.ts",
  },
  { rule: "server-is-imported-by-name", from: "examples/embed/main.ts", imports: "../../packages/server/src/index.ts" },
  { rule: "server-imports-lower-packages-only", from: "packages/server/src/side.ts", imports: "@dragoman/bench" },
  { rule: "bench-imports-lower-packages-only", from: "packages/bench/src/side.ts", imports: "@dragoman/core" },
  {
    rule: "bench-is-entered-by-its-exports",
    from: "tests/bench.test.ts",
    imports: "../packages/bench/src/generator/clock.ts",
  },
  { rule: "bench-is-imported-by-name", from: "examples/embed/bench.ts", imports: "../../packages/bench/src/index.ts" },
  { rule: "bench-declares-its-dependencies", from: "packages/bench/src/undeclared.ts", imports: "undeclared" },
  { rule: "core-declares-its-dependencies", from: "packages/core/src/undeclared.ts", imports: "undeclared" },
  { rule: "dialects-declares-its-dependencies", from: "packages/dialects/src/undeclared.ts", imports: "ajv" },
  { rule: "server-declares-its-dependencies", from: "packages/server/src/undeclared.ts", imports: "undeclared" },
  { rule: "core-errors-imports-lower-rooms-only", from: core("errors"), imports: "../json/parse.ts" },
  { rule: "core-json-imports-lower-rooms-only", from: core("json"), imports: "../ir/request.ts" },
  { rule: "core-ir-imports-lower-rooms-only", from: core("ir"), imports: "../dialect/contract.ts" },
  { rule: "core-dialect-imports-lower-rooms-only", from: core("dialect"), imports: "../config/compile.ts" },
  { rule: "core-config-imports-lower-rooms-only", from: core("config"), imports: "../route/plan.ts" },
  { rule: "core-route-imports-lower-rooms-only", from: core("route"), imports: "../stream/relay.ts" },
  { rule: "core-stream-imports-lower-rooms-only", from: core("stream"), imports: "../route/plan.ts" },
  { rule: "core-gateway-imports-lower-rooms-only", from: core("gateway"), imports: "../index.ts" },
  { rule: "core-has-known-rooms-only", from: "packages/core/src/room.ts", imports: "./attic/planted.ts" },
  { rule: "dialect-rooms-are-independent", from: dialects("first"), imports: "../second/encode.ts" },
  { rule: "dialect-rooms-are-independent", from: dialects("second"), imports: "../kinds/all.ts" },
  { rule: "dialects-shared-knows-no-room", from: dialects("shared"), imports: "../first/encode.ts" },
  { rule: "dialects-testing-knows-no-dialect", from: dialects("testing"), imports: "../first/encode.ts" },
  ...[
    "net",
    "tls",
    "http",
    "https",
    "fs",
    "fs/promises",
    "child_process",
    "dns",
    "os",
    "process",
    "worker_threads",
    "cluster",
  ].map((name) => ({ rule: "pure-packages-use-pure-builtins", from: core("json"), imports: `node:${name}` })),
  { rule: "pure-packages-use-pure-builtins", from: core("stream"), imports: "net" },
  { rule: "pure-packages-use-pure-builtins", from: dialects("first"), imports: "node:http" },
  { rule: "pure-packages-use-pure-builtins", from: "packages/ledger/src/limits/planted.ts", imports: "node:fs" },
  { rule: "production-imports-no-tests", from: core("json"), imports: "./parse.test.ts" },
  { rule: "production-imports-no-tests", from: "packages/server/src/fixture.ts", imports: "../test/serve.test.ts" },
  { rule: "production-imports-no-tests", from: "packages/server/src/script.ts", imports: "../../../scripts/tool.ts" },
  { rule: "imports-resolve", from: core("json"), imports: "./missing.ts" },
  { rule: "no-circular-imports", from: "packages/server/src/one.ts", imports: "./two.ts" },
];

/** Lawful files that only the planted tree needs, as targets of its imports. */
const TARGETS: Tree = {
  "packages/core/src/attic/planted.ts": `export const attic = 1;`,
  "packages/server/src/cli.ts": `export const main = 1;`,
  "packages/server/src/two.ts": `export { planted } from "./one.ts"; export const two = 2;`,
  "scripts/tool.ts": `export const tool = 1;`,
};

const folders: string[] = [];

function write(root: string, tree: Tree): void {
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
}

function plant(tree: Tree): string {
  const root = mkdtempSync(join(tmpdir(), "dragoman-layers-"));
  folders.push(root);
  for (const name of ["core", "dialects", "ledger", "server", "bench"]) {
    mkdirSync(join(root, "packages", name), { recursive: true });
    cpSync(join(REPOSITORY, "packages", name, "package.json"), join(root, "packages", name, "package.json"));
  }
  write(root, tree);
  return root;
}

/** Joins the rows of one file, so that a file may break several rules. */
function plantedTree(): Tree {
  const tree: Record<string, string> = {};
  for (const { from, imports } of PLANTED) {
    tree[from] = `${tree[from] ?? "export const planted = 1;"} import ${JSON.stringify(imports)};`;
  }
  return tree;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe("import rules", () => {
  let lawful: LayerReport;
  let planted: LayerReport;
  beforeAll(async () => {
    lawful = await checkLayers(plant(LAWFUL));
    planted = await checkLayers(plant({ ...LAWFUL, ...TARGETS, ...plantedTree() }));
  });

  it("find nothing in a tree that keeps them", () => {
    expect(lawful).toMatchObject({ violations: [], blind: null });
    expect(lawful.imports).toBeGreaterThan(20);
  });

  it.each(PLANTED)("$rule: catches $imports in $from", ({ rule, from, imports }) => {
    const caught = planted.violations.filter((each) => each.rule === rule && each.from === from);
    expect(caught.map(({ to }) => to).some((to) => sameTarget(to, imports))).toBe(true);
  });

  it("have a planted violation each", async () => {
    const { forbidden } = await loadLayerConfiguration();
    expect(new Set(PLANTED.map(({ rule }) => rule))).toEqual(new Set(forbidden.map(({ name }) => name)));
  });

  it("keep the repository itself", async () => {
    expect(await checkLayers(REPOSITORY)).toMatchObject({ violations: [], blind: null });
  });
});

/** Compares a resolved path with the import that led to it by their last segments. */
function sameTarget(resolved: string, imported: string): boolean {
  const bare = imported.replace(/^node:/, "").replace(/^(\.\.?\/)+/, "");
  const ours = imported === "dragoman" ? "server" : /^@dragoman\/(\w+)$/.exec(imported)?.[1];
  if (ours !== undefined) return resolved === `packages/${ours}/src/index.ts`;
  return (
    resolved === imported ||
    resolved === bare ||
    resolved.endsWith(`/${bare}`) ||
    resolved.includes(`node_modules/${bare}/`)
  );
}

describe("layer check that cannot see", () => {
  it.each([
    { name: "nothing at all", tree: {}, blind: "no module was read" },
    {
      name: "files without an import",
      tree: { "packages/core/src/index.ts": "export const one = 1;" },
      blind: "no import was read",
    },
    {
      name: "no file of some package",
      tree: {
        "packages/core/src/index.ts": `export { one } from "./errors/one.ts";`,
        "packages/core/src/errors/one.ts": "export const one = 1;",
      },
      blind: "no module of bench, dialects, ledger, server was read",
    },
  ])("says so for $name", async ({ tree, blind }) => {
    expect((await checkLayers(plant(tree))).blind).toBe(blind);
  });
});

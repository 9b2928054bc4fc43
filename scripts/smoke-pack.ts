// Installs the packed packages into empty folders, as users would, and uses them there, on every Node that is promised: every entry by
// import and by require, its types under strict compilers, the examples of the READMEs, and the command with a tour of requests
// against its own scripted upstream. What an installation brings along is counted and bounded.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { packAll, run, runQuietly, tool, type Packed } from "./pack.ts";
import { checkClosure, createConsumer, installBeside, measureClosure, type Consumer } from "./smoke-consumer.ts";
import { runExample, writeExamples, type Example } from "./smoke-examples.ts";
import { findNodes, type NodeRelease } from "./smoke-nodes.ts";

/** What is installed alone, and how many packages of others it may bring. */
const PRODUCTS = [
  { title: "@dragoman/core + @dragoman/dialects", roots: ["@dragoman/core", "@dragoman/dialects"], maxForeign: 12 },
  { title: "dragoman", roots: ["dragoman"], maxForeign: 35 },
];

/** What the declarations and the examples name beside us: the oldest Node, frameworks, an SDK, and optional peers. */
const COMPANIONS = ["@types/node@20", "@types/express@5", "express@5", "fastify@5", "fast-check@4", "openai@6"];

const MODULE_KINDS = [
  { title: "nodenext", module: "NodeNext", moduleResolution: "NodeNext" },
  { title: "bundler", module: "ESNext", moduleResolution: "Bundler" },
];

/** These packages and all of ours that they depend on. */
function closureOf(roots: readonly string[], packed: readonly Packed[]): Packed[] {
  const wanted = new Set(roots);
  for (const name of wanted)
    for (const dependency of packed.find((each) => each.name === name)?.dependencies ?? [])
      if (packed.some((each) => each.name === dependency)) wanted.add(dependency);
  const found = packed.filter(({ name }) => wanted.has(name));
  if (found.length !== wanted.size) throw new Error(`not every one of ${[...wanted].join(", ")} was packed`);
  return found;
}

function specifiersOf({ packed }: Consumer): string[] {
  return packed.flatMap(({ specifiers }) => specifiers);
}

function writeLoaders(consumer: Consumer): void {
  const names = JSON.stringify(specifiersOf(consumer));
  const check = `if (Object.keys(entry).length === 0) throw new Error(name + " exports nothing");`;
  const loaders = {
    "load.mjs": `for (const name of ${names}) { const entry = await import(name); ${check} }\n`,
    "load.cjs": `for (const name of ${names}) { const entry = require(name); ${check} }\n`,
  };
  for (const [file, code] of Object.entries(loaders)) writeFileSync(join(consumer.folder, file), code);
}

/** Type-checks every entry and every example, with the declarations of all packages and without `types` in the configuration. */
function compileTypes(consumer: Consumer, examples: readonly Example[]): void {
  const lines = specifiersOf(consumer).map(
    (name, index) =>
      `import * as entry${index} from "${name}";\nexport const keys${index} = Object.keys(entry${index});`,
  );
  writeFileSync(join(consumer.folder, "types.ts"), `${lines.join("\n")}\n`);
  for (const { title, module, moduleResolution } of MODULE_KINDS) {
    const compilerOptions = {
      target: "ES2023",
      lib: ["ES2023"],
      module,
      moduleResolution,
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
    };
    const configuration = { compilerOptions, files: ["types.ts", ...examples.map(({ stem }) => `${stem}.ts`)] };
    const file = `tsconfig.${title}.json`;
    writeFileSync(join(consumer.folder, file), JSON.stringify(configuration));
    run(tool("tsc"), ["-p", file], consumer.folder);
    console.log(`types under ${title}: ${specifiersOf(consumer).length} entries, ${examples.length} examples`);
  }
}

function runOn(node: NodeRelease, consumer: Consumer, examples: readonly Example[]): void {
  for (const loader of ["load.mjs", "load.cjs"])
    runQuietly(node.path, ["--throw-deprecation", loader], consumer.folder);
  for (const example of examples) runExample(consumer, example, node);
  const command = join(consumer.folder, "node_modules", "dragoman", "dist", "cli.js");
  runQuietly(node.path, [command, "demo", "--once"], consumer.folder);
  console.log(`Node ${node.version}: entries imported and required, ${examples.length} examples and the command ran`);
}

const scratch = mkdtempSync(join(tmpdir(), "dragoman-smoke-"));
try {
  const packed = packAll(scratch);
  const consumers = PRODUCTS.map(({ title, roots, maxForeign }, index) => {
    const consumer = createConsumer(join(scratch, `consumer-${index}`), closureOf(roots, packed));
    checkClosure(title, measureClosure(consumer), maxForeign);
    return consumer;
  });
  const installed = new Set(consumers.flatMap((consumer) => consumer.packed.map(({ name }) => name)));
  for (const { name } of packed)
    if (!installed.has(name)) console.log(`SKIP ${name}: nothing that is installed needs it`);
  const complete = consumers.at(-1);
  if (complete === undefined) throw new Error("nothing was installed");
  installBeside(complete, COMPANIONS);
  const examples = writeExamples(complete);
  compileTypes(complete, examples);
  writeLoaders(complete);
  run("npx", ["--no-install", "dragoman", "--version"], complete.folder);
  for (const node of findNodes(scratch)) runOn(node, complete, examples);
} finally {
  rmSync(scratch, { recursive: true });
}

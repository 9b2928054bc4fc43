// Installs the packed packages into an empty folder, as a user would, and uses them there: every entry by import and by
// require, its types under a strict compiler, and the command with a tour of requests against its own scripted upstream.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { packAll, run, tool, type Packed } from "./pack.ts";

/** What the declarations of our entries name: the oldest Node, and the frameworks that are optional peers. */
const PEERS = ["@types/node@20", "@types/express@5", "fastify@5"];

/** Without `types`, so that declarations which name Node types must ask for them themselves. */
const CONSUMER_COMPILER = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023"],
    module: "NodeNext",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
  },
  include: ["types.ts"],
};

function install(consumer: string, packed: readonly Packed[]): void {
  mkdirSync(consumer);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  const tarballs = packed.map(({ tarball }) => tarball);
  run("npm", ["install", "--no-package-lock", "--no-audit", "--no-fund", ...tarballs, ...PEERS], consumer);
}

function loadEntries(consumer: string, specifiers: readonly string[]): void {
  const names = JSON.stringify(specifiers);
  const check = `if (Object.keys(entry).length === 0) throw new Error(name + " exports nothing"); console.log(name, Object.keys(entry).length, "exports");`;
  writeFileSync(
    join(consumer, "load.mjs"),
    `for (const name of ${names}) { const entry = await import(name); ${check} }\n`,
  );
  writeFileSync(join(consumer, "load.cjs"), `for (const name of ${names}) { const entry = require(name); ${check} }\n`);
  run(process.execPath, ["--throw-deprecation", "load.mjs"], consumer);
  run(process.execPath, ["--throw-deprecation", "load.cjs"], consumer);
}

function compileTypes(consumer: string, specifiers: readonly string[]): void {
  const lines = specifiers.map(
    (name, index) =>
      `import * as entry${index} from "${name}";\nexport const keys${index} = Object.keys(entry${index});`,
  );
  writeFileSync(join(consumer, "types.ts"), `${lines.join("\n")}\n`);
  writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(CONSUMER_COMPILER));
  run(tool("tsc"), ["-p", "."], consumer);
}

const folder = mkdtempSync(join(tmpdir(), "dragoman-smoke-"));
try {
  const packed = packAll(folder);
  const specifiers = packed.flatMap((each) => each.specifiers);
  const consumer = join(folder, "consumer");
  install(consumer, packed);
  loadEntries(consumer, specifiers);
  compileTypes(consumer, specifiers);
  run("npx", ["--no-install", "dragoman", "--help"], consumer);
  run("npx", ["--no-install", "dragoman", "demo", "--once"], consumer);
  console.log(`smoke: ${specifiers.length} entries loaded and typed, command answered`);
} finally {
  rmSync(folder, { recursive: true });
}

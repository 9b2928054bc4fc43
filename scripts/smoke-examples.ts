// The examples of the READMEs in a consumer's folder: type-checked as they stand, then run as JavaScript. An example that serves is
// visited once by a preloaded module and told to end, so none of them is changed for it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import ts from "typescript";

import { readCodeBlocks } from "../tests/docs/markdown-files.ts";
import { REPOSITORY } from "./pack.ts";
import type { Consumer } from "./smoke-consumer.ts";
import type { NodeRelease } from "./smoke-nodes.ts";

const EXAMPLE_TIMEOUT_MS = 60_000;

/** What the examples of a page print, in their order; lines of the visitor begin with "visited". */
const EXPECTED: Readonly<Record<string, readonly RegExp[]>> = {
  "README.md": [/^visited 200$/m, /^$/],
  "packages/core/README.md": [/^\d+ \{ "model": "large-2", "temperature": 1e0, "messages": \[\] \}$/m],
  "packages/dialects/README.md": [/^openai-chat 503 [^]*^anthropic 529 /m],
  "packages/ledger/README.md": [/^$/],
  "packages/server/README.md": [/^listening on http:\S+\nreq_\w+ 401 \[\]\nvisited 401$/m],
};

/** Secrets that the examples ask the environment for. The hash is that of no key. */
const ENVIRONMENT = { ANTHROPIC_API_KEY: "not-a-key", APP_KEY_HASH: `sha256:${"0".repeat(64)}` };

/** Lets any server listen on a free port, asks it for its models, and tells the process to end. */
const VISITOR = `import { Server } from "node:net";
const listen = Server.prototype.listen;
Server.prototype.listen = function (...args) {
  this.once("listening", async () => {
    const { port } = this.address();
    const { status } = await fetch("http://127.0.0.1:" + port + "/v1/models", { headers: { connection: "close" } });
    console.log("visited " + status);
    process.kill(process.pid, "SIGTERM");
  });
  return listen.apply(this, typeof args[0] === "number" ? [0, ...args.slice(1)] : args);
};
`;

/** One example, written into a consumer's folder without its ending. */
export interface Example {
  /** Where it stands, for people. */
  readonly name: string;
  /** Its file in the folder, without `.ts`. */
  readonly stem: string;
  readonly expected: RegExp;
}

/** Writes every README example into `examples/` of the consumer, as TypeScript and as JavaScript. */
export function writeExamples({ folder }: Consumer): Example[] {
  mkdirSync(join(folder, "examples"));
  writeFileSync(join(folder, "examples", "visitor.mjs"), VISITOR);
  return Object.entries(EXPECTED).flatMap(([page, expectations]) => {
    const blocks = readCodeBlocks(readFileSync(join(REPOSITORY, page), "utf8")).filter(
      ({ language }) => language === "ts",
    );
    if (blocks.length !== expectations.length)
      throw new Error(`${page} has ${blocks.length} examples; what ${expectations.length} of them print is known`);
    return expectations.map((expected, index) => {
      const { code, line } = blocks[index] ?? { code: "", line: 0 };
      const stem = join("examples", `${page.replaceAll(/\W+/g, "-")}-${line}`);
      writeFileSync(join(folder, `${stem}.ts`), code);
      const compilerOptions = {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      };
      writeFileSync(join(folder, `${stem}.mjs`), ts.transpileModule(code, { compilerOptions }).outputText);
      return { name: `${page}:${line}`, stem, expected };
    });
  });
}

/** Runs an example and throws when it fails, hangs or prints something else. */
export function runExample({ folder }: Consumer, { name, stem, expected }: Example, node: NodeRelease): void {
  const visitor = join(folder, "examples", "visitor.mjs");
  if (!existsSync(visitor)) throw new Error("the examples were not written");
  const { status, signal, stdout, stderr } = spawnSync(node.path, ["--import", visitor, `${stem}.mjs`], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...ENVIRONMENT },
    timeout: EXAMPLE_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const hasEnded = status === 0 || (signal === "SIGTERM" && stdout.includes("visited"));
  if (!hasEnded || !expected.test(stdout))
    throw new Error(`${name} on Node ${node.version} ended with ${status ?? signal} and printed:\n${stdout}${stderr}`);
}

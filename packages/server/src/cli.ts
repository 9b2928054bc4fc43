#!/usr/bin/env node
/** The `dragoman` command: the process's side of the command line. Only this file acts on signals and sets the exit code. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import type { CliIo } from "./cli/cli-io.ts";
import { run } from "./cli/run.ts";
import { createNodeRandom } from "./ports/index.ts";

const random = createNodeRandom();

const io: CliIo = {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  readFile: (path) => readFileSync(path, "utf8"),
  readBytes: (path) => readFileSync(path),
  writePrivateFile: (path, text) => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  },
  nowMs: () => Date.now(),
  openStore: async (settings, dataDir) => {
    const { openLedgerStore } = await import("./ledger/open-store.ts");
    return openLedgerStore(settings, { dataDir, isStrict: false });
  },
  randomId: (length) => random.id(length),
  createLogger: async (level) => {
    const { createPinoLogger } = await import("./telemetry/pino-logger.ts");
    return createPinoLogger(level);
  },
  untilRead: () =>
    new Promise((resolve) => {
      const { stdout } = process;
      const answer = (): void => {
        stdout.off("drain", answer).off("close", answer);
        resolve(!stdout.destroyed);
      };
      if (stdout.destroyed || !stdout.writableNeedDrain) resolve(!stdout.destroyed);
      else stdout.on("drain", answer).on("close", answer);
    }),
  untilStopped: () =>
    new Promise((resolve) => {
      process.once("SIGINT", resolve).once("SIGTERM", resolve);
    }),
};

// Whoever reads the output may stop reading, e.g. `dragoman schema | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await run(process.argv.slice(2), io);

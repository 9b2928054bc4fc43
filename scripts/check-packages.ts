// Checks the shape of every published tarball: that its exports resolve to files which are packed, as types and as code.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { packAll, run, tool, REPOSITORY } from "./pack.ts";

const folder = mkdtempSync(join(tmpdir(), "dragoman-packages-"));
try {
  for (const { name, tarball } of packAll(folder)) {
    console.log(`\n${name}`);
    run(tool("publint"), ["run", tarball, "--strict"], REPOSITORY);
    run(tool("attw"), [tarball, "--profile", "esm-only", "--no-emoji", "--format", "ascii"], REPOSITORY);
  }
} finally {
  rmSync(folder, { recursive: true });
}

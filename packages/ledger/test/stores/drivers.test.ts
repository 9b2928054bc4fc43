// Drivers that are not installed, and what those that are say on standard error: each in a process of its own.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

const run = promisify(execFile);

const source = (path: string): string =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../src", path)).href);

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Makes drivers look as if nobody had installed them. */
const WITHOUT_DRIVERS = dataUrl(
  `import { register } from "node:module"; register(${JSON.stringify(
    dataUrl(`export async function resolve(name, context, next) {
      if (name !== "libsql" && name !== "pg") return next(name, context);
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    }`),
  )});`,
);

/** Runs a module and gives back what it printed. */
async function runModule(code: string, ...imports: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const words = ["tsx", ...imports].flatMap((each) => ["--import", each]);
  return run(process.execPath, [...words, "--input-type=module", "-e", code]);
}

describe("a driver that is not installed", () => {
  it.each([
    {
      name: "libsql",
      code: `import { openSqliteStore as open } from ${source("sqlite/index.ts")};
        await open({ file: "/nowhere/ledger.db", driver: "libsql" }).catch((error) => console.log(error.code, error.message));`,
    },
    {
      name: "pg",
      code: `import { openPostgresStore as open } from ${source("postgres/index.ts")};
        await open({ connectionString: "postgres://nowhere.invalid/x" }).catch((error) => console.log(error.code, error.message));`,
    },
  ])("is named with the command that installs it: $name", async ({ name, code }) => {
    const { stdout } = await runModule(code, WITHOUT_DRIVERS);
    expect(stdout).toMatch(/^ledger_store_failed /);
    expect(stdout).toContain(`\`npm install ${name}\``);
  });
});

describe("the driver that is there", () => {
  it("says nothing on standard error, and keeps no warning of others from it", async () => {
    const { stderr } = await runModule(
      `import { findSqliteDriver } from ${source("stores/sqlite/sqlite-driver.ts")};
        const before = process.emitWarning;
        const driver = await findSqliteDriver(undefined);
        driver.open(":memory:").close();
        process.emitWarning(process.emitWarning === before ? "as before" : "replaced");`,
    );
    expect(stderr).toContain("Warning: as before");
    expect(stderr).not.toContain("SQLite");
  });
});

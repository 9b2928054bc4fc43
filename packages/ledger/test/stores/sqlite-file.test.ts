// The file of a SQLite store: who may read it, and whose it is.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openSqliteStore } from "../../src/sqlite/index.ts";
import { findSqliteDriver, readRows } from "../../src/stores/sqlite/sqlite-driver.ts";
import { openSqliteFile } from "../../src/stores/sqlite/sqlite-file.ts";
import { SQLITE_MIGRATIONS } from "../../src/stores/sqlite/sqlite-schema.ts";
import { entry } from "./sample-entries.ts";

const FAILED = { code: "ledger_store_failed" };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-store-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("a SQLite store", () => {
  it("makes file and folder for their owner alone, its write-ahead log, too", async () => {
    const file = join(folder, "data", "deeper", "ledger.db");
    const store = await openSqliteStore({ file });
    await store.ingest({ entries: [entry("a/1")], progress: null });
    const paths = [join(folder, "data"), join(folder, "data", "deeper"), file, `${file}-wal`, `${file}-shm`];
    expect(paths.map(modeOf)).toEqual(["700", "700", "600", "600", "600"]);
    await store.close();
  });

  it.each([
    { name: "a database of another program", sql: ["CREATE TABLE theirs (x)"] },
    { name: "a database with another program's mark", sql: ["PRAGMA application_id = 7"] },
  ])("leaves $name alone", async ({ sql }) => {
    const file = join(folder, "ledger.db");
    const driver = await findSqliteDriver(undefined);
    const theirs = driver.open(file);
    for (const statement of sql) theirs.exec(statement);
    const before = theirs.prepare("PRAGMA journal_mode").all();
    await expect(openSqliteStore({ file })).rejects.toMatchObject({
      ...FAILED,
      message: `The file ${file} is a SQLite database of another program. Name another file.`,
    });
    expect(theirs.prepare("PRAGMA journal_mode").all()).toEqual(before);
    expect(theirs.prepare("SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'entries'").all()).toEqual([
      expect.objectContaining({ n: 0 }),
    ]);
    theirs.close();
  });

  it("refuses a file that is no database, and leaves it as it was", async () => {
    const file = join(folder, "ledger.db");
    const text = "not a database, but long enough to be looked at. ".repeat(40);
    writeFileSync(file, text);
    await expect(openSqliteStore({ file })).rejects.toMatchObject(FAILED);
    expect(statSync(file).size).toBe(text.length);
  });

  it("refuses a place where no file can be", async () => {
    mkdirSync(join(folder, "ledger.db"));
    await expect(openSqliteStore({ file: join(folder, "ledger.db") })).rejects.toMatchObject(FAILED);
  });

  it.each([
    { synchronous: "normal", level: 1 },
    { synchronous: "full", level: 2 },
  ] as const)("writes its log with synchronous $synchronous", async ({ synchronous, level }) => {
    const driver = await findSqliteDriver(undefined);
    const file = join(folder, "ledger.db");
    const database = openSqliteFile(driver, { file, synchronous, migrations: SQLITE_MIGRATIONS });
    const [pragma] = readRows(database, "PRAGMA synchronous");
    expect(pragma?.["synchronous"]).toBe(level);
    database.close();
  });
});

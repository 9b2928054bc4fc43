/** Opens the file of a SQLite store: only its owner may read it, and a file of somebody else is left alone. */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

import { pendingMigrations, type AppliedMigration, type Migration } from "../sql/migrations.ts";
import { storeRefusal } from "../store-failure.ts";
import { readRows, type SqliteDatabase, type SqliteDriver } from "./sqlite-driver.ts";

/** `DRGM`: what the file's header says it belongs to (SQLite, PRAGMA application_id). */
const APPLICATION_ID = 0x4452474d;

/** How long a statement waits for another process that writes. */
const BUSY_TIMEOUT_MS = 5_000;

/** How a file is opened. */
export interface SqliteFileOptions {
  readonly file: string;
  /** `full` = what was ingested survives power loss, too. */
  readonly synchronous: "normal" | "full";
  readonly migrations: readonly Migration[];
}

/** Opens or creates the file and brings its schema up to date. The database is closed again when that fails. */
export function openSqliteFile(driver: SqliteDriver, options: SqliteFileOptions): SqliteDatabase {
  const { file, synchronous, migrations } = options;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Created before SQLite does it, whose write-ahead log takes over the mode.
  closeSync(openSync(file, "a", 0o600));
  const database = driver.open(file);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    requireOwnFile(database, file);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${synchronous}`);
    migrate(database, migrations);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Runs `work` in a transaction that holds the write lock from its beginning, and that is undone when it throws. */
export function inTransaction<Value>(database: SqliteDatabase, work: () => Value): Value {
  database.exec("BEGIN IMMEDIATE");
  try {
    const value = work();
    database.exec("COMMIT");
    return value;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite has undone it already after some failures (a full disk); the first error is the one to tell.
    }
    throw error;
  }
}

function requireOwnFile(database: SqliteDatabase, file: string): void {
  const [header] = readRows(database, "PRAGMA application_id");
  if (header?.["application_id"] === APPLICATION_ID) return;
  const [schema] = readRows(database, "SELECT COUNT(*) AS tables FROM sqlite_master");
  if (header?.["application_id"] !== 0 || schema?.["tables"] !== 0)
    throw storeRefusal(`The file ${file} is a SQLite database of another program. Name another file.`);
}

function migrate(database: SqliteDatabase, known: readonly Migration[]): void {
  if (pendingMigrations("SQLite", known, readApplied(database)).length === 0) return;
  for (;;) {
    const isDone = inTransaction(database, () => {
      // Looked up again under the lock: another process may have been faster.
      const [next] = pendingMigrations("SQLite", known, readApplied(database));
      if (next === undefined) return true;
      applyMigration(database, next);
      return false;
    });
    if (isDone) return;
  }
}

function readApplied(database: SqliteDatabase): AppliedMigration[] {
  const [table] = readRows(database, "SELECT name FROM sqlite_master WHERE name = 'migrations'");
  if (table === undefined) return [];
  return readRows(database, "SELECT version, is_compatible FROM migrations").map((row) => ({
    version: row["version"] as number,
    isCompatible: row["is_compatible"] === 1,
  }));
}

function applyMigration(database: SqliteDatabase, { version, title, isCompatible, statements }: Migration): void {
  if (version === 1) {
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(
      "CREATE TABLE migrations (version INTEGER PRIMARY KEY, title TEXT NOT NULL, is_compatible INTEGER NOT NULL)",
    );
  }
  for (const statement of statements) database.exec(statement);
  database
    .prepare("INSERT INTO migrations (version, title, is_compatible) VALUES (?1, ?2, ?3)")
    .run(version, title, isCompatible ? 1 : 0);
}

/**
 * SQLite as the store uses it, over whichever driver is there: Node's own where Node has one (22.13 and later), else `libsql`, which
 * applications install beside this package.
 */
import process from "node:process";

import { storeRefusal } from "../store-failure.ts";
import type { SqlRow, SqlValue } from "../sql/entry-columns.ts";

/** A prepared statement. */
export interface SqliteStatement {
  run(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

/** An open database. Every method is synchronous. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/** What opens a file. */
export interface SqliteDriver {
  readonly name: SqliteDriverName;
  open(file: string): SqliteDatabase;
}

/** The drivers, preferred first. */
export type SqliteDriverName = "node:sqlite" | "libsql";

type DatabaseClass = new (file: string) => SqliteDatabase;

/** Finds a driver. Throws `ledger_store_failed` that says what to install when there is none. */
export async function findSqliteDriver(wanted: SqliteDriverName | undefined): Promise<SqliteDriver> {
  const driver =
    (wanted === "libsql" ? null : nodeDriver()) ?? (wanted === "node:sqlite" ? null : await libsqlDriver());
  if (driver !== null) return driver;
  throw storeRefusal(
    wanted === "node:sqlite"
      ? "The SQLite store needs Node 22.13 or later for the driver node:sqlite."
      : "The SQLite store needs a driver: use Node 22.13 or later, or install one beside Dragoman with `npm install libsql`.",
  );
}

/** All rows of a statement; a statement is prepared for this once. */
export function readRows(database: SqliteDatabase, sql: string, values: readonly SqlValue[] = []): SqlRow[] {
  return database.prepare(sql).all(...values) as SqlRow[];
}

function nodeDriver(): SqliteDriver | null {
  const module = withoutExperimentalWarning(() => process.getBuiltinModule("node:sqlite")) as {
    readonly DatabaseSync: DatabaseClass;
  } | null;
  return module === null ? null : { name: "node:sqlite", open: (file) => new module.DatabaseSync(file) };
}

/**
 * Node 22 warns once when the module is loaded. That is no news for whoever runs a gateway; all other warnings pass, as loading is
 * synchronous.
 */
function withoutExperimentalWarning(load: () => unknown): unknown {
  const original = Reflect.get(process, "emitWarning") as typeof process.emitWarning;
  process.emitWarning = (...words: readonly unknown[]): void => {
    if (!String(words[0]).startsWith("SQLite is an experimental feature")) Reflect.apply(original, process, words);
  };
  try {
    return load() ?? null;
  } finally {
    process.emitWarning = original;
  }
}

async function libsqlDriver(): Promise<SqliteDriver | null> {
  try {
    const module = (await import("libsql")) as unknown as { readonly default: DatabaseClass };
    return { name: "libsql", open: (file) => new module.default(file) };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Not installed, or without a binary for this platform. */
function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}

// Every kind of store, each opened on data of its own, for tests that hold for all of them.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pg from "pg";

import { usePostgres } from "../../../../tests/services/postgres.ts";
import { MemoryLedgerStore, type LedgerStore } from "../../src/index.ts";
import { openPostgresWith } from "../../src/stores/postgres/open-postgres-store.ts";
import { POSTGRES_MIGRATIONS } from "../../src/stores/postgres/postgres-schema.ts";
import type { Migration } from "../../src/stores/sql/migrations.ts";
import { findSqliteDriver, readRows, type SqliteDriverName } from "../../src/stores/sqlite/sqlite-driver.ts";
import { SQLITE_MIGRATIONS } from "../../src/stores/sqlite/sqlite-schema.ts";
import { openSqliteWith } from "../../src/stores/sqlite/sqlite-store.ts";

/** One place where a ledger is kept. */
export interface StorePlace {
  /** Opens it; more than once unless the kind is memory. */
  open(): Promise<LedgerStore>;
  /** Removes it. */
  remove(): Promise<void>;
}

/** A place in a database. */
export interface SqlPlace extends StorePlace {
  /** Opens it as a version of Dragoman that knows these steps of the schema. */
  openWith(migrations: readonly Migration[]): Promise<LedgerStore>;
  /** Runs a statement beside the store, where table names mean the store's. */
  run(statement: string): Promise<readonly unknown[]>;
}

/** A kind of store. */
export interface StoreKind<Place extends StorePlace = StorePlace> {
  readonly name: string;
  /** Several stores may be open on one place, and what was kept is there after a close. */
  readonly isShared: boolean;
  /** Null = this machine has none. */
  readonly place: (() => Promise<Place>) | null;
}

/** A kind that keeps a ledger in a database. */
export interface SqlKind extends StoreKind<SqlPlace> {
  readonly migrations: readonly Migration[];
  /** Statements that make a table refuse every further row, and the one that ends it. */
  refusal(table: string): { readonly refusing: readonly string[]; readonly allowing: string };
}

const MEMORY: StoreKind = {
  name: "memory",
  isShared: false,
  place: async () => ({ open: async () => new MemoryLedgerStore(), remove: async () => {} }),
};

async function sqliteKind(name: SqliteDriverName): Promise<SqlKind> {
  const isThere = await findSqliteDriver(name).then(
    () => true,
    () => false,
  );
  return {
    name: `sqlite, ${name}`,
    isShared: true,
    place: isThere ? () => sqlitePlace(name) : null,
    migrations: SQLITE_MIGRATIONS,
    refusal: (table) => ({
      refusing: [`CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`],
      allowing: "DROP TRIGGER refuse",
    }),
  };
}

async function sqlitePlace(name: SqliteDriverName): Promise<SqlPlace> {
  const driver = await findSqliteDriver(name);
  const folder = mkdtempSync(join(tmpdir(), "dragoman-store-"));
  const file = join(folder, "ledger.db");
  const openWith: SqlPlace["openWith"] = (migrations) => openSqliteWith({ file, driver: name }, migrations);
  return {
    openWith,
    open: () => openWith(SQLITE_MIGRATIONS),
    remove: async () => rmSync(folder, { recursive: true }),
    run: async (statement) => {
      const database = driver.open(file);
      try {
        return readRows(database, statement);
      } finally {
        database.close();
      }
    },
  };
}

const server = await usePostgres();

const POSTGRES: SqlKind = {
  name: "postgres",
  isShared: true,
  place: server === null ? null : async () => postgresPlace(server.url),
  migrations: POSTGRES_MIGRATIONS,
  refusal: (table) => ({
    refusing: [
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'refused'; END$$",
      `CREATE TRIGGER refuse BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`,
    ],
    allowing: `DROP TRIGGER refuse ON ${table}`,
  }),
};

/** A schema of its own. */
export function postgresPlace(connectionString: string): SqlPlace & { readonly schema: string } {
  const schema = `test_${randomBytes(8).toString("hex")}`;
  const run = async (statement: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString, options: `-c search_path=${schema}` });
    await client.connect();
    try {
      return (await client.query<object>(statement)).rows;
    } finally {
      await client.end();
    }
  };
  const openWith: SqlPlace["openWith"] = (migrations) => openPostgresWith({ connectionString, schema }, migrations);
  return {
    schema,
    openWith,
    open: () => openWith(POSTGRES_MIGRATIONS),
    remove: async () => {
      await run(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    },
    run,
  };
}

/** Those in databases. */
export const SQL_KINDS: readonly SqlKind[] = [await sqliteKind("node:sqlite"), await sqliteKind("libsql"), POSTGRES];

/** All of them. */
export const KINDS: readonly StoreKind[] = [MEMORY, ...SQL_KINDS];

/** Collects what tests open, to close and remove it after each. */
export class OpenStores {
  readonly #places: StorePlace[] = [];
  readonly #stores: LedgerStore[] = [];

  /** A place that is removed after the test. */
  async place<Place extends StorePlace>({ place }: StoreKind<Place>): Promise<Place> {
    if (place === null) throw new Error("the test should have been skipped");
    const found = await place();
    this.#places.push(found);
    return found;
  }

  /** A store that is closed after the test, on a new place unless one is given. */
  async open(kind: StoreKind, at?: StorePlace): Promise<LedgerStore> {
    return this.keep(await (at ?? (await this.place(kind))).open());
  }

  /** Closes this one, too. */
  keep(store: LedgerStore): LedgerStore {
    this.#stores.push(store);
    return store;
  }

  async clear(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.close();
    for (const place of this.#places.splice(0)) await place.remove();
  }
}

/** Keys and owners in a SQLite file. Whole keys are JSON; columns beside it are what keys are looked up by. */
import {
  decideKeyChange,
  questionOf,
  type KeyBackend,
  type KeyChange,
  type KeyDirectory,
  type KeyFacts,
  type KeyQuestion,
  type KeyRequest,
  type StoredKey,
  type StoredOwner,
} from "../../keys/index.ts";
import type { SqlRow, SqlValue } from "../sql/entry-columns.ts";
import { indexedText } from "../sql/stored-text.ts";
import { readRows, type SqliteDatabase } from "./sqlite-driver.ts";

/** Runs work on the open database, and turns what the driver throws into store failures. */
export type SqliteWork = <Value>(action: string, work: (database: SqliteDatabase) => Value) => Promise<Value>;

/** Keeps keys and owners in a file. */
export class SqliteKeyBackend implements KeyBackend {
  readonly #read: SqliteWork;
  readonly #transact: SqliteWork;

  /** `transact` runs its work in a transaction, `read` without a lock: for one statement. */
  constructor(read: SqliteWork, transact: SqliteWork) {
    this.#read = read;
    this.#transact = transact;
  }

  revision(): Promise<number> {
    return this.#read("read the revision of its keys", readRevision);
  }

  load(): Promise<KeyDirectory> {
    return this.#transact("load keys", (database) => ({
      revision: readRevision(database),
      keys: readRows(database, "SELECT body FROM keys ORDER BY seq").map((row) => bodyOf<StoredKey>(row)),
      owners: readRows(database, "SELECT body FROM owners").map((row) => bodyOf<StoredOwner>(row)),
    }));
  }

  change(request: KeyRequest): Promise<KeyChange> {
    return this.#transact("change a key", (database) => {
      const { answer, write } = decideKeyChange(request, lookUp(database, questionOf(request)));
      if (write !== null) writeKey(database, write);
      return answer;
    });
  }

  putOwner(owner: StoredOwner): Promise<void> {
    return this.#transact("change an owner", (database) => {
      const sql = "INSERT INTO owners (id, body) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body";
      run(database, sql, indexedText(owner.id), JSON.stringify(owner));
      raiseRevision(database);
    });
  }

  removeOwner(id: string): Promise<boolean> {
    return this.#transact("remove an owner", (database) => {
      const isThere = readRows(database, "SELECT 1 FROM owners WHERE id = ?1", [indexedText(id)]).length > 0;
      if (!isThere) return false;
      run(database, "DELETE FROM owners WHERE id = ?1", indexedText(id));
      raiseRevision(database);
      return true;
    });
  }
}

function lookUp(database: SqliteDatabase, { identity, name, hashes }: KeyQuestion): KeyFacts {
  const named = readRows(database, "SELECT body FROM keys WHERE id = ?1 OR name = ?1", [indexedText(identity)]);
  const holder = "SELECT id FROM keys WHERE name = ?1 AND revoked_ms IS NULL";
  const [nameHolder] = name === null ? [] : readRows(database, holder, [indexedText(name)]);
  const [hashHolder] = hashes.flatMap((hash) =>
    readRows(database, "SELECT key_id FROM key_hashes WHERE hash = ?1", [hash]),
  );
  return {
    named: named.map((row) => bodyOf<StoredKey>(row)),
    nameHolder: (nameHolder?.["id"] as string | undefined) ?? null,
    hashHolder: (hashHolder?.["key_id"] as string | undefined) ?? null,
  };
}

function writeKey(database: SqliteDatabase, key: StoredKey): void {
  const id = indexedText(key.id);
  const sql =
    "INSERT INTO keys (id, name, revoked_ms, body) VALUES (?1, ?2, ?3, ?4) " +
    "ON CONFLICT (id) DO UPDATE SET name = excluded.name, revoked_ms = excluded.revoked_ms, body = excluded.body";
  run(database, sql, id, indexedText(key.name), key.revokedMs, JSON.stringify(key));
  run(database, "DELETE FROM key_hashes WHERE key_id = ?1", id);
  // A revoked key keeps nobody else from its hashes.
  if (key.revokedMs === null)
    for (const { hash } of key.secrets)
      run(database, "INSERT INTO key_hashes (hash, key_id) VALUES (?1, ?2)", hash, id);
  raiseRevision(database);
}

function readRevision(database: SqliteDatabase): number {
  return readRows(database, "SELECT revision FROM key_revision")[0]?.["revision"] as number;
}

function raiseRevision(database: SqliteDatabase): void {
  database.exec("UPDATE key_revision SET revision = revision + 1");
}

function run(database: SqliteDatabase, sql: string, ...values: readonly SqlValue[]): void {
  database.prepare(sql).run(...values);
}

const bodyOf = <Value>(row: SqlRow): Value => JSON.parse(row["body"] as string) as Value;

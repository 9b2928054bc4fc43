/**
 * Keys and owners in PostgreSQL. Whole keys are JSON; columns beside it are what keys are looked up by. Every change first locks the
 * revision, so changes of several gateways come one after another.
 */
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
import type { SqlRow } from "../sql/entry-columns.ts";
import type { SqlDialect } from "../sql/sql-dialect.ts";
import { indexedText } from "../sql/stored-text.ts";
import type { PostgresConnections, PostgresRun } from "./postgres-pool.ts";

/** Keeps keys and owners in a database. */
export class PostgresKeyBackend implements KeyBackend {
  readonly #connections: PostgresConnections;
  readonly #table: SqlDialect["table"];

  constructor(connections: PostgresConnections, dialect: SqlDialect) {
    this.#connections = connections;
    this.#table = (name) => dialect.table(name);
  }

  async revision(): Promise<number> {
    return revisionOf(await this.#connections.query("read the revision of its keys", this.#selectRevision()));
  }

  load(): Promise<KeyDirectory> {
    return this.#connections.transaction("load keys", "read", async (run) => {
      const revision = revisionOf(await run(this.#selectRevision()));
      const keys = await run(`SELECT body FROM ${this.#table("keys")} ORDER BY seq`);
      const owners = await run(`SELECT body FROM ${this.#table("owners")}`);
      return {
        revision,
        keys: keys.map((row) => bodyOf<StoredKey>(row)),
        owners: owners.map((row) => bodyOf<StoredOwner>(row)),
      };
    });
  }

  async change(request: KeyRequest): Promise<KeyChange> {
    const question = questionOf(request);
    return this.#change("change a key", async (run) => {
      const { answer, write } = decideKeyChange(request, await this.#lookUp(run, question));
      if (write !== null) await this.#writeKey(run, write);
      return answer;
    });
  }

  putOwner(owner: StoredOwner): Promise<void> {
    return this.#change("change an owner", async (run) => {
      const sql = `INSERT INTO ${this.#table("owners")} (id, body) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body`;
      await run(sql, [indexedText(owner.id), JSON.stringify(owner)]);
      await this.#raiseRevision(run);
    });
  }

  removeOwner(id: string): Promise<boolean> {
    return this.#change("remove an owner", async (run) => {
      const sql = `DELETE FROM ${this.#table("owners")} WHERE id = $1 RETURNING 1`;
      const removed = await run(sql, [indexedText(id)]);
      if (removed.length > 0) await this.#raiseRevision(run);
      return removed.length > 0;
    });
  }

  #change<Value>(action: string, work: (run: PostgresRun) => Promise<Value>): Promise<Value> {
    return this.#connections.transaction(action, "write", async (run) => {
      await run(`${this.#selectRevision()} FOR UPDATE`);
      return work(run);
    });
  }

  async #lookUp(run: PostgresRun, { identity, name, hashes }: KeyQuestion): Promise<KeyFacts> {
    const keys = this.#table("keys");
    const named = await run(`SELECT body FROM ${keys} WHERE id = $1 OR name = $1`, [indexedText(identity)]);
    const holder = `SELECT id FROM ${keys} WHERE name = $1 AND revoked_ms IS NULL`;
    const [nameHolder] = name === null ? [] : await run(holder, [indexedText(name)]);
    const sharing = `SELECT key_id FROM ${this.#table("key_hashes")} WHERE hash = ANY($1::text[])`;
    const [hashHolder] = hashes.length === 0 ? [] : await run(sharing, [hashes]);
    return {
      named: named.map((row) => bodyOf<StoredKey>(row)),
      nameHolder: (nameHolder?.["id"] as string | undefined) ?? null,
      hashHolder: (hashHolder?.["key_id"] as string | undefined) ?? null,
    };
  }

  async #writeKey(run: PostgresRun, key: StoredKey): Promise<void> {
    const id = indexedText(key.id);
    const sql =
      `INSERT INTO ${this.#table("keys")} (id, name, revoked_ms, body) VALUES ($1, $2, $3, $4) ` +
      "ON CONFLICT (id) DO UPDATE SET name = excluded.name, revoked_ms = excluded.revoked_ms, body = excluded.body";
    await run(sql, [id, indexedText(key.name), key.revokedMs, JSON.stringify(key)]);
    const hashes = this.#table("key_hashes");
    await run(`DELETE FROM ${hashes} WHERE key_id = $1`, [id]);
    // A revoked key keeps nobody else from its hashes.
    if (key.revokedMs === null) {
      const insert = `INSERT INTO ${hashes} (hash, key_id) SELECT hash, $2 FROM unnest($1::text[]) AS hash`;
      await run(insert, [key.secrets.map(({ hash }) => hash), id]);
    }
    await this.#raiseRevision(run);
  }

  #selectRevision(): string {
    return `SELECT revision FROM ${this.#table("key_revision")}`;
  }

  async #raiseRevision(run: PostgresRun): Promise<void> {
    await run(`UPDATE ${this.#table("key_revision")} SET revision = revision + 1`);
  }
}

const revisionOf = ([row]: readonly SqlRow[]): number => row?.["revision"] as number;

const bodyOf = <Value>(row: SqlRow): Value => JSON.parse(row["body"] as string) as Value;

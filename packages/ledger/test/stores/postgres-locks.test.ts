// What several sessions do to each other in PostgreSQL, and to a connection on which something failed.
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";

import { usePostgres } from "../../../../tests/services/postgres.ts";
import type { LedgerStore, StoredKey } from "../../src/index.ts";
import { openPostgresStore } from "../../src/postgres/index.ts";
import { entry } from "./sample-entries.ts";
import { OpenStores, postgresPlace, type SqlPlace, type StoreKind } from "./store-kinds.ts";

const server = await usePostgres();

const key = (id: string): StoredKey => ({
  id,
  name: id,
  secrets: [{ hash: id.slice(-1).repeat(64), untilMs: null }],
  owner: null,
  tags: [],
  models: ["*"],
  debug: false,
  trusted: false,
  limits: [],
  createdMs: 1,
  expiresMs: null,
  revokedMs: null,
});

describe.skipIf(server === null)("a PostgreSQL store", () => {
  const opened = new OpenStores();
  const pools: pg.Pool[] = [];
  afterEach(async () => {
    await opened.clear();
    for (const pool of pools.splice(0)) await pool.end();
  });

  const KIND: StoreKind<SqlPlace & { readonly schema: string }> = {
    name: "postgres",
    isShared: true,
    place: async () => postgresPlace(server!.url),
  };
  const newPool = (options: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({ connectionString: server!.url, ...options });
    pools.push(pool);
    return pool;
  };

  it("tries again when it was chosen to end a deadlock", async () => {
    const { schema } = await opened.place(KIND);
    const store = opened.keep(await openPostgresStore({ connectionString: server!.url, schema }));
    // This session never looks for deadlocks itself, so the store's is the one that is ended.
    const pool = newPool({ max: 1, options: `-c search_path=${schema} -c deadlock_timeout=1h` });
    const rival = await pool.connect();
    const insert = (id: string): Promise<unknown> =>
      rival.query(
        "INSERT INTO entries (id, request_id, attempt, rule, usage_source, delivered_bytes, overdrawn_nano_usd, opened_ms, started_ms," +
          " ended_ms, key_id, model, deployment, upstream_model) VALUES ($1, 'r', 1, 'actual', 'none', 0, 0, 0, 0, 0, 'k', 'm', 'd', 'u')",
        [id],
      );
    await rival.query("BEGIN");
    await insert("r/2");
    const ingesting = store.ingest({ entries: [entry("r/1"), entry("r/2")], progress: { file: "f", offset: 2 } });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
    const others = newPool({ max: 1 });
    while ((await others.query(waiting, [`%"${schema}"%`])).rows.length === 0);
    await insert("r/1");
    await rival.query("COMMIT");
    rival.release();
    await ingesting;
    expect(await store.spend({ by: ["key"] })).toMatchObject([{ group: { key: "k" }, entries: 2 }]);
    expect(await store.progress()).toEqual(new Map([["f", 2]]));
  });

  it.each(["serializable", "repeatable read"])("is as exact where transactions are %s by default", async (level) => {
    const { schema } = await opened.place(KIND);
    const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
    const stores: LedgerStore[] = await Promise.all(
      Array.from({ length: 4 }, () => openPostgresStore({ pool: newPool({ options }), schema })),
    );
    for (const store of stores) opened.keep(store);
    const entries = Array.from({ length: 100 }, (_, index) => entry(`r/${index}`));
    await Promise.all(
      stores.map(async (store, index) => {
        await store.ingest({
          entries: index % 2 === 0 ? entries : entries.toReversed(),
          progress: { file: "f", offset: index },
        });
        await store.keys.create(key(`key_${index}`));
      }),
    );
    expect(await stores[0]!.spend({ by: [] })).toMatchObject([{ entries: 100 }]);
    expect(await stores[0]!.progress()).toEqual(new Map([["f", 3]]));
    expect(await stores[0]!.keys.load()).toMatchObject({ revision: 4, keys: { length: 4 } });
  });

  it("never uses a connection again on which a transaction failed", async () => {
    const at = await opened.place(KIND);
    const { schema } = at;
    const store = opened.keep(await openPostgresStore({ connectionString: server!.url, schema, maxConnections: 1 }));
    await at.run("ALTER TABLE key_hashes ADD CONSTRAINT refuse CHECK (false)");
    await expect(store.keys.create(key("key_a"))).rejects.toMatchObject({ code: "ledger_store_failed" });
    await at.run("ALTER TABLE key_hashes DROP CONSTRAINT refuse");
    expect(await store.keys.create(key("key_a"))).toMatchObject({ ok: true });
    expect(await store.keys.load()).toMatchObject({ revision: 1, keys: [key("key_a")] });
  });
});

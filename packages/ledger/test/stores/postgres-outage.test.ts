// A PostgreSQL server that is not there, falls silent, dies and comes back: nothing is lost, nothing is booked twice, no error ends
// the process, and no message tells the password.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { inspect } from "node:util";

import pg from "pg";
import { afterEach, beforeAll, describe, expect, it } from "vitest";

import { usePostgres } from "../../../../tests/services/postgres.ts";
import type { OwnService } from "../../../../tests/services/service-process.ts";
import type { LedgerEntry, LedgerStore } from "../../src/index.ts";
import { openPostgresStore, type PostgresPool } from "../../src/postgres/index.ts";
import { entry } from "./sample-entries.ts";
import { postgresPlace } from "./store-kinds.ts";

const postgres = await usePostgres();

const FAILED = { code: "ledger_store_failed" };

const idsOf = async (store: LedgerStore): Promise<string[]> => {
  const found: string[] = [];
  for await (const { id } of store.entries({})) found.push(id);
  return found;
};

const batch = (number: number): { entries: LedgerEntry[]; progress: { file: string; offset: number } } => ({
  entries: Array.from({ length: 20 }, (_, index) => entry(`r${number}/${index}`)),
  progress: { file: "f", offset: number + 1 },
});

describe("a server that cannot be reached", () => {
  it.each([
    { name: "nobody listens", address: (port: number) => `postgres://gw:hunter2@127.0.0.1:${port}/x` },
    { name: "the host is unknown", address: () => "postgres://gw:hunter2@unknown.invalid/x" },
    { name: "the address cannot be read", address: () => "postgres://gw:hunter2@[:x/x" },
    { name: "the address is none", address: () => "hunter2" },
  ])("is told as a failed store without the password: $name", async ({ address }) => {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await once(listener, "close");
    const error: unknown = await openPostgresStore({ connectionString: address(port) }).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject(FAILED);
    expect((error as Error).message).not.toContain("hunter2");
    expect(inspect(error, { depth: 20, showHidden: false })).not.toContain("hunter2");
  });

  it("that accepts and never answers is given up", async () => {
    const listener = createServer(() => {}).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const opening = openPostgresStore({ connectionString: `postgres://gw@127.0.0.1:${port}/x`, connectTimeoutMs: 100 });
    await expect(opening).rejects.toMatchObject(FAILED);
    listener.close();
  });
});

describe.skipIf(!postgres?.startOwn)("a server that goes and comes back", () => {
  let server: OwnService;
  const stores: LedgerStore[] = [];
  beforeAll(async () => {
    server = await postgres!.startOwn!();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  const open = async (schema: string, statementTimeoutMs = 30_000): Promise<LedgerStore> => {
    const store = await openPostgresStore({ connectionString: server.url, schema, statementTimeoutMs });
    stores.push(store);
    return store;
  };

  it("is used again by the store that was open, and has everything that was kept", async () => {
    const store = await open("crash");
    await store.ingest(batch(0));
    await server.kill();
    await expect(store.ingest(batch(1))).rejects.toMatchObject(FAILED);
    await expect(store.keys.revision()).rejects.toMatchObject(FAILED);
    await expect(openPostgresStore({ connectionString: server.url })).rejects.toMatchObject(FAILED);
    await server.restart();
    await store.ingest(batch(0));
    await store.ingest(batch(1));
    expect(await idsOf(store)).toEqual([0, 1].flatMap((number) => batch(number).entries.map(({ id }) => id)));
    expect(await store.progress()).toEqual(new Map([["f", 2]]));
  });

  it("loses and doubles nothing when it dies while batches are on their way", async () => {
    const schema = "dying";
    const gateways = [await open(schema), await open(schema)];
    const total = 12;
    let sent = 0;
    const failures: unknown[] = [];
    /** Sends each batch until it is kept, as an ingest does. */
    const ingestAll = async (store: LedgerStore): Promise<void> => {
      for (let number = 0; number < total; number += 1)
        for (;;) {
          sent += 1;
          const failure: unknown = await store.ingest(batch(number)).then(
            () => null,
            (error: unknown) => error,
          );
          if (failure === null) break;
          failures.push(failure);
          await back;
        }
    };
    let back = Promise.resolve();
    const working = Promise.all(gateways.map(ingestAll));
    const crash = async (): Promise<void> => {
      await server.kill();
      await server.restart();
    };
    for (const after of [3, 11, 19]) {
      while (sent < after) await new Promise(setImmediate);
      back = crash();
      await back;
    }
    await working;
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toMatchObject(FAILED);
    const ids = await idsOf(gateways[0]!);
    const expected = Array.from({ length: total }, (_, number) => batch(number).entries.map(({ id }) => id)).flat();
    expect(ids.toSorted()).toEqual(expected.toSorted());
    expect(await gateways[1]!.progress()).toEqual(new Map([["f", total]]));
  });

  it("that falls silent fails what waits for it in bounded time, and answers the same store later", async () => {
    const store = await open("silent", 2_000);
    await store.ingest(batch(0));
    server.pause();
    try {
      await expect(store.ingest(batch(1))).rejects.toMatchObject(FAILED);
    } finally {
      server.resume();
    }
    await store.ingest(batch(1));
    expect(await idsOf(store)).toHaveLength(40);
  });

  it("leaves a pool of the application to the application", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    const store = await openPostgresStore({ pool: pool satisfies PostgresPool, schema: "lent" });
    await store.ingest(batch(0));
    await store.close();
    expect((await pool.query("SELECT COUNT(*) AS n FROM lent.entries")).rows).toEqual([{ n: "20" }]);
    await pool.end();
  });

  it("is refused where its database cannot hold every text", async () => {
    const place = postgresPlace(server.url);
    await place.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    const connectionString = server.url.replace(/postgres$/, "latin");
    await expect(openPostgresStore({ connectionString })).rejects.toMatchObject({
      ...FAILED,
      message: expect.stringContaining("UTF8") as unknown,
    });
  });

  it.each(["", "Upper", 'a"b', "x".repeat(64)])("is not asked for a schema called %j", async (schema) => {
    await expect(openPostgresStore({ connectionString: server.url, schema })).rejects.toMatchObject(FAILED);
  });
});

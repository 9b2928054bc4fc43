// How schemas change: with their data, at the same moment from several sides, and with two versions of Dragoman in one place.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { afterEach, describe, expect, it } from "vitest";

import type { LedgerEntry, LedgerStore } from "../../src/index.ts";
import { openSqliteStore } from "../../src/sqlite/index.ts";
import type { Migration } from "../../src/stores/sql/migrations.ts";
import { entry } from "./sample-entries.ts";
import { OpenStores, SQL_KINDS } from "./store-kinds.ts";

const allOf = async (store: LedgerStore): Promise<LedgerEntry[]> => {
  const found: LedgerEntry[] = [];
  for await (const each of store.entries({})) found.push(each);
  return found;
};

describe.each(SQL_KINDS)("$name", (kind) => {
  const { migrations, place } = kind;
  const latest = migrations.length;
  const opened = new OpenStores();
  afterEach(() => opened.clear());

  const next = (isCompatible: boolean): Migration => ({
    version: latest + 1,
    title: "a column more",
    isCompatible,
    statements: ["ALTER TABLE entries ADD COLUMN colour bigint", "UPDATE entries SET colour = 7"],
  });

  describe.skipIf(place === null)("a schema", () => {
    it("is numbered without gaps", () => {
      expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
    });

    it.each(migrations)("of version $version opens and becomes the latest with its data", async ({ version }) => {
      const at = await opened.place(kind);
      const old = await at.openWith(migrations.slice(0, version));
      await old.ingest({ entries: [entry("old")], progress: { file: "f", offset: 5 } });
      await old.close();
      const store = opened.keep(await at.open());
      await store.ingest({ entries: [entry("old"), entry("new")], progress: null });
      expect([await allOf(store), await store.progress()]).toEqual([[entry("old"), entry("new")], new Map([["f", 5]])]);
      expect(await store.keys.load()).toEqual({ revision: 0, keys: [], owners: [] });
      expect(await at.run("SELECT COUNT(*) AS steps FROM migrations")).toMatchObject([
        { steps: expect.toSatisfy((steps) => Number(steps) === latest) as unknown },
      ]);
    });

    it("gets each step once when many open it at the same moment", async () => {
      const at = await opened.place(kind);
      const stores = await Promise.all(Array.from({ length: 8 }, () => at.openWith([...migrations, next(true)])));
      await Promise.all(
        stores.map((store, index) => opened.keep(store).ingest({ entries: [entry(`r/${index}`)], progress: null })),
      );
      expect(await allOf(stores[0]!)).toHaveLength(8);
    });

    it("stays as it was when a step fails", async () => {
      const at = await opened.place(kind);
      const broken: Migration = { ...next(true), statements: [...next(true).statements, "SELECT nonsense"] };
      const before = opened.keep(await at.open());
      await before.ingest({ entries: [entry("a")], progress: null });
      await expect(at.openWith([...migrations, broken])).rejects.toMatchObject({ code: "ledger_store_failed" });
      opened.keep(await at.openWith([...migrations, next(true)]));
      expect(await allOf(before)).toEqual([entry("a")]);
    });

    it("with a compatible step more is used by an older version, before and after it is opened again", async () => {
      const at = await opened.place(kind);
      const older = opened.keep(await at.open());
      const newer = opened.keep(await at.openWith([...migrations, next(true)]));
      await older.ingest({ entries: [entry("a")], progress: null });
      const reopened = opened.keep(await at.open());
      await reopened.ingest({ entries: [entry("b")], progress: null });
      expect(await allOf(newer)).toEqual([entry("a"), entry("b")]);
      expect(await allOf(reopened)).toEqual([entry("a"), entry("b")]);
    });

    it("with a step more that is not compatible is refused to an older version, which says why", async () => {
      const at = await opened.place(kind);
      opened.keep(await at.openWith([...migrations, next(false)]));
      await expect(at.open()).rejects.toMatchObject({
        code: "ledger_store_failed",
        message: expect.stringContaining(
          `has schema ${latest + 1}, this version of Dragoman knows schemas up to ${latest}`,
        ) as unknown,
      });
    });
  });

  it.skipIf(place === null).each(["entries", "journal_progress"])(
    "a batch of which %s cannot be kept is not kept at all",
    async (table) => {
      const at = await opened.place(kind);
      const store = opened.keep(await at.open());
      await store.ingest({ entries: [entry("a")], progress: { file: "f", offset: 5 } });
      const { refusing, allowing } = kind.refusal(table);
      for (const statement of refusing) await at.run(statement);
      const batch = { entries: [entry("b")], progress: { file: "g", offset: 9 } };
      await expect(store.ingest(batch)).rejects.toMatchObject({ code: "ledger_store_failed" });
      await at.run(allowing);
      expect([await allOf(store), await store.progress()]).toEqual([[entry("a")], new Map([["f", 5]])]);
      await store.ingest(batch);
      expect(await allOf(store)).toEqual([entry("a"), entry("b")]);
    },
  );
});

describe("processes that open one SQLite file", () => {
  const folders: string[] = [];
  const opened = new OpenStores();
  afterEach(async () => {
    await opened.clear();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  it("at the same moment all find it whole, and write in turns", async () => {
    const folder = mkdtempSync(join(tmpdir(), "dragoman-store-"));
    folders.push(folder);
    const file = join(folder, "data", "ledger.db");
    const module = pathToFileURL(join(import.meta.dirname, "../../src/sqlite/index.ts")).href;
    // Loaded before the start, so that opening is what coincides.
    const script =
      `const { openSqliteStore } = await import(${JSON.stringify(module)});` +
      `process.once("message", async () => {` +
      `const store = await openSqliteStore({ file: ${JSON.stringify(file)} });` +
      // To create a key, it is first looked for: two that do so at once must not both go on from there.
      `for (let number = 0; number < 20; number += 1) {` +
      `const id = process.pid + "_" + number;` +
      `const hash = (process.pid * 100 + number).toString(16).padStart(64, "0");` +
      `await store.keys.create({ id, name: id, secrets: [{ hash, untilMs: null }], revokedMs: null }); }` +
      `await store.close(); process.send("done"); process.disconnect(); }); process.send("ready");`;
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      }),
    );
    await Promise.all(children.map((child) => once(child, "message")));
    const answers = children.map((child) => once(child, "message"));
    for (const child of children) child.send("go");
    expect((await Promise.all(answers)).map(([answer]) => answer as unknown)).toEqual(children.map(() => "done"));
    const store = opened.keep(await openSqliteStore({ file }));
    expect(await store.keys.load()).toMatchObject({ revision: 80, keys: { length: 80 } });
  });
});

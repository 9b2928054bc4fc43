// What every store does with keys and owners, in one table.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";

import type { KeyStore, StoredKey, StoredOwner } from "../../src/index.ts";
import { HARD_TEXTS } from "./sample-entries.ts";
import { KINDS, OpenStores, type StorePlace } from "./store-kinds.ts";

const hash = (digit: string): string => digit.repeat(64);

const key = (id: string, parts: Partial<StoredKey> = {}): StoredKey => ({
  id,
  name: id,
  secrets: [{ hash: hash(id.slice(-1)), untilMs: null }],
  owner: "team",
  tags: ["t"],
  models: ["*"],
  debug: false,
  trusted: true,
  limits: [{ usd: 20, per: "day", alertAt: [0.8] }],
  createdMs: 1,
  expiresMs: null,
  revokedMs: null,
  ...parts,
});

const owner = (id: string): StoredOwner => ({ id, limits: [{ requests: 5, per: "10m" }], eachKey: [{ parallel: 2 }] });

const refused = (reason: string): object => ({ ok: false, reason });

describe.each(KINDS)("$name", (kind) => {
  const { place, isShared } = kind;
  const opened = new OpenStores();
  const clear = (): Promise<void> => opened.clear();
  const open = async (at?: StorePlace): Promise<KeyStore> => (await opened.open(kind, at)).keys;
  afterEach(clear);

  describe.skipIf(place === null)("keys", () => {
    it("are given back as they were created, oldest first", async () => {
      const keys = await open();
      const revoked = key("key_b", { name: "key_a", secrets: key("key_a").secrets, revokedMs: 5 });
      for (const each of [key("key_a"), revoked, key("key_0", { owner: null, expiresMs: 9, limits: [] })])
        expect(await keys.create(each)).toEqual({ ok: true, key: each });
      expect((await keys.load()).keys).toEqual([
        key("key_a"),
        revoked,
        key("key_0", { owner: null, expiresMs: 9, limits: [] }),
      ]);
    });

    it("share neither name nor hash while they live", async () => {
      const keys = await open();
      await keys.create(key("key_a", { name: "app" }));
      expect(await keys.create(key("key_b", { name: "app" }))).toEqual(refused("name-taken"));
      const twoHashes = key("key_b", { secrets: [...key("key_b").secrets, { hash: hash("a"), untilMs: 3 }] });
      expect(await keys.create(twoHashes)).toEqual(refused("hash-taken"));
      await keys.create(key("key_b"));
      expect(await keys.update("key_b", { name: "app" })).toEqual(refused("name-taken"));
      expect(await keys.rotate("key_b", hash("a"), 9)).toEqual(refused("hash-taken"));
      expect(await keys.rotate("key_b", hash("b"), 9)).toEqual(refused("hash-taken"));
      await keys.revoke("app", 4);
      expect(await keys.create(key("key_c", { name: "app", secrets: key("key_a").secrets }))).toMatchObject({
        ok: true,
      });
      expect(await keys.rotate("key_b", hash("d"), 9)).toMatchObject({ ok: true });
    });

    it("that are revoked stay as they are", async () => {
      const keys = await open();
      await keys.create(key("key_a", { name: "app" }));
      const gone = key("key_a", { name: "app", revokedMs: 4 });
      expect(await keys.revoke("app", 4)).toEqual({ ok: true, key: gone });
      expect(await keys.revoke("key_a", 5)).toEqual({ ok: true, key: gone });
      expect(await keys.rotate("app", hash("b"), 9)).toEqual(refused("revoked-key"));
      expect(await keys.update("app", { debug: true })).toEqual(refused("revoked-key"));
      expect((await keys.load()).keys).toEqual([gone]);
    });

    it("rotate with a grace that ends no secret later than it would have", async () => {
      const keys = await open();
      await keys.create(key("key_a"));
      await keys.rotate("key_a", hash("b"), 100);
      const secrets = [
        { hash: hash("c"), untilMs: null },
        { hash: hash("b"), untilMs: 200 },
        { hash: hash("a"), untilMs: 100 },
      ];
      expect(await keys.rotate("key_a", hash("c"), 200)).toEqual({ ok: true, key: key("key_a", { secrets }) });
      expect((await keys.load()).keys).toEqual([key("key_a", { secrets })]);
    });

    it("change in what is given, and only in what may change", async () => {
      const keys = await open();
      await keys.create(key("key_a"));
      const change = {
        name: "new",
        owner: null,
        tags: [],
        models: [],
        debug: true,
        trusted: false,
        limits: [],
        expiresMs: 3,
      };
      const smuggled = { ...change, id: "key_x", revokedMs: 1, secrets: [] };
      expect(await keys.update("key_a", smuggled)).toEqual({ ok: true, key: key("key_a", change) });
      expect(await keys.update("new", { name: "new", debug: false })).toMatchObject({ ok: true });
      expect((await keys.load()).keys).toEqual([key("key_a", { ...change, debug: false })]);
    });

    it("are meant by id before name, alive before revoked, and of revoked ones the youngest", async () => {
      const keys = await open();
      await keys.create(key("key_a", { name: "app", revokedMs: 3, createdMs: 1 }));
      await keys.create(key("key_b", { name: "app", revokedMs: 2, createdMs: 2 }));
      expect(await keys.revoke("app", 9)).toMatchObject({ key: { id: "key_b" } });
      await keys.create(key("key_c", { name: "app" }));
      await keys.create(key("key_d", { name: "key_c" }));
      expect(await keys.update("app", { debug: true })).toMatchObject({ key: { id: "key_c" } });
      expect(await keys.update("key_c", { debug: true })).toMatchObject({ key: { id: "key_c" } });
      expect(await keys.revoke("nobody", 1)).toEqual(refused("unknown-key"));
    });

    it("are refused as a whole where they are none", async () => {
      const keys = await open();
      await keys.create(key("key_a"));
      const none = { code: "state_violation" };
      await expect(keys.create(key("key_a", { name: "other" }))).rejects.toMatchObject(none);
      await expect(keys.create(key("key_b", { secrets: [] }))).rejects.toMatchObject(none);
      await expect(
        keys.create(key("key_b", { secrets: [{ hash: "B".repeat(64), untilMs: null }] })),
      ).rejects.toMatchObject(none);
      await expect(keys.rotate("key_a", "b", 1)).rejects.toMatchObject(none);
      expect(await keys.load()).toMatchObject({ revision: 1, keys: [key("key_a")] });
    });

    it("have any text for a name", async () => {
      const keys = await open();
      const texts = [...HARD_TEXTS, ...HARD_TEXTS.map((text) => `${"x".repeat(65_536)}${text}`)];
      const names = [...new Set(texts)];
      for (const [index, name] of names.entries()) {
        const secrets = [{ hash: index.toString(16).padStart(64, "0"), untilMs: null }];
        expect(await keys.create(key(`key_${index}`, { name, owner: name, secrets }))).toMatchObject({ ok: true });
        await keys.putOwner(owner(name));
      }
      for (const [index, name] of names.entries())
        expect(await keys.update(name, { debug: true })).toMatchObject({ key: { id: `key_${index}`, name } });
      const { owners } = await keys.load();
      expect(new Set(owners.map(({ id }) => id))).toEqual(new Set(names));
      for (const name of names) expect(await keys.removeOwner(name)).toBe(true);
    });
  });

  describe.skipIf(place === null)("owners", () => {
    it("are put, replaced and removed; their keys stay", async () => {
      const keys = await open();
      await keys.create(key("key_a"));
      await keys.putOwner({ id: "team", limits: [], eachKey: [] });
      await keys.putOwner(owner("team"));
      expect((await keys.load()).owners).toEqual([owner("team")]);
      expect([await keys.removeOwner("team"), await keys.removeOwner("team")]).toEqual([true, false]);
      expect(await keys.load()).toMatchObject({ keys: [key("key_a")], owners: [] });
    });
  });

  describe.skipIf(place === null)("the revision", () => {
    it("grows with every change and with nothing else", async () => {
      const keys = await open();
      const steps: readonly (readonly [() => Promise<unknown>, number])[] = [
        [() => keys.create(key("key_a")), 1],
        [() => keys.create(key("key_a", { id: "key_b" })), 1],
        [() => keys.rotate("key_a", hash("c"), 1), 2],
        [() => keys.update("key_a", { debug: true }), 3],
        [() => keys.update("nobody", { debug: true }), 3],
        [() => keys.putOwner(owner("team")), 4],
        [() => keys.removeOwner("nobody"), 4],
        [() => keys.removeOwner("team"), 5],
        [() => keys.revoke("key_a", 1), 6],
        [() => keys.revoke("key_a", 2), 6],
      ];
      expect(await keys.revision()).toBe(0);
      for (const [change, revision] of steps) {
        await change();
        expect([await keys.revision(), (await keys.load()).revision]).toEqual([revision, revision]);
      }
    });
  });

  it.skipIf(place === null || !isShared)("of two stores that change keys at once, one wins", async () => {
    const at = await opened.place(kind);
    const all = await Promise.all([open(at), open(at), open(at)]);
    const answers = await Promise.all(
      all.flatMap((keys, index) => [
        keys.create(key(`key_a${index}`, { name: "app", secrets: [{ hash: hash("a"), untilMs: null }] })),
        keys.create(key(`key_b${index}`, { name: `own ${index}`, secrets: [{ hash: hash("b"), untilMs: null }] })),
      ]),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2);
    expect(await all[0]!.load()).toMatchObject({ revision: 2, keys: { length: 2 } });
  });

  it.skipIf(place === null)(
    "never lets two living keys share a name or a hash, whatever happens in whatever order",
    async () => {
      const id = fc.constantFrom("key_a", "key_b", "key_c", "key_d");
      const name = fc.constantFrom("x", "y", "key_a");
      const anyHash = fc.constantFrom("1", "2", "3").map(hash);
      const step = fc.oneof(
        fc.record({ kind: fc.constant("create" as const), id, name, hash: anyHash }),
        fc.record({ kind: fc.constant("revoke" as const), name: fc.oneof(id, name) }),
        fc.record({ kind: fc.constant("rotate" as const), name: fc.oneof(id, name), hash: anyHash }),
        fc.record({ kind: fc.constant("update" as const), name: fc.oneof(id, name), to: name }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const keys = await open();
          const used = new Set<string>();
          for (const each of steps) {
            if (each.kind === "create" && !used.has(each.id)) {
              const secrets = [{ hash: each.hash, untilMs: null }];
              if ((await keys.create(key(each.id, { name: each.name, secrets }))).ok) used.add(each.id);
            }
            if (each.kind === "revoke") await keys.revoke(each.name, 1);
            if (each.kind === "rotate") await keys.rotate(each.name, each.hash, 1);
            if (each.kind === "update") await keys.update(each.name, { name: each.to });
            const living = (await keys.load()).keys.filter(({ revokedMs }) => revokedMs === null);
            const hashes = living.flatMap(({ secrets }) => secrets.map((secret) => secret.hash));
            expect(new Set(living.map((one) => one.name)).size).toBe(living.length);
            expect(new Set(hashes).size).toBe(hashes.length);
          }
          await clear();
        }),
        { numRuns: 25 },
      );
    },
  );
});

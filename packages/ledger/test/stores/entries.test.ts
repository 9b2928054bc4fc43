// What every store does with entries, in one table: memory, SQLite on a file, PostgreSQL on a server.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";

import type {
  ConsumptionQuery,
  EntryQuery,
  LedgerEntry,
  LedgerStore,
  SpendGroup,
  SpendQuery,
} from "../../src/index.ts";
import { SpendTable } from "../../src/index.ts";
import { anyEntries, entry, HARD_TEXTS, NOON } from "./sample-entries.ts";
import { KINDS, OpenStores, type StorePlace } from "./store-kinds.ts";

const DAY_MS = 86_400_000;

/** Opening a place takes a server tens of milliseconds, so properties run a few times each, over many entries. */
const RUNS = { numRuns: 25 };

describe.each(KINDS)("$name", (kind) => {
  const { place, isShared } = kind;
  const opened = new OpenStores();
  const clear = (): Promise<void> => opened.clear();
  const newPlace = (): Promise<StorePlace> => opened.place(kind);
  const open = (at?: StorePlace): Promise<LedgerStore> => opened.open(kind, at);
  const ingest = (store: LedgerStore, ...entries: readonly LedgerEntry[]): Promise<void> =>
    store.ingest({ entries, progress: null });
  const read = async (store: LedgerStore, query: EntryQuery = {}): Promise<LedgerEntry[]> => {
    const found: LedgerEntry[] = [];
    for await (const each of store.entries(query)) found.push(each);
    return found;
  };
  afterEach(clear);

  describe.skipIf(place === null)("entries", () => {
    it("are booked once however often they come, and never changed", async () => {
      const store = await open();
      await ingest(store, entry("r/1", { costNanoUsd: 1 }), entry("r/1", { costNanoUsd: 2 }));
      await ingest(store, entry("r/1", { costNanoUsd: 3 }), entry("r/2"));
      expect(await read(store)).toEqual([entry("r/1", { costNanoUsd: 1 }), entry("r/2")]);
    });

    it("come back as they were given, whatever they hold", async () => {
      await fc.assert(
        fc.asyncProperty(anyEntries, async (entries) => {
          const store = await open();
          await ingest(store, ...entries);
          expect(await read(store)).toEqual(entries.toSorted((one, other) => one.endedMs - other.endedMs));
          await clear();
        }),
        RUNS,
      );
    });

    it("are told apart by ids that differ in hard texts only", async () => {
      const store = await open();
      const texts = [...HARD_TEXTS, ...HARD_TEXTS.map((text) => `${"x".repeat(65_536)}${text}`)];
      const entries = [...new Set(texts)].map((text) =>
        entry(`${text}/1`, { requestId: text, key: text, owner: text }),
      );
      await ingest(store, ...entries);
      expect(await read(store)).toEqual(entries);
      for (const each of entries) {
        expect(await read(store, { requestId: each.requestId })).toEqual([each]);
        expect(await read(store, { key: each.key })).toEqual([each]);
        expect(await read(store, { owner: each.key })).toEqual([each]);
      }
    });

    it.each<{ readonly name: string; readonly query: EntryQuery; readonly found: readonly string[] }>([
      { name: "all, oldest end first", query: {}, found: ["b", "a", "c", "d"] },
      { name: "those that ended from a time on", query: { sinceMs: NOON }, found: ["a", "c", "d"] },
      { name: "those that ended before a time", query: { untilMs: NOON }, found: ["b"] },
      { name: "those between two times", query: { sinceMs: NOON - 0.5, untilMs: NOON + 0.5 }, found: ["a", "c"] },
      { name: "none of an empty time", query: { sinceMs: NOON, untilMs: NOON }, found: [] },
      {
        name: "all times that a number can say",
        query: { sinceMs: -Infinity, untilMs: Infinity, limit: 1 },
        found: ["b"],
      },
      { name: "a key's", query: { key: "k" }, found: ["b", "d"] },
      { name: "an owner's", query: { owner: "o" }, found: ["c"] },
      { name: "a model's", query: { model: "m" }, found: ["d"] },
      { name: "a request's", query: { requestId: "a" }, found: ["a"] },
      { name: "a key's of one model", query: { key: "k", model: "m" }, found: ["d"] },
      { name: "so many at most", query: { limit: 3 }, found: ["b", "a", "c"] },
      { name: "none of a limit of none", query: { limit: 0 }, found: [] },
    ])("are found: $name", async ({ query, found }) => {
      const store = await open();
      await ingest(
        store,
        entry("a/1", { owner: null }),
        entry("b/1", { endedMs: NOON - 1, key: "k" }),
        entry("c/1", { owner: "o" }),
        entry("d/1", { endedMs: NOON + 1, key: "k", model: "m" }),
      );
      expect((await read(store, query)).map(({ requestId }) => requestId)).toEqual(found);
    });

    it("come page by page without loss, also where many ended in one millisecond", async () => {
      const store = await open();
      const entries = Array.from({ length: 1_201 }, (_, index) =>
        entry(`r/${index}`, { endedMs: NOON + Math.floor(index / 700), key: index % 2 === 0 ? "even" : "odd" }),
      );
      await ingest(store, ...entries);
      expect((await read(store)).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
      expect(await read(store, { limit: 1_000 })).toHaveLength(1_000);
      expect(await read(store, { key: "even" })).toHaveLength(601);
    });

    it.each([
      { name: "a fraction", parts: { deliveredBytes: 1.5 } },
      { name: "no number", parts: { endedMs: Number.NaN } },
      { name: "a number beyond 2^53", parts: { usage: { ...entry("").usage!, input: 2 ** 53 } } },
    ])("are refused with $name, and with them the whole batch", async ({ parts }) => {
      const store = await open();
      const batch = { entries: [entry("good"), entry("bad", parts)], progress: { file: "f", offset: 1 } };
      await expect(store.ingest(batch)).rejects.toMatchObject({ code: "state_violation" });
      expect([await read(store), await store.progress()]).toEqual([[], new Map()]);
    });
  });

  describe.skipIf(place === null)("progress", () => {
    it("is kept with the entries, by file, and never goes back", async () => {
      const store = await open();
      await store.ingest({ entries: [entry("a")], progress: { file: "one", offset: 10 } });
      await store.ingest({ entries: [], progress: { file: "\u0000two", offset: 2 ** 40 } });
      await store.ingest({ entries: [entry("b")], progress: { file: "one", offset: 5 } });
      const kept = new Map([
        ["one", 10],
        ["\u0000two", 2 ** 40],
      ]);
      expect(await store.progress()).toEqual(kept);
      await store.forgetProgress(["\u0000two", "unknown"]);
      expect(await store.progress()).toEqual(new Map([["one", 10]]));
      await store.ingest({ entries: [], progress: { file: "\u0000two", offset: 1 } });
      expect((await store.progress()).get("\u0000two")).toBe(1);
    });
  });

  describe.skipIf(place === null)("sums", () => {
    const groups = fc.uniqueArray(
      fc.constantFrom<SpendGroup[]>("key", "owner", "endUser", "model", "deployment", "day"),
    );
    const bound = fc.option(fc.integer({ min: NOON - DAY_MS, max: NOON + DAY_MS }), { nil: undefined });
    const where = fc.record(
      {
        key: fc.constantFrom("app", "none", null),
        owner: fc.constantFrom("team", null),
        endUser: fc.constantFrom("eve", null),
        model: fc.constant("chat"),
        day: fc.constantFrom("2026-11-30", "no day", null),
      },
      { requiredKeys: [] },
    );
    const anyQuery: fc.Arbitrary<SpendQuery> = fc
      .record({ by: groups, sinceMs: bound, untilMs: bound, where: fc.oneof(fc.constant({}), where) })
      .map(({ by, where: names, sinceMs, untilMs }) => ({
        by,
        where: names,
        ...(sinceMs === undefined ? null : { sinceMs }),
        ...(untilMs === undefined ? null : { untilMs }),
      }));

    it("of what was spent are those of SpendTable", async () => {
      await fc.assert(
        fc.asyncProperty(anyEntries, fc.array(anyQuery, { minLength: 8, maxLength: 8 }), async (entries, queries) => {
          const store = await open();
          await ingest(store, ...entries);
          for (const query of queries) {
            const table = new SpendTable(query);
            for (const each of entries) table.add(each);
            expect(await store.spend(query)).toEqual(table.rows());
          }
          await clear();
        }),
        RUNS,
      );
    });

    it("of money are exact beyond 2^53 and 2^63, in both directions", async () => {
      const store = await open();
      const cost = Number.MAX_SAFE_INTEGER;
      await ingest(store, ...Array.from({ length: 1_100 }, (_, index) => entry(`r/${index}`, { costNanoUsd: cost })));
      await ingest(
        store,
        ...Array.from({ length: 3 }, (_, index) => entry(`s/${index}`, { costNanoUsd: -cost, key: "less" })),
      );
      expect(await store.spend({ by: ["key"] })).toMatchObject([
        { group: { key: "app" }, costNanoUsd: 1_100n * BigInt(cost) },
        { group: { key: "less" }, costNanoUsd: -3n * BigInt(cost) },
      ]);
      expect(await store.consumption({ scope: "key", sinceMs: 0, partMs: null })).toMatchObject([
        { id: "app", nanoUsd: cost },
        { id: "less", nanoUsd: 0 },
      ]);
    });

    const SCOPES: Readonly<Record<ConsumptionQuery["scope"], (entry: LedgerEntry) => string | null>> = {
      key: ({ key }) => key,
      owner: ({ owner }) => owner,
      "end-user": ({ endUser, owner, key }) =>
        endUser === null ? null : owner === null ? `key ${key}\n${endUser}` : `owner ${owner}\n${endUser}`,
      model: ({ model }) => model,
      deployment: ({ deployment }) => deployment,
      global: () => "",
    };
    const anyConsumption = fc.record(
      {
        scope: fc.constantFrom(...(Object.keys(SCOPES) as ConsumptionQuery["scope"][])),
        sinceMs: fc.integer({ min: NOON - DAY_MS, max: NOON + DAY_MS }),
        untilMs: fc.integer({ min: NOON - DAY_MS, max: NOON + DAY_MS }),
        partMs: fc.constantFrom(null, 60_000, 7_777_777),
      },
      { requiredKeys: ["scope", "sinceMs", "partMs"] },
    );

    it("of what accounts have taken are plain sums, each entry in one part", async () => {
      await fc.assert(
        fc.asyncProperty(
          anyEntries,
          fc.array(anyConsumption, { minLength: 8, maxLength: 8 }),
          async (entries, queries) => {
            const store = await open();
            await ingest(store, ...entries);
            for (const query of queries) expect(await store.consumption(query)).toEqual(plainSums(entries, query));
            await clear();
          },
        ),
        RUNS,
      );
    });

    function plainSums(
      entries: readonly LedgerEntry[],
      { scope, sinceMs, untilMs, partMs }: ConsumptionQuery,
    ): object[] {
      const parts = new Map<string, LedgerEntry[]>();
      const partOf = ({ endedMs }: LedgerEntry): number => (partMs === null ? sinceMs : endedMs - (endedMs % partMs));
      for (const each of entries) {
        const id = SCOPES[scope](each);
        if (id === null || each.endedMs < sinceMs || each.endedMs >= (untilMs ?? Infinity)) continue;
        const name = JSON.stringify([id, partOf(each)]);
        parts.set(name, [...(parts.get(name) ?? []), each]);
      }
      const sum = (of: readonly LedgerEntry[], read: (each: LedgerEntry) => number | undefined): number =>
        of.reduce((total, each) => total + Math.min(read(each) ?? 0, 1_000_000_000), 0);
      return [...parts.values()].map((of) => {
        const cost = of.reduce((total, { costNanoUsd }) => total + BigInt(costNanoUsd ?? 0), 0n);
        const isCounted = ({ adjusts, attempt }: LedgerEntry): boolean =>
          adjusts === null && (attempt === 1 || scope === "deployment");
        return {
          id: SCOPES[scope](of[0]!),
          partStartMs: partOf(of[0]!),
          requests: of.filter(isCounted).length,
          inputTokens: sum(of, ({ usage }) => usage?.input),
          outputTokens: sum(of, ({ usage }) => usage?.output),
          nanoUsd: cost < 0n ? 0 : cost > 9_007_199_254_740_991n ? Number.MAX_SAFE_INTEGER : Number(cost),
        };
      });
    }
  });

  describe.skipIf(place === null)("a store", () => {
    it("that is closed refuses everything, and may be closed again", async () => {
      const store = await open();
      await store.close();
      await store.close();
      const closed = { code: "ledger_store_failed" };
      await expect(ingest(store, entry("a"))).rejects.toMatchObject(closed);
      await expect(read(store)).rejects.toMatchObject(closed);
      await expect(store.spend({ by: [] })).rejects.toMatchObject(closed);
      await expect(store.keys.load()).rejects.toMatchObject(closed);
    });

    it.skipIf(!isShared)("has everything after it was opened again", async () => {
      const at = await newPlace();
      const first = await open(at);
      await first.ingest({ entries: [entry("a")], progress: { file: "f", offset: 7 } });
      await first.close();
      const second = await open(at);
      expect([await read(second), await second.progress()]).toEqual([[entry("a")], new Map([["f", 7]])]);
    });

    it.skipIf(!isShared)("shares its entries with others on the same place, each booked once", async () => {
      const at = await newPlace();
      const [one, other] = await Promise.all([open(at), open(at)]);
      const entries = Array.from({ length: 300 }, (_, index) => entry(`r/${index}`, { endedMs: NOON + index }));
      const reversed = entries.toReversed();
      await Promise.all([
        one.ingest({ entries, progress: { file: "f", offset: 300 } }),
        other.ingest({ entries: reversed, progress: { file: "f", offset: 300 } }),
        one.ingest({ entries: reversed, progress: { file: "g", offset: 1 } }),
        other.ingest({ entries, progress: { file: "g", offset: 1 } }),
      ]);
      expect(await read(other)).toEqual(entries);
      expect(await one.spend({ by: [] })).toMatchObject([{ entries: 300 }]);
    });
  });
});

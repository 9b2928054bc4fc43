import { describe, expect, it } from "vitest";

import { exportCsv, exportNdjson } from "./export-entries.ts";
import { entryUsageOf, type LedgerEntry } from "./ledger-entry.ts";
import { MemoryEntryStore } from "./memory-entry-store.ts";

const NOON = Date.parse("2026-11-30T12:00:00Z");
const entry = (id: string, parts: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id,
  requestId: id,
  attempt: 1,
  rule: "actual",
  adjusts: null,
  usageSource: "provider",
  usage: {
    input: 10,
    cacheRead: 4,
    cacheWrite: null,
    cacheWriteByTtl: { 300: 2 },
    inputAudio: null,
    inputImage: null,
    output: 5,
    reasoning: null,
    outputAudio: null,
    serverTools: null,
  },
  deliveredBytes: 20,
  priceId: "built-in:m@2026-11-30",
  costNanoUsd: 15_000,
  overdrawnNanoUsd: 0,
  openedMs: NOON,
  startedMs: NOON,
  endedMs: NOON,
  key: "app",
  owner: "team",
  endUser: null,
  tags: ["a", "b"],
  model: "chat",
  deployment: "d",
  provider: "p",
  upstreamModel: "m",
  upstreamRequestId: null,
  generation: 1,
  clientDialect: "x",
  providerDialect: "y",
  ...parts,
});

describe("entryUsageOf", () => {
  it.each([
    { count: 12, kept: 12 },
    { count: 1.5, kept: 1 },
    { count: -3, kept: 0 },
    { count: Number.NaN, kept: 0 },
    { count: 1e300, kept: Number.MAX_SAFE_INTEGER },
    { count: Number.POSITIVE_INFINITY, kept: Number.MAX_SAFE_INTEGER },
  ])("keeps a count of $count as $kept", ({ count, kept }) => {
    const usage = entryUsageOf({ input: count, output: 0, reasoning: count, source: "upstream", final: true });
    expect(usage).toMatchObject({ input: kept, output: 0, reasoning: kept, cacheRead: null });
  });
});

describe("MemoryEntryStore", () => {
  it("counts an id once however often it comes", () => {
    const store = new MemoryEntryStore();
    for (let time = 0; time < 3; time += 1) store.append(entry("r/1", { costNanoUsd: 1 + time }));
    expect([store.size, store.find("r/1")?.costNanoUsd]).toEqual([1, 1]);
  });

  it("forgets the oldest beyond its bound, and says how many", () => {
    const store = new MemoryEntryStore(2);
    for (const id of ["a", "b", "c"]) store.append(entry(id));
    expect([[...store.entries()].map(({ id }) => id), store.forgotten]).toEqual([["b", "c"], 1]);
  });

  it("sums by any names and by day, within times and names", () => {
    const store = new MemoryEntryStore();
    store.append(entry("1"));
    store.append(entry("2", { key: "other", endedMs: NOON + 86_400_000, costNanoUsd: Number.MAX_SAFE_INTEGER }));
    store.append(entry("3", { key: "other", endedMs: NOON + 86_400_000, costNanoUsd: Number.MAX_SAFE_INTEGER }));
    store.append(entry("4", { costNanoUsd: null, usage: null }));
    expect(store.spend({ by: ["key", "day"] })).toEqual([
      {
        group: { key: "app", day: "2026-11-30" },
        entries: 2,
        inputTokens: 10,
        outputTokens: 5,
        costNanoUsd: 15_000n,
        unpriced: 1,
      },
      {
        group: { key: "other", day: "2026-12-01" },
        entries: 2,
        inputTokens: 20,
        outputTokens: 10,
        costNanoUsd: 18_014_398_509_481_982n,
        unpriced: 0,
      },
    ]);
    expect(store.spend({ by: [], untilMs: NOON + 1 })).toMatchObject([{ entries: 2 }]);
    expect(store.spend({ by: ["owner"], sinceMs: NOON + 1, where: { key: "other" } })).toMatchObject([
      { group: { owner: "team" }, entries: 2 },
    ]);
    expect(store.spend({ by: ["model"], where: { endUser: "nobody" } })).toEqual([]);
  });
});

describe("exports", () => {
  const all = async (lines: AsyncIterable<string>): Promise<string[]> => {
    const found: string[] = [];
    for await (const line of lines) found.push(line);
    return found;
  };

  it("ask a store for one entry at a time", async () => {
    let asked = 0;
    const source = async function* (): AsyncGenerator<LedgerEntry, void> {
      for (;;) {
        asked += 1;
        yield entry(`r/${asked}`);
      }
    };
    const lines = exportNdjson(source());
    for (let number = 1; number <= 3; number += 1) {
      expect((await lines.next()).value).toContain(`"r/${number}"`);
      expect(asked).toBe(number);
    }
  });

  it("write the cost of an adjusting entry as a negative number", async () => {
    const [head = "", line = ""] = await all(
      exportCsv([entry("1", { rule: "adjusted", adjusts: "0", costNanoUsd: -40_000 })]),
    );
    const column = head.split(",").indexOf("cost_usd");
    // Before it only the two times to live in JSON hold a comma, between quotes.
    expect(line.replace(/"[^"]*(?:""[^"]*)*"/g, "").split(",")[column]).toBe("-0.00004");
  });

  it("write NDJSON that reads back as the entries", async () => {
    const entries = [entry("1"), entry("2", { endUser: 'line\n"quoted"' })];
    const lines = (await all(exportNdjson(entries))).join("").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(entries);
  });

  it("write CSV with a column for every value, quoted where needed and safe in a spreadsheet", async () => {
    const [head = "", line = ""] = await all(exportCsv([entry("1", { endUser: '=cmd("a",b)', model: "a,b" })]));
    const names = head.trimEnd().split(",");
    const cells = [...line.trimEnd().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain,
    );
    const row = Object.fromEntries(names.map((name, index) => [name, cells[index]]));
    expect(row).toMatchObject({
      id: "1",
      end_user: `'=cmd("a",b)`,
      model: "a,b",
      tags: "a b",
      cost_usd: "0.000015",
      cache_read_tokens: "4",
      cache_write_tokens: "",
      cache_write_tokens_by_ttl: '{"300":2}',
      ended: "2026-11-30T12:00:00.000Z",
      upstream_request_id: "",
    });
    expect(cells).toHaveLength(names.length);
    expect(line.endsWith("\r\n")).toBe(true);
  });
});

import type { LedgerEntry } from "@dragoman/ledger";
import { describe, expect, it } from "vitest";

import { createFakeIo, type FakeIo } from "./fixtures/fake-io.ts";
import { run } from "./run.ts";

const AT = Date.parse("2026-11-29T23:00:00Z");

const entry = (id: string, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id,
  requestId: id,
  attempt: 1,
  rule: "actual",
  adjusts: null,
  usageSource: "provider",
  usage: {
    input: 10,
    cacheRead: null,
    cacheWrite: null,
    cacheWriteByTtl: null,
    inputAudio: null,
    inputImage: null,
    output: 5,
    reasoning: null,
    outputAudio: null,
    serverTools: null,
  },
  deliveredBytes: 20,
  priceId: "file:m@2026-11-30",
  costNanoUsd: 1_500_000_000,
  overdrawnNanoUsd: 0,
  openedMs: AT,
  startedMs: AT,
  endedMs: AT,
  key: "app",
  owner: "team-a",
  endUser: null,
  tags: [],
  model: "chat",
  deployment: "main/m",
  provider: "main",
  upstreamModel: "m",
  upstreamRequestId: null,
  generation: 1,
  clientDialect: null,
  providerDialect: null,
  ...more,
});

const DAY_MS = 86_400_000;

async function ledger(): Promise<FakeIo> {
  const io = createFakeIo();
  await io.store.ingest({
    entries: [
      entry("r1/1"),
      entry("r2/1", { endedMs: AT + DAY_MS, key: "other" }),
      entry("r3/1", { owner: null, costNanoUsd: null, priceId: null }),
      entry("r4/1", { owner: "team-b", costNanoUsd: 1, endedMs: AT + 2 * DAY_MS }),
    ],
    progress: null,
  });
  return io;
}

describe("dragoman ledger spend", () => {
  it("sums by owner, and says how many calls nobody priced", async () => {
    const io = await ledger();
    expect([await run(["ledger", "spend", "--data", "d"], io), io.err()]).toEqual([0, ""]);
    expect(io.out()).toBe(
      [
        "owner   entries  input_tokens  output_tokens  usd          unpriced",
        "-       1        10            5              0            1",
        "team-a  2        20            10             3            0",
        "team-b  1        10            5              0.000000001  0",
        "",
      ].join("\n"),
    );
    expect(io.opened).toEqual(["sqlite null d"]);
  });

  it("sums by several things within a period, as JSON", async () => {
    const io = await ledger();
    const args = ["--by", "owner, day", "--since", "2026-11-30", "--until", "2026-12-01T23:00:00Z", "--json"];
    expect([await run(["ledger", "spend", "--data", "d", ...args], io), io.err()]).toEqual([0, ""]);
    expect(
      io
        .out()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { owner: "team-a", day: "2026-11-30", entries: 1, inputTokens: 10, outputTokens: 5, usd: "1.5", unpriced: 0 },
    ]);
  });

  it.each([
    { args: ["--by", "ownr"], says: /--by must name some of .*not "ownr"; did you mean "owner"\?/ },
    { args: ["--since", "2026-02-30"], says: /--since must be a day/ },
    { args: ["--until", "tomorrow"], says: /--until must be a day/ },
  ])("refuses $args and opens nothing", async ({ args, says }) => {
    const io = createFakeIo();
    expect(await run(["ledger", "spend", "--data", "d", ...args], io)).toBe(2);
    expect(io.err()).toMatch(says);
    expect(io.opened).toEqual([]);
  });
});

describe("dragoman ledger export", () => {
  it("prints entries of a period as CSV, oldest first", async () => {
    const io = await ledger();
    const args = ["--since", "2026-11-30", "--data", "d"];
    expect([await run(["ledger", "export", ...args], io), io.err()]).toEqual([0, ""]);
    const lines = io.out().trimEnd().split("\r\n");
    expect(lines.map((line) => line.split(",")[0])).toEqual(["id", "r2/1", "r4/1"]);
    expect(lines[1]).toContain(",1.5,");
  });

  it("prints every member as NDJSON", async () => {
    const io = await ledger();
    expect(await run(["ledger", "export", "--format", "ndjson", "--data", "d"], io)).toBe(0);
    const entries = io
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as LedgerEntry);
    expect(entries[0]).toEqual(entry("r1/1"));
    expect(entries).toHaveLength(4);
  });

  it("stops when nobody reads any more", async () => {
    const io = createFakeIo({ untilRead: () => Promise.resolve(false) });
    const entries = Array.from({ length: 1_000 }, (_, index) => entry(`r${index}/1`));
    await io.store.ingest({ entries, progress: null });
    expect(await run(["ledger", "export", "--data", "d"], io)).toBe(0);
    expect(io.out().length).toBeLessThan(80_000);
  });

  it("refuses another format", async () => {
    const io = createFakeIo();
    expect(await run(["ledger", "export", "--format", "xlsx", "--data", "d"], io)).toBe(2);
    expect(io.err()).toBe("--format must be csv or ndjson\n");
  });
});

describe("dragoman ledger reprice", () => {
  const PRICED = `version: 1
providers:
  main: { kind: openai, credentials: ["env:NOT_HERE"] }
models:
  chat: [main/m]
ledger: { dataDir: data }
prices: { rows: [{ model: m, input: 9000, output: 0 }] }
`;

  const repricing = async (...args: readonly string[]): Promise<{ readonly io: FakeIo; readonly status: number }> => {
    const io = await ledger();
    io.files.set("a.yaml", PRICED);
    return { io, status: await run(["ledger", "reprice", "--config", "a.yaml", ...args], io) };
  };
  const costs = async (io: FakeIo): Promise<readonly string[]> =>
    (await io.store.spend({ by: ["owner"] }))
      .map(({ group, costNanoUsd }) => `${group.owner} ${costNanoUsd}`)
      .toSorted();

  it("books the differences once, however often it runs", async () => {
    const { io, status } = await repricing("--since", "2026-11-29");
    expect([status, io.err()]).toEqual([0, ""]);
    // Ten tokens at 0.009 USD each.
    const expected = ["null 90000000", "team-a 180000000", "team-b 90000000"];
    expect(await costs(io)).toEqual(expected);
    expect(io.out()).toBe("4 calls were adjusted, by -2.640000001 USD in all.\n");
    expect(await run(["ledger", "reprice", "--config", "a.yaml", "--since", "2026-11-29"], io)).toBe(0);
    expect(io.out()).toContain("0 calls were adjusted, by +0 USD in all.\n");
    expect(await costs(io)).toEqual(expected);
  });

  it("changes nothing in a dry run", async () => {
    const { io, status } = await repricing("--since", "2026-11-30", "--dry-run");
    expect([status, io.out()]).toEqual([0, "2 calls would be adjusted, by -1.320000001 USD in all.\n"]);
    expect(io.store.size).toBe(4);
  });

  it.each([
    { args: ["--config", "a.yaml"], says: /needs --since DAY/ },
    { args: ["--data", "d", "--since", "2026-11-30"], says: /--config FILE with the prices that count/ },
    { args: ["--config", "a.yaml", "--since", "soon"], says: /--since must be a day/ },
  ])("refuses $args", async ({ args, says }) => {
    const io = createFakeIo({ files: { "a.yaml": PRICED } });
    expect(await run(["ledger", "reprice", ...args], io)).toBe(2);
    expect(io.err()).toMatch(says);
    expect(io.opened).toEqual([]);
  });
});

describe("where the ledger is", () => {
  const CONFIG = `version: 1
providers:
  main: { kind: openai, credentials: ["env:NOT_HERE"] }
models:
  chat: [main/some-model]
`;

  it.each([
    { name: "nowhere", files: {}, args: [], status: 2, says: /give its data folder with --data DIR/ },
    {
      name: "in the memory of a configuration",
      files: { "a.yaml": `${CONFIG}ledger: { store: { kind: memory } }\n` },
      args: ["--config", "a.yaml"],
      status: 2,
      says: /There is no ledger to work on/,
    },
    {
      name: "in a configuration that is wrong",
      files: { "a.yaml": `${CONFIG}ledger: { store: { kind: sqlite, url: x } }\n` },
      args: ["--config", "a.yaml"],
      status: 2,
      says: /a\.yaml:6:\d+: \/ledger\/store\/url: "url" has no meaning with the kind "sqlite"/,
    },
    {
      name: "in a database whose address is not known",
      files: { "a.yaml": `${CONFIG}ledger: { store: { kind: postgres, url: "env:URL" }, dataDir: d }\n` },
      args: ["--config", "a.yaml"],
      status: 2,
      says: /a\.yaml:6:\d+: \/ledger\/store\/url: the environment variable URL is not set/,
    },
  ])("is told when it is $name", async ({ files, args, status, says }) => {
    const io = createFakeIo({ files });
    expect(await run(["ledger", "spend", ...args], io)).toBe(status);
    expect(io.err()).toMatch(says);
    expect(io.opened).toEqual([]);
  });

  it.each([
    { name: "the folder given", yaml: "ledger: { dataDir: data }\n", args: ["--data", "d"], opened: "sqlite null d" },
    {
      name: "the configuration's folder, from the file's own",
      yaml: "ledger: { dataDir: data }\n",
      args: [],
      opened: "sqlite null /etc/app/data",
    },
    {
      name: "where the standalone server keeps it, when the configuration says nothing",
      yaml: "",
      args: [],
      opened: "sqlite null .dragoman",
    },
    {
      name: "the configuration's file",
      yaml: "ledger: { store: { kind: sqlite, file: x.db } }\n",
      args: [],
      opened: "sqlite /etc/app/x.db .dragoman",
    },
    {
      name: "the configuration's database",
      yaml: 'ledger: { store: { kind: postgres, url: "env:URL" }, dataDir: /d }\n',
      args: [],
      opened: "postgres null /d",
    },
  ])("is $name", async ({ yaml, args, opened }) => {
    const io = createFakeIo({ files: { "/etc/app/a.yaml": CONFIG + yaml }, env: { URL: "postgres://u:p@h/d" } });
    expect([await run(["ledger", "spend", "--config", "/etc/app/a.yaml", ...args], io), io.err()]).toEqual([0, ""]);
    expect(io.opened).toEqual([opened]);
  });
});

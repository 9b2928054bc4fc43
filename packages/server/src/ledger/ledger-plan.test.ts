import { describe, expect, it } from "vitest";

import type { LedgerSettings } from "@dragoman/core";

import { planLedger, type LedgerHost, type LedgerPlan } from "./ledger-plan.ts";

const SAYS_NOTHING: LedgerSettings = {
  store: null,
  durability: null,
  dataDir: null,
  hold: "expected",
  unpriced: "refuse",
  onFull: "refuse",
};
const EMBEDDED: LedgerHost = { dataDir: null, defaultDataDir: null };
const STANDALONE: LedgerHost = { dataDir: null, defaultDataDir: ".dragoman" };
const SQLITE = { kind: "sqlite", file: null } as const;
const FILE = { kind: "sqlite", file: "/x.db" } as const;
const POSTGRES = { kind: "postgres", url: { value: "postgres://x", isReference: true }, schema: "dragoman" } as never;

interface Row {
  readonly name: string;
  readonly settings: Partial<LedgerSettings>;
  readonly host: LedgerHost;
  readonly plan: LedgerPlan;
}

const PLANS: readonly Row[] = [
  {
    name: "an embedded gateway keeps everything in memory",
    settings: {},
    host: EMBEDDED,
    plan: { durability: "memory", store: { kind: "memory" }, dataDir: null },
  },
  {
    name: "an embedded gateway with a data folder keeps a journal",
    settings: {},
    host: { dataDir: "/data", defaultDataDir: null },
    plan: { durability: "journal", store: SQLITE, dataDir: "/data" },
  },
  {
    name: "a standalone one does so in its own folder",
    settings: {},
    host: STANDALONE,
    plan: { durability: "journal", store: SQLITE, dataDir: ".dragoman" },
  },
  {
    name: "the configuration's folder wins over the standalone one's own",
    settings: { dataDir: "/config" },
    host: STANDALONE,
    plan: { durability: "journal", store: SQLITE, dataDir: "/config" },
  },
  {
    name: "what the host was told wins over the configuration",
    settings: { dataDir: "/config" },
    host: { ...STANDALONE, dataDir: "/told" },
    plan: { durability: "journal", store: SQLITE, dataDir: "/told" },
  },
  {
    name: "durability `memory` still has a store for keys where there is a folder",
    settings: { durability: "memory" },
    host: STANDALONE,
    plan: { durability: "memory", store: SQLITE, dataDir: ".dragoman" },
  },
  {
    name: "a store in memory means no journal",
    settings: { store: { kind: "memory" } },
    host: STANDALONE,
    plan: { durability: "memory", store: { kind: "memory" }, dataDir: ".dragoman" },
  },
  {
    name: "a file for keys alone needs no folder",
    settings: { store: FILE },
    host: EMBEDDED,
    plan: { durability: "memory", store: FILE, dataDir: null },
  },
  {
    name: "every durability but memory keeps its journal",
    settings: { durability: "strict", store: POSTGRES },
    host: STANDALONE,
    plan: { durability: "strict", store: POSTGRES, dataDir: ".dragoman" },
  },
];

const REFUSALS: readonly {
  readonly name: string;
  readonly settings: Partial<LedgerSettings>;
  readonly host: LedgerHost;
  readonly path: string;
}[] = [
  { name: "a journal without a folder", settings: { durability: "journal" }, host: EMBEDDED, path: "/ledger/store" },
  {
    name: "a journal before a database without a folder",
    settings: { durability: "store", store: POSTGRES },
    host: EMBEDDED,
    path: "/ledger/durability",
  },
  {
    name: "a journal before a store that forgets",
    settings: { durability: "journal", store: { kind: "memory" } },
    host: STANDALONE,
    path: "/ledger/store",
  },
  { name: "a database file nowhere", settings: { store: SQLITE }, host: EMBEDDED, path: "/ledger/store" },
];

describe("planLedger", () => {
  it.each(PLANS)("$name", ({ settings, host, plan }) => {
    expect(planLedger({ ...SAYS_NOTHING, ...settings }, host)).toEqual({ ok: true, plan });
  });

  it.each(REFUSALS)("refuses $name", ({ settings, host, path }) => {
    expect(planLedger({ ...SAYS_NOTHING, ...settings }, host)).toMatchObject({ ok: false, path });
  });
});

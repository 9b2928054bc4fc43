// Every kind of store, each opened on data of its own, for tests that hold for all of them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { MemoryLedgerStore } from "../../src/index.ts";
import { openSqliteStore } from "../../src/sqlite/index.ts";
import type { LedgerStore } from "../../src/stores/ledger-store.ts";
import { findSqliteDriver, type SqliteDriverName } from "../../src/stores/sqlite/sqlite-driver.ts";

/** One place where a ledger is kept. */
export interface StorePlace {
  /** Opens it; more than once where `isShared`. */
  open(): Promise<LedgerStore>;
  /** Removes it. */
  remove(): Promise<void>;
}

/** A kind of store. */
export interface StoreKind {
  readonly name: string;
  /** Several stores may be open on one place, and what was kept is there after a close. */
  readonly isShared: boolean;
  /** Null = this machine has none. */
  readonly place: (() => Promise<StorePlace>) | null;
}

const MEMORY: StoreKind = {
  name: "memory",
  isShared: false,
  place: async () => ({ open: async () => new MemoryLedgerStore(), remove: async () => {} }),
};

async function sqlite(driver: SqliteDriverName): Promise<StoreKind> {
  const isThere = await findSqliteDriver(driver).then(
    () => true,
    () => false,
  );
  return { name: `sqlite, ${driver}`, isShared: true, place: isThere ? async () => sqlitePlace(driver) : null };
}

function sqlitePlace(driver: SqliteDriverName): StorePlace {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-store-"));
  return {
    open: () => openSqliteStore({ file: join(folder, "ledger.db"), driver }),
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

/** All of them. */
export const KINDS: readonly StoreKind[] = [MEMORY, await sqlite("node:sqlite"), await sqlite("libsql")];

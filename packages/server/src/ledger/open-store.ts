/** Opens the store that a configuration asks for. Drivers are loaded only for the kind that needs them. */
import { join } from "node:path";

import { GatewayError, type StoreSettings } from "@dragoman/core";
import { MemoryLedgerStore, type LedgerStore } from "@dragoman/ledger";

/** Where SQLite keeps its file in a data folder. */
const FILE_NAME = "ledger.db";

export interface StorePlace {
  /** Null = the store's settings say where it is. */
  readonly dataDir: string | null;
  /** What was booked survives the loss of power, too. */
  readonly isStrict: boolean;
}

/** Rejects with `ledger_store_failed` when it cannot be opened now. */
export async function openLedgerStore(
  settings: StoreSettings,
  { dataDir, isStrict }: StorePlace,
): Promise<LedgerStore> {
  switch (settings.kind) {
    case "memory":
      return new MemoryLedgerStore();
    case "sqlite": {
      const file = settings.file ?? (dataDir === null ? null : join(dataDir, FILE_NAME));
      if (file === null) throw new GatewayError("config_invalid", "A SQLite store needs a file or a data folder.");
      const { openSqliteStore } = await import("@dragoman/ledger/sqlite");
      return openSqliteStore({ file, synchronous: isStrict ? "full" : "normal" });
    }
    case "postgres": {
      const { text } = settings.url;
      if (text === null) throw new GatewayError("config_invalid", "The URL of the PostgreSQL store was not resolved.");
      const { openPostgresStore } = await import("@dragoman/ledger/postgres");
      return openPostgresStore({ connectionString: text, schema: settings.schema });
    }
  }
}

/** Where the ledger is that a command works on: in a data folder, or where a configuration says. */
import type { StoreSettings } from "@dragoman/core";
import type { LedgerStore } from "@dragoman/ledger";

import { planLedger } from "../ledger/ledger-plan.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { loadOrReport, type LoadedConfig } from "./load-or-report.ts";
import { STANDALONE_DATA_DIR } from "./standalone-data-dir.ts";

/** A ledger that outlasts processes. */
export interface LedgerPlace {
  readonly store: StoreSettings;
  readonly dataDir: string | null;
  /** Null where the folder alone was given. */
  readonly loaded: LoadedConfig | null;
}

/** A place; `none` where nothing says where it is, or where it is memory; null after a problem was reported. */
export function findLedger(io: CliIo, values: ReadonlyMap<string, string>): LedgerPlace | "none" | null {
  const path = values.get("config");
  const data = values.get("data") ?? null;
  if (path === undefined)
    return data === null ? "none" : { store: { kind: "sqlite", file: null }, dataDir: data, loaded: null };
  const loaded = loadLedger(io, path);
  if (loaded === null) return null;
  const planning = planLedger(loaded.snapshot.ledger, { dataDir: data, defaultDataDir: STANDALONE_DATA_DIR });
  if (!planning.ok) {
    io.stderr.write(`${path}: ${planning.path}: ${planning.message}\n`);
    return null;
  }
  const { store, dataDir } = planning.plan;
  return store.kind === "memory" ? "none" : { store, dataDir, loaded };
}

/** Providers' secrets may be anywhere; the ledger's own has to be here. */
function loadLedger(io: CliIo, path: string): LoadedConfig | null {
  const loaded = loadOrReport(io, path, "available");
  const store = loaded?.snapshot.ledger.store;
  return store?.kind === "postgres" && store.url.text === null ? loadOrReport(io, path, "all") : loaded;
}

/** Runs an action on the ledger's store and closes it behind. Says how to name the ledger where it is not said. */
export async function withLedger(
  io: CliIo,
  values: ReadonlyMap<string, string>,
  action: (store: LedgerStore, place: LedgerPlace) => Promise<ExitCode>,
): Promise<ExitCode> {
  const place = findLedger(io, values);
  if (place === null) return ExitCode.usage;
  if (place === "none") {
    io.stderr.write(
      "There is no ledger to work on: give its data folder with --data DIR, or with --config FILE a configuration whose ledger is kept in a file or a database\n",
    );
    return ExitCode.usage;
  }
  return onLedger(io, place, (store) => action(store, place));
}

/** Opens the store of a place for one action. */
export async function onLedger(
  io: CliIo,
  { store: settings, dataDir }: LedgerPlace,
  action: (store: LedgerStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const store = await io.openStore(settings, dataDir);
  try {
    return await action(store);
  } finally {
    await store.close();
  }
}

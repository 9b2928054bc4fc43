/** What kind of ledger a gateway keeps, from what its configuration says and what its host offers. Pure. */
import type { Durability, LedgerSettings, StoreSettings } from "@dragoman/core";

/** What the host offers. */
export interface LedgerHost {
  /** The data folder that the host was told to use; it wins over the configuration's. */
  readonly dataDir: string | null;
  /** The folder of a host that keeps one unless it is told otherwise; loses to the configuration's. */
  readonly defaultDataDir: string | null;
}

/** A ledger that can be opened. */
export type LedgerPlan =
  | {
      readonly durability: "memory";
      readonly store: StoreSettings;
      /** Null = no file is written. */
      readonly dataDir: string | null;
    }
  | {
      readonly durability: Exclude<Durability, "memory">;
      readonly store: Exclude<StoreSettings, { readonly kind: "memory" }>;
      readonly dataDir: string;
    };

/** A plan, or the member that stands against it and why. */
export type LedgerPlanning =
  | { readonly ok: true; readonly plan: LedgerPlan }
  | { readonly ok: false; readonly path: string; readonly message: string };

/** Decides. */
export function planLedger(settings: LedgerSettings, host: LedgerHost): LedgerPlanning {
  const dataDir = host.dataDir ?? settings.dataDir ?? host.defaultDataDir;
  const durability = settings.durability ?? defaultDurability(settings, dataDir);
  const store = settings.store ?? defaultStore(durability, dataDir);
  if (store.kind === "sqlite" && store.file === null && dataDir === null)
    return refuse("/ledger/store", "a SQLite store needs a `file`, or the ledger a `dataDir` to keep it in");
  if (durability === "memory") return { ok: true, plan: { durability, store, dataDir } };
  if (dataDir === null)
    return refuse("/ledger/durability", `\`${durability}\` keeps a journal and needs \`ledger.dataDir\` to keep it in`);
  if (store.kind === "memory")
    return refuse("/ledger/store", `\`${durability}\` needs a store that outlives the process: sqlite or postgres`);
  return { ok: true, plan: { durability, store, dataDir } };
}

/** Who chose to keep the store in memory wants no files. */
function defaultDurability({ store }: LedgerSettings, dataDir: string | null): Durability {
  return dataDir === null || store?.kind === "memory" ? "memory" : "journal";
}

function defaultStore(durability: Durability, dataDir: string | null): StoreSettings {
  return durability === "memory" && dataDir === null ? { kind: "memory" } : { kind: "sqlite", file: null };
}

const refuse = (path: string, message: string): LedgerPlanning => ({ ok: false, path, message });

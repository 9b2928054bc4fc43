/** `ledger` and `counters` of the configuration: their source form and what is made of it. */
import type { Secret } from "./secret.ts";
import type { DurationText, SecretText } from "./value-texts.ts";

/** How much an answer that is told to be complete has survived: nothing, the process, the machine, or a lost disk. */
export type Durability = "memory" | "journal" | "strict" | "store";

/** Where entries and keys are kept. */
export type StoreConfig =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly file?: string }
  | { readonly kind: "postgres"; readonly url: SecretText; readonly schema?: string };

/** How calls are accounted for. */
export interface LedgerConfig {
  readonly store?: StoreConfig;
  readonly durability?: Durability;
  readonly dataDir?: string;
  readonly hold?: "expected" | "worst";
  readonly unpriced?: "refuse" | "allow";
  readonly onFull?: "refuse" | "continue";
}

/** Where limits are counted. */
export type CountersConfig =
  | { readonly kind: "local" }
  | {
      readonly kind: "valkey";
      readonly url: SecretText;
      readonly prefix?: string;
      readonly onDown?: "open" | "closed";
      readonly timeout?: DurationText;
    };

/** A compiled store. Paths are final where the compilation knew the configuration's folder. */
export type StoreSettings =
  | { readonly kind: "memory" }
  /** A null file is `ledger.db` in the data folder. */
  | { readonly kind: "sqlite"; readonly file: string | null }
  | { readonly kind: "postgres"; readonly url: Secret; readonly schema: string };

/** Compiled `ledger`. Null = not said: a host with a data folder takes SQLite and a journal, one without takes memory. */
export interface LedgerSettings {
  readonly store: StoreSettings | null;
  readonly durability: Durability | null;
  readonly dataDir: string | null;
  readonly hold: "expected" | "worst";
  readonly unpriced: "refuse" | "allow";
  readonly onFull: "refuse" | "continue";
}

/** Compiled `counters`. */
export type CounterSettings =
  | { readonly kind: "local" }
  | {
      readonly kind: "valkey";
      readonly url: Secret;
      /** What every name in the server begins with. */
      readonly prefix: string;
      /** Whether calls go on, counted by this process alone, while the server cannot be reached. */
      readonly onDown: "open" | "closed";
      readonly timeoutMs: number;
    };

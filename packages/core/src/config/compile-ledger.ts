/** Compiles `ledger` and `counters`: defaults filled in, paths and secrets resolved, members kept to the kind they go with. */
import { compileDuration, compileSecret } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { CONFIG_DEFAULTS } from "./defaults.ts";
import type {
  CountersConfig,
  CounterSettings,
  LedgerConfig,
  LedgerSettings,
  StoreConfig,
  StoreSettings,
} from "./ledger-settings.ts";
import { pointer } from "./problem.ts";
import { Secret } from "./secret.ts";

const LEDGER = "/ledger";
const STORE = pointer(LEDGER, "store");
const COUNTERS = "/counters";

/** Compiles the `ledger` member. */
export function compileLedger(context: CompileContext, config: LedgerConfig): LedgerSettings {
  const { store, durability } = config;
  if (store?.kind === "memory" && durability !== undefined && durability !== "memory")
    context.list.add(
      pointer(LEDGER, "durability"),
      `"${durability}" needs a store that outlasts the process: "sqlite" or "postgres"`,
    );
  return Object.freeze({
    store: store === undefined ? null : Object.freeze(compileStore(context, store)),
    durability: durability ?? null,
    dataDir: config.dataDir === undefined ? null : resolvePath(context, config.dataDir),
    hold: config.hold ?? CONFIG_DEFAULTS.hold,
    unpriced: config.unpriced ?? CONFIG_DEFAULTS.unpriced,
    onFull: config.onFull ?? CONFIG_DEFAULTS.onFull,
  });
}

function compileStore(context: CompileContext, config: StoreConfig): StoreSettings {
  switch (config.kind) {
    case "memory":
      reportOthers(context, STORE, config, []);
      return { kind: "memory" };
    case "sqlite":
      reportOthers(context, STORE, config, ["file"]);
      return { kind: "sqlite", file: config.file === undefined ? null : resolvePath(context, config.file) };
    case "postgres":
      reportOthers(context, STORE, config, ["url", "schema"]);
      return {
        kind: "postgres",
        url: compileUrl(context, STORE, config),
        schema: config.schema ?? CONFIG_DEFAULTS.schema,
      };
  }
}

/** Compiles the `counters` member. */
export function compileCounters(context: CompileContext, config: CountersConfig): CounterSettings {
  if (config.kind === "local") {
    reportOthers(context, COUNTERS, config, []);
    return Object.freeze({ kind: "local" });
  }
  return Object.freeze({
    kind: "valkey",
    url: compileUrl(context, COUNTERS, config),
    prefix: config.prefix ?? CONFIG_DEFAULTS.prefix,
    onDown: config.onDown ?? CONFIG_DEFAULTS.onDown,
    timeoutMs: compileDuration(context, pointer(COUNTERS, "timeout"), config.timeout ?? CONFIG_DEFAULTS.counterTimeout),
  });
}

/** The schema takes the members of every kind, so the type does not hold for what it lets through. */
function compileUrl(
  context: CompileContext,
  path: string,
  config: { readonly kind: string; readonly url?: string },
): Secret {
  if (config.url === undefined) {
    context.list.add(path, `must have the member "url", since its kind is "${config.kind}"`);
    return new Secret(null);
  }
  return new Secret(compileSecret(context, pointer(path, "url"), config.url));
}

function reportOthers(
  context: CompileContext,
  path: string,
  config: { readonly kind: string },
  own: readonly string[],
): void {
  for (const name of Object.keys(config))
    if (name !== "kind" && !own.includes(name))
      context.list.add(pointer(path, name), `"${name}" has no meaning with the kind "${config.kind}"`);
}

const resolvePath = (context: CompileContext, path: string): string => context.folder?.resolve(path) ?? path;

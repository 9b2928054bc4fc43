/**
 * Compiles a configuration into a snapshot: schema first, then everything the schema cannot say. All problems are collected;
 * nothing is thrown, and the configuration that was given is neither kept nor changed.
 */
import type { DialectRegistry } from "../dialect/index.ts";
import { canonicalKey } from "./canonical-key.ts";
import type { CompileContext } from "./compile-context.ts";
import { compileKeys, compileOwners } from "./compile-key.ts";
import { compileCounters, compileLedger } from "./compile-ledger.ts";
import { compileModel } from "./compile-model.ts";
import { compilePrices } from "./compile-prices.ts";
import { compileProvider } from "./compile-provider.ts";
import type { CompiledProvider } from "./compile-provider.ts";
import { compileServer, compileTelemetry } from "./compile-server.ts";
import type { ConfigFolder } from "./config-folder.ts";
import { deepFreeze, freezeMap } from "./freeze.ts";
import type { GatewayConfig } from "./gateway-config.ts";
import { copyJson } from "./json-copy.ts";
import { ModelIndex } from "./model-index.ts";
import type { ModelTemplate } from "./model-index.ts";
import { pointer, ProblemList } from "./problem.ts";
import type { ConfigProblem } from "./problem.ts";
import type { SecretResolver } from "./secret-reference.ts";
import type { Provider, Snapshot } from "./snapshot.ts";
import { ConfigValidator } from "./validate.ts";

/** What a compilation needs besides the configuration. */
export interface CompileOptions {
  readonly registry: DialectRegistry;
  /** Number of the snapshot. */
  readonly generation: number;
  /** Resolves `env:` and `file:` references; without it they are problems. */
  readonly resolveSecret?: SecretResolver;
  /** Resolves paths and reads the price file; without it paths stay as they are and a price file is a problem. */
  readonly folder?: ConfigFolder;
  /** Finds what only other parts know to be wrong, in a configuration that the schema takes. */
  readonly check?: (config: GatewayConfig) => readonly ConfigProblem[];
  /** One that the caller keeps, so that the schema is compiled once. */
  readonly validator?: ConfigValidator;
}

/** A snapshot, or every problem that was found. */
export type CompileResult =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Compiles a configuration in its source form: a `GatewayConfig`, or anything that claims to be one. */
export function compileConfig(config: unknown, options: CompileOptions): CompileResult {
  const copy = copyJson(config);
  if (!copy.ok) return { ok: false, problems: copy.problems };
  const mistakes = (options.validator ?? new ConfigValidator()).validate(copy.value);
  if (mistakes.length > 0) return { ok: false, problems: mistakes };
  const context: CompileContext = {
    registry: options.registry,
    resolveSecret: options.resolveSecret ?? null,
    folder: options.folder ?? null,
    list: new ProblemList(),
  };
  // The schema check above earns the cast.
  const checked = deepFreeze(copy.value as GatewayConfig);
  const snapshot = compileChecked(context, checked, options.generation);
  const problems = [...context.list.problems, ...(options.check?.(checked) ?? [])];
  return snapshot === null || problems.length > 0 ? { ok: false, problems } : { ok: true, snapshot };
}

/** The snapshot; null where the context's list has got problems. */
function compileChecked(context: CompileContext, config: GatewayConfig, generation: number): Snapshot | null {
  const server = compileServer(context, config.server ?? {});
  const telemetry = compileTelemetry(config.telemetry ?? {});
  const compiled = new Map<string, CompiledProvider | null>();
  for (const [id, provider] of Object.entries(config.providers))
    compiled.set(id, compileProvider(context, id, provider));
  const templates = Object.entries(config.models).map(([name, model]) => compileModel(context, compiled, name, model));
  checkAliases(context, templates);
  checkDeploymentIds(context, templates);
  const keys = compileKeys(context, config.keys ?? []);
  const prices = compilePrices(context, config.prices ?? {});
  const ledger = compileLedger(context, config.ledger ?? {});
  const counters = compileCounters(context, config.counters ?? { kind: "local" });
  if (context.list.problems.length > 0) return null;
  const index = new ModelIndex(templates);
  const providers = new Map<string, Provider>();
  for (const [id, each] of compiled) if (each !== null) providers.set(id, each.provider);
  const snapshot: Snapshot = {
    generation,
    server,
    telemetry,
    providers: freezeMap(providers),
    deployments: index.deployments,
    models: index.models,
    keys,
    owners: compileOwners(config.owners ?? {}),
    limits: Object.freeze({
      global: config.limits?.global ?? Object.freeze([]),
      eachEndUser: config.limits?.eachEndUser ?? Object.freeze([]),
    }),
    prices,
    ledger,
    counters,
    findModel: (name) => index.find(name),
  };
  return Object.freeze(snapshot);
}

function checkAliases(context: CompileContext, models: readonly ModelTemplate[]): void {
  const names = new Set(models.map(({ name }) => name));
  const owners = new Map<string, string>();
  for (const { name, aliases, isGlob } of models) {
    const path = pointer("/models", name, "aliases");
    if (isGlob && aliases.length > 0)
      context.list.add(path, 'a model whose name holds "*" has no aliases; give the alias a model of its own');
    aliases.forEach((alias, index) => {
      const owner = owners.get(alias);
      if (names.has(alias)) context.list.add(pointer(path, index), `the alias "${alias}" is a model's name`);
      else if (owner !== undefined)
        context.list.add(pointer(path, index), `the alias "${alias}" already stands for the model "${owner}"`);
      owners.set(alias, name);
    });
  }
}

/** Health and accounts are kept by id, so one id names one upstream model, with one set of limits and prices, wherever it stands. */
function checkDeploymentIds(context: CompileContext, models: readonly ModelTemplate[]): void {
  const known = new Map<string, string>();
  for (const { name, tiers } of models)
    for (const { id, source, model, limits, prices } of tiers.flat()) {
      /** Whether this was said of the id before, in other words. */
      const differs = (what: string, value: string): string | null => {
        const other = known.get(`${what} ${id}`) ?? value;
        known.set(`${what} ${id}`, other);
        return other === value ? null : other;
      };
      const report = (message: string): void => context.list.add(pointer("/models", name), message);
      const upstream = `${source.provider.id}/${model}`;
      const other = differs("upstream", upstream);
      if (other !== null)
        report(`the deployment id "${id}" stands for ${upstream} here and for ${other} elsewhere; ids are unique`);
      for (const [what, list] of [["limits", limits] as const, ["prices", prices] as const])
        if (list.length > 0 && differs(what, canonicalKey(list)) !== null)
          report(`the deployment "${id}" has other ${what} here than elsewhere; state them in one place`);
    }
}

/** Compiles `models`: names, aliases, tiers and the deployments in them, with all cross references checked. */
import { DEFAULT_LOSSY_ALLOW, expandLossy, LOSSY_PRESETS, REASON_CODES } from "../dialect/index.ts";
import { compileDuration, compileDurationOrOff, compileSize } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { compileDeploymentPrices } from "./compile-prices.ts";
import type { CompiledProvider } from "./compile-provider.ts";
import { CONFIG_DEFAULTS } from "./defaults.ts";
import type { DeploymentTemplate } from "./deployment-template.ts";
import { freezeSet } from "./freeze.ts";
import type { DeploymentConfig, LossyConfig, ModelConfig, TimeoutsConfig } from "./gateway-config.ts";
import type { ModelTemplate } from "./model-index.ts";
import { pointer } from "./problem.ts";
import type { DisconnectPolicy, Timeouts } from "./snapshot.ts";
import { suggest } from "./suggest.ts";

/** Providers by name; null marks one that has problems of its own, so that nobody reports it as unknown. */
export type ProviderTable = ReadonlyMap<string, CompiledProvider | null>;

interface ModelScope {
  readonly context: CompileContext;
  readonly providers: ProviderTable;
  readonly path: string;
  readonly isGlob: boolean;
  readonly timeouts: Timeouts;
  readonly lossyAllow: ReadonlySet<string>;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Compiles one model. Its tiers may lack deployments that have problems, which the context's list then holds. */
export function compileModel(
  context: CompileContext,
  providers: ProviderTable,
  name: string,
  config: ModelConfig | readonly string[],
): ModelTemplate {
  const path = pointer("/models", name);
  const long: ModelConfig = isShortForm(config) ? { deployments: [] } : config;
  const scope: ModelScope = {
    context,
    providers,
    path,
    isGlob: name.includes("*"),
    timeouts: compileTimeouts(context, pointer(path, "timeouts"), long.timeouts ?? {}, null),
    lossyAllow: compileLossy(context, pointer(path, "lossy"), long.lossy ?? { allow: DEFAULT_LOSSY_ALLOW }),
    options: long.options ?? Object.freeze({}),
  };
  const tiers = isShortForm(config) ? compileShortForm(scope, config) : compileLongForm(scope, long.deployments);
  reportRepeats(scope, tiers.flat());
  return {
    name,
    isGlob: scope.isGlob,
    aliases: Object.freeze([...(long.aliases ?? [])]),
    tiers: tiers.map((tier) => tier.map(({ template }) => template)),
    strategy: long.strategy ?? CONFIG_DEFAULTS.strategy,
    attempts: long.attempts ?? CONFIG_DEFAULTS.attempts,
    timeouts: scope.timeouts,
    lossyAllow: scope.lossyAllow,
    limits: long.limits ?? Object.freeze([]),
    options: scope.options,
  };
}

const isShortForm = (config: ModelConfig | readonly string[]): config is readonly string[] => Array.isArray(config);

interface Placed {
  readonly path: string;
  readonly template: DeploymentTemplate;
}

function compileShortForm(scope: ModelScope, entries: readonly string[]): readonly (readonly Placed[])[] {
  return entries.flatMap((text, index) => {
    const path = pointer(scope.path, index);
    const config = readShortEntry(scope, path, text);
    const placed = config === null ? null : compileDeployment(scope, path, { ...config, tier: index + 1 });
    return placed === null ? [] : [[placed]];
  });
}

/** `provider/model`: all before the first slash is the provider. Without a slash the only provider is meant. */
function readShortEntry(scope: ModelScope, path: string, text: string): DeploymentConfig | null {
  const names = [...scope.providers.keys()];
  const slash = text.indexOf("/");
  if (slash < 0 && names.length === 1) return { provider: names[0] as string, model: text };
  if (slash < 0) {
    scope.context.list.add(path, `must be "provider/model", since there are several providers: ${names.join(", ")}`);
    return null;
  }
  const model = text.slice(slash + 1);
  if (/^[\x21-\x7e]{1,256}$/.test(model)) return { provider: text.slice(0, slash), model };
  scope.context.list.add(path, 'must be "provider/model" with a model id of printable characters without spaces');
  return null;
}

function compileLongForm(scope: ModelScope, configs: readonly DeploymentConfig[]): readonly (readonly Placed[])[] {
  const byTier = new Map<number, Placed[]>();
  configs.forEach((config, index) => {
    const placed = compileDeployment(scope, pointer(scope.path, "deployments", index), config);
    if (placed === null) return;
    const tier = byTier.get(placed.template.tier);
    if (tier === undefined) byTier.set(placed.template.tier, [placed]);
    else tier.push(placed);
  });
  return [...byTier].sort(([left], [right]) => left - right).map(([, tier]) => tier);
}

function compileDeployment(scope: ModelScope, path: string, config: DeploymentConfig): Placed | null {
  const { context } = scope;
  checkStars(scope, path, config);
  const source = scope.providers.get(config.provider);
  if (source === undefined) {
    const known = [...scope.providers.keys()];
    const at = isLongEntry(scope, path) ? pointer(path, "provider") : path;
    context.list.add(at, `unknown provider ${JSON.stringify(config.provider)}`, suggest(config.provider, known));
  }
  const lossyAllow =
    config.lossy === undefined ? scope.lossyAllow : compileLossy(context, pointer(path, "lossy"), config.lossy);
  const timeouts = compileTimeouts(context, pointer(path, "timeouts"), config.timeouts ?? {}, scope.timeouts);
  if (source === undefined || source === null) return null;
  checkDialects(context, path, config, source);
  const template: DeploymentTemplate = {
    id: config.id ?? `${config.provider}/${config.model}`,
    source,
    model: config.model,
    tier: config.tier ?? CONFIG_DEFAULTS.tier,
    weight: config.weight ?? CONFIG_DEFAULTS.weight,
    capabilities: config.capabilities ?? {},
    disconnect: compileDisconnect(context, path, config, source),
    timeouts,
    lossyAllow,
    limits: config.limits ?? Object.freeze([]),
    prices: compileDeploymentPrices(config.prices),
    options: Object.freeze({ ...source.provider.options, ...scope.options, ...config.options }),
  };
  return { path, template };
}

const isLongEntry = (scope: ModelScope, path: string): boolean => path.startsWith(`${scope.path}/deployments/`);

function checkStars(scope: ModelScope, path: string, config: DeploymentConfig): void {
  const stars = config.model.split("*").length - 1;
  const at = isLongEntry(scope, path) ? pointer(path, "model") : path;
  if (stars > 1) scope.context.list.add(at, 'must hold at most one "*"');
  else if (stars === 1 && !scope.isGlob)
    scope.context.list.add(at, 'must hold no "*", because the public model name has none to take its text from');
}

function checkDialects(
  context: CompileContext,
  path: string,
  config: DeploymentConfig,
  source: CompiledProvider,
): void {
  const known = [...source.profiles.keys()];
  config.capabilities?.dialects?.forEach((dialect, index) => {
    if (known.includes(dialect)) return;
    context.list.add(
      pointer(path, "capabilities", "dialects", index),
      `the kind "${source.provider.kind.id}" does not speak ${JSON.stringify(dialect)}; it speaks: ${known.join(", ")}`,
      suggest(dialect, known),
    );
  });
}

function compileDisconnect(
  context: CompileContext,
  path: string,
  config: DeploymentConfig,
  source: CompiledProvider,
): DisconnectPolicy {
  const { mode, maxMs, maxBytes } = config.disconnect ?? {};
  return Object.freeze({
    mode: mode ?? source.provider.kind.disconnect,
    maxMs: maxMs ?? CONFIG_DEFAULTS.disconnectMaxMs,
    maxBytes: compileSize(
      context,
      pointer(path, "disconnect", "maxBytes"),
      maxBytes ?? CONFIG_DEFAULTS.disconnectMaxBytes,
    ),
  });
}

/** What is absent is `inherited`, or else the default. */
function compileTimeouts(
  context: CompileContext,
  path: string,
  config: TimeoutsConfig,
  inherited: Timeouts | null,
): Timeouts {
  const bounded = (member: "connect" | "total"): number => {
    const text = config[member];
    if (text === undefined && inherited !== null) return inherited[`${member}Ms`];
    return compileDuration(context, pointer(path, member), text ?? CONFIG_DEFAULTS[member]);
  };
  const optional = (member: "firstContent" | "idle" | "commitAfter"): number | null => {
    const text = config[member];
    if (text === undefined && inherited !== null) return inherited[`${member}Ms`];
    return compileDurationOrOff(context, pointer(path, member), text ?? CONFIG_DEFAULTS[member]);
  };
  return Object.freeze({
    connectMs: bounded("connect"),
    firstContentMs: optional("firstContent"),
    idleMs: optional("idle"),
    totalMs: bounded("total"),
    commitAfterMs: optional("commitAfter"),
  });
}

function compileLossy(context: CompileContext, path: string, config: LossyConfig): ReadonlySet<string> {
  const names = [...Object.keys(LOSSY_PRESETS), ...REASON_CODES];
  const known = new Set(names);
  config.allow.forEach((name, index) => {
    if (!known.has(name))
      context.list.add(
        pointer(path, "allow", index),
        `unknown reason code or preset ${JSON.stringify(name)}`,
        suggest(name, names),
      );
  });
  return freezeSet(new Set(expandLossy(config.allow.filter((name) => known.has(name))).codes));
}

function reportRepeats(scope: ModelScope, placed: readonly Placed[]): void {
  const seen = new Set<string>();
  for (const { path, template } of placed) {
    if (seen.has(template.id))
      scope.context.list.add(
        path,
        `the deployment "${template.id}" is in this model twice; give each an id of its own`,
      );
    seen.add(template.id);
  }
}

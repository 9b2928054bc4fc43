/** A configuration out of nothing but the environment: providers whose usual key variable is set, and their usual model names. */
import type { DialectRegistry, GatewayConfig, ProviderConfig } from "@dragoman/core";

/** The variables that `configFromEnvironment` looks at. */
export function discoveryVariables(registry: DialectRegistry): readonly string[] {
  return registry.kinds.flatMap(({ discovery }) => (discovery === undefined ? [] : [discovery.environment]));
}

/**
 * Providers from the environment, with the model names of their kinds and `provider/*`; null when no variable is set. The
 * configuration refers to the variables, it does not hold their values. It has no keys.
 */
export function configFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  registry: DialectRegistry,
): GatewayConfig | null {
  const providers = new Map<string, ProviderConfig>();
  const models = new Map<string, readonly string[]>();
  for (const { id, discovery } of registry.kinds) {
    if (discovery === undefined || providers.has(discovery.provider)) continue;
    if ((env[discovery.environment] ?? "") === "") continue;
    providers.set(discovery.provider, { kind: id, credentials: [`env:${discovery.environment}`] });
    for (const glob of [...discovery.models, `${discovery.provider}/*`]) {
      const upstream = glob.startsWith(`${discovery.provider}/`) ? "*" : glob;
      if (!models.has(glob)) models.set(glob, [`${discovery.provider}/${upstream}`]);
    }
  }
  if (providers.size === 0) return null;
  return { version: 1, providers: Object.fromEntries(providers), models: Object.fromEntries(models) };
}

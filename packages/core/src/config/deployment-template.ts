/**
 * What a deployment's configuration says before its upstream model is known. Deployments of glob models are made of it per
 * requested name; those of other models once.
 */
import { DEFAULT_CAPABILITIES, mergeCapabilities } from "../dialect/index.ts";
import type { CapabilityOverrides, Profile } from "../dialect/index.ts";
import type { DialectId } from "../ir/index.ts";
import { canonicalKey } from "./canonical-key.ts";
import type { CompiledProvider } from "./compile-provider.ts";
import { deepFreeze, freezeMap } from "./freeze.ts";
import type { LimitConfig } from "./limit-config.ts";
import type { PriceRow } from "./price-row.ts";
import type { Deployment, DisconnectPolicy, Timeouts } from "./snapshot.ts";

/** The parts that do not depend on the upstream model. */
export interface DeploymentTemplate {
  readonly id: string;
  readonly source: CompiledProvider;
  /** The upstream model; one `*` may stand for captured text. */
  readonly model: string;
  readonly tier: number;
  readonly weight: number;
  readonly capabilities: CapabilityOverrides;
  readonly disconnect: DisconnectPolicy;
  readonly timeouts: Timeouts;
  readonly lossyAllow: ReadonlySet<string>;
  readonly limits: readonly LimitConfig[];
  readonly prices: readonly PriceRow[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** Makes the deployment of one upstream model. */
export function createDeployment(template: DeploymentTemplate, model: string): Deployment {
  const { provider } = template.source;
  const builtIn = provider.kind.capabilitiesOf(model, provider.profileName);
  const capabilities = deepFreeze(
    structuredClone(mergeCapabilities(DEFAULT_CAPABILITIES, builtIn, template.capabilities)),
  );
  const profiles = selectProfiles(template.source.profiles, capabilities.dialects);
  const capabilitiesKey = canonicalKey(capabilities);
  return Object.freeze({
    id: template.id,
    provider,
    model,
    tier: template.tier,
    weight: template.weight,
    profiles,
    capabilities,
    capabilitiesKey,
    encodingKey: canonicalKey([
      provider.kind.id,
      model,
      template.source.profilesKey,
      capabilitiesKey,
      [...template.lossyAllow].sort(),
      template.options,
    ]),
    disconnect: template.disconnect,
    timeouts: template.timeouts,
    lossyAllow: template.lossyAllow,
    limits: template.limits,
    prices: template.prices,
    options: template.options,
  });
}

function selectProfiles(
  profiles: ReadonlyMap<DialectId, Profile>,
  dialects: readonly DialectId[] | undefined,
): ReadonlyMap<DialectId, Profile> {
  if (dialects === undefined) return profiles;
  const selected = new Map<DialectId, Profile>();
  for (const dialect of dialects) {
    const profile = profiles.get(dialect);
    if (profile !== undefined) selected.set(dialect, profile);
  }
  return freezeMap(selected);
}

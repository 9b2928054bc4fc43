/** What an encoder is told of the deployment that it writes for. */
import type { Deployment, Tiers } from "../config/index.ts";
import type { EncodeTarget, ProviderDialect } from "../dialect/index.ts";

/** Whether a model's requests can only go to one credential of one deployment, so that state at the upstream may be named. */
export function isOnlyAccount(tiers: Tiers): boolean {
  const [first] = tiers;
  return tiers.length === 1 && first?.length === 1 && first[0]?.provider.credentials.length === 1;
}

/** Makes the target for one deployment in one of its dialects. */
export function makeTarget(deployment: Deployment, provider: ProviderDialect, isSole: boolean): EncodeTarget {
  return {
    deploymentId: deployment.id,
    kind: deployment.provider.kind.id,
    model: deployment.model,
    capabilities: deployment.capabilities,
    profile: deployment.profiles.get(provider.id) ?? {},
    lossyAllow: deployment.lossyAllow,
    options: deployment.options,
    isOnlyAccount: isSole,
  };
}

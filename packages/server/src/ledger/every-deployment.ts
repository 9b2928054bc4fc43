/** Deployments of several models may share an id and say different things; what any of them says of the account counts for all. */
import type { Deployment, Snapshot } from "@dragoman/core";

/** Every deployment of every model, in the order of the configuration. */
export function* everyDeployment({ models }: Snapshot): Generator<Deployment> {
  for (const { tiers } of models) for (const tier of tiers) yield* tier;
}

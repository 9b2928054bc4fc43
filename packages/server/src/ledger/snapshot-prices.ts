/** The prices of a configuration over those of the package. */
import type { PriceRow, Snapshot } from "@dragoman/core";
import { PriceBook } from "@dragoman/ledger";

import { everyDeployment } from "./every-deployment.ts";

/** Throws `config_invalid` for prices that were not checked before. */
export function pricesOf(snapshot: Snapshot): PriceBook {
  const deployments = new Map<string, readonly PriceRow[]>();
  for (const { id, prices } of everyDeployment(snapshot))
    if (!deployments.has(id) && prices.length > 0) deployments.set(id, prices);
  return new PriceBook({ deployments, configured: snapshot.prices.rows, rows: snapshot.prices.fileRows });
}

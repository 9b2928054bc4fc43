/** Compiles `prices`, of the gateway and of deployments, to rows. Their amounts stay as they are written: the ledger reads them. */
import type { CompileContext } from "./compile-context.ts";
import { deepFreeze } from "./freeze.ts";
import type { DeploymentPrice, PriceRow, PricesConfig } from "./price-row.ts";
import { pointer } from "./problem.ts";
import type { PriceSettings } from "./snapshot.ts";

const NONE: readonly PriceRow[] = Object.freeze([]);
const FILE = pointer("/prices", "file");

/** Compiles the `prices` member. */
export function compilePrices(context: CompileContext, config: PricesConfig): PriceSettings {
  const fileRows = config.file === undefined ? NONE : readFile(context, config.file);
  return Object.freeze({ rows: config.rows ?? NONE, fileRows });
}

function readFile(context: CompileContext, path: string): readonly PriceRow[] {
  if (context.folder === null) {
    context.list.add(FILE, "files cannot be read here; give the rows themselves");
    return NONE;
  }
  const reading = context.folder.readPrices(path);
  if (reading.ok) return deepFreeze(reading.rows);
  for (const problem of reading.problems) context.list.add(FILE, problem);
  return NONE;
}

/** The rows of one deployment; a price without a model holds for whatever the deployment calls. */
export function compileDeploymentPrices(
  config: DeploymentPrice | readonly DeploymentPrice[] | undefined,
): readonly PriceRow[] {
  if (config === undefined) return NONE;
  const prices = isList(config) ? config : [config];
  return Object.freeze(prices.map((price) => Object.freeze({ ...price, model: price.model ?? "*" })));
}

const isList = (config: DeploymentPrice | readonly DeploymentPrice[]): config is readonly DeploymentPrice[] =>
  Array.isArray(config);

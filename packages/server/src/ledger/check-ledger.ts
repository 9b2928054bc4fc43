/** What only the ledger knows to be wrong with a configuration: amounts finer than it counts, two limits of one thing, prices that clash. */
import {
  pointer,
  type ConfigProblem,
  type DeploymentPrice,
  type GatewayConfig,
  type LimitConfig,
} from "@dragoman/core";
import { compileLimits, compilePrices } from "@dragoman/ledger";

/** Every such problem, at its place in a configuration that the schema takes. */
export function checkLedger(config: GatewayConfig): readonly ConfigProblem[] {
  return [...checkModels(config), ...checkOwners(config), ...checkKeys(config), ...checkGateway(config)];
}

function* checkModels({ models }: GatewayConfig): Generator<ConfigProblem> {
  for (const [name, model] of Object.entries(models)) {
    if (!("deployments" in model)) continue;
    const path = pointer("/models", name);
    yield* checkLimits(pointer(path, "limits"), model.limits);
    for (const [index, { limits, prices }] of model.deployments.entries()) {
      const at = pointer(path, "deployments", index);
      yield* checkLimits(pointer(at, "limits"), limits);
      yield* checkPrices(pointer(at, "prices"), prices);
    }
  }
}

function* checkOwners({ owners = {} }: GatewayConfig): Generator<ConfigProblem> {
  for (const [name, { limits, eachKey }] of Object.entries(owners)) {
    yield* checkLimits(pointer("/owners", name, "limits"), limits);
    yield* checkLimits(pointer("/owners", name, "eachKey"), eachKey);
  }
}

function* checkKeys({ keys = [] }: GatewayConfig): Generator<ConfigProblem> {
  for (const [index, { limits }] of keys.entries()) yield* checkLimits(pointer("/keys", index, "limits"), limits);
}

function* checkGateway({ limits = {}, prices = {} }: GatewayConfig): Generator<ConfigProblem> {
  yield* checkLimits("/limits/global", limits.global);
  yield* checkLimits("/limits/eachEndUser", limits.eachEndUser);
  yield* checkPrices("/prices/rows", prices.rows);
}

function checkLimits(path: string, limits: readonly LimitConfig[] = []): readonly ConfigProblem[] {
  const reading = compileLimits(limits);
  return reading.ok ? [] : reading.problems.map((problem) => ({ ...problem, path: path + problem.path }));
}

function checkPrices(
  path: string,
  prices: DeploymentPrice | readonly DeploymentPrice[] = [],
): readonly ConfigProblem[] {
  const isList = Array.isArray(prices);
  const list = (isList ? prices : [prices]) as readonly DeploymentPrice[];
  const rows = list.map((price) => ({ ...price, model: price.model ?? "*" }));
  return compilePrices(rows, "").problems.map((problem) => ({
    ...problem,
    path: path + (isList ? problem.path : problem.path.replace(/^\/0/, "")),
  }));
}

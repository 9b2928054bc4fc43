/** Whose limits are what. A store or a configuration answers; sets keep their identity until they change. */
import { GatewayError } from "@dragoman/core";
import type { LimitConfig, Principal } from "@dragoman/core";

import { compileLimits, NO_LIMITS, type LimitSet } from "../limits/index.ts";

/** Finds the limits of every scope. Asked for each request, so it answers from memory. */
export interface LimitDirectory {
  global(): LimitSet;
  key(id: string): LimitSet;
  owner(id: string): LimitSet;
  /** Limits that an owner sets for each of its keys. */
  eachKey(ownerId: string): LimitSet;
  /** Limits of each end user of a key. */
  eachEndUser(principal: Principal): LimitSet;
  model(name: string): LimitSet;
  deployment(id: string): LimitSet;
}

/** Limits as configurations spell them. */
export interface LimitsConfig {
  readonly global?: readonly LimitConfig[];
  readonly keys?: Readonly<Record<string, readonly LimitConfig[]>>;
  readonly owners?: Readonly<
    Record<string, { readonly limits?: readonly LimitConfig[]; readonly eachKey?: readonly LimitConfig[] }>
  >;
  readonly eachEndUser?: readonly LimitConfig[];
  readonly models?: Readonly<Record<string, readonly LimitConfig[]>>;
  readonly deployments?: Readonly<Record<string, readonly LimitConfig[]>>;
}

/** Compiles limits once. Throws `config_invalid` that names every mistake and where it is. */
export function createLimitDirectory(config: LimitsConfig): LimitDirectory {
  const problems: string[] = [];
  const compile = (configs: readonly LimitConfig[] | undefined, path: string): LimitSet => {
    if (configs === undefined) return NO_LIMITS;
    const reading = compileLimits(configs);
    if (reading.ok) return reading.limits;
    problems.push(...reading.problems.map((problem) => `${path}${problem.path}: ${problem.message}`));
    return NO_LIMITS;
  };
  const compileEach = (
    configs: Readonly<Record<string, readonly LimitConfig[]>> | undefined,
    path: string,
  ): ReadonlyMap<string, LimitSet> =>
    new Map(Object.entries(configs ?? {}).map(([id, each]) => [id, compile(each, `${path}.${id}`)]));
  const global = compile(config.global, "global");
  const keys = compileEach(config.keys, "keys");
  const models = compileEach(config.models, "models");
  const deployments = compileEach(config.deployments, "deployments");
  const eachEndUser = compile(config.eachEndUser, "eachEndUser");
  const owners = new Map<string, { readonly limits: LimitSet; readonly eachKey: LimitSet }>();
  for (const [id, owner] of Object.entries(config.owners ?? {}))
    owners.set(id, {
      limits: compile(owner.limits, `owners.${id}.limits`),
      eachKey: compile(owner.eachKey, `owners.${id}.eachKey`),
    });
  if (problems.length > 0)
    throw new GatewayError("config_invalid", `Limits are invalid. ${problems.join("; ")}.`, { details: { problems } });
  return {
    global: () => global,
    key: (id) => keys.get(id) ?? NO_LIMITS,
    owner: (id) => owners.get(id)?.limits ?? NO_LIMITS,
    eachKey: (id) => owners.get(id)?.eachKey ?? NO_LIMITS,
    eachEndUser: () => eachEndUser,
    model: (name) => models.get(name) ?? NO_LIMITS,
    deployment: (id) => deployments.get(id) ?? NO_LIMITS,
  };
}

/**
 * Whose limits are what: those of a configuration, and of the keys and owners of a store. What both name is the configuration's.
 * Invariant: a list of limits that did not change is the same compiled set before and after, by which accounts know it.
 */
import { GatewayError, type LimitConfig, type Snapshot } from "@dragoman/core";
import { everyDeployment } from "./every-deployment.ts";
import { compileLimits, NO_LIMITS, type KeyDirectory, type LimitDirectory, type LimitSet } from "@dragoman/ledger";

interface OwnerSets {
  readonly limits: LimitSet;
  readonly eachKey: LimitSet;
}

const NO_OWNER: OwnerSets = { limits: NO_LIMITS, eachKey: NO_LIMITS };

/** Limits of one generation and one state of the store. */
export class SnapshotLimits implements LimitDirectory {
  readonly #snapshot: Snapshot;
  /** By their text. */
  readonly #sets = new Map<string, LimitSet>();
  readonly #global: LimitSet;
  readonly #eachEndUser: LimitSet;
  readonly #keys = new Map<string, LimitSet>();
  readonly #owners = new Map<string, OwnerSets>();
  readonly #models = new Map<readonly LimitConfig[], LimitSet>();
  readonly #deployments = new Map<string, LimitSet>();

  /** Throws `config_invalid` for limits that were not checked before. `former` gives the sets that are still the same. */
  constructor(snapshot: Snapshot, stored: Pick<KeyDirectory, "keys" | "owners"> | null, former: SnapshotLimits | null) {
    this.#snapshot = snapshot;
    const compile = (configs: readonly LimitConfig[]): LimitSet => this.#compile(configs, former);
    this.#global = compile(snapshot.limits.global);
    this.#eachEndUser = compile(snapshot.limits.eachEndUser);
    for (const owner of [...(stored?.owners ?? []), ...snapshot.owners.values()])
      this.#owners.set(owner.id, { limits: compile(owner.limits), eachKey: compile(owner.eachKey) });
    for (const key of [...(stored?.keys ?? []), ...snapshot.keys.values()]) this.#keys.set(key.id, compile(key.limits));
    for (const { limits } of snapshot.models) this.#models.set(limits, compile(limits));
    for (const { id, limits } of everyDeployment(snapshot))
      if (!this.#deployments.has(id) && limits.length > 0) this.#deployments.set(id, compile(limits));
  }

  /** Nobody has a limit. */
  get isEmpty(): boolean {
    return this.#sets.size === 0;
  }

  global(): LimitSet {
    return this.#global;
  }

  key(id: string): LimitSet {
    return this.#keys.get(id) ?? NO_LIMITS;
  }

  owner(id: string): LimitSet {
    return (this.#owners.get(id) ?? NO_OWNER).limits;
  }

  eachKey(ownerId: string): LimitSet {
    return (this.#owners.get(ownerId) ?? NO_OWNER).eachKey;
  }

  eachEndUser(): LimitSet {
    return this.#eachEndUser;
  }

  /** A name that a glob stands for has the glob's limits, for itself. */
  model(name: string): LimitSet {
    const found = this.#snapshot.findModel(name);
    return found === null ? NO_LIMITS : (this.#models.get(found.model.limits) ?? NO_LIMITS);
  }

  deployment(id: string): LimitSet {
    return this.#deployments.get(id) ?? NO_LIMITS;
  }

  #compile(configs: readonly LimitConfig[], former: SnapshotLimits | null): LimitSet {
    if (configs.length === 0) return NO_LIMITS;
    const text = JSON.stringify(configs);
    const known = this.#sets.get(text) ?? (former === null ? undefined : former.#sets.get(text));
    const set = known ?? compiled(configs);
    this.#sets.set(text, set);
    return set;
  }
}

function compiled(configs: readonly LimitConfig[]): LimitSet {
  const reading = compileLimits(configs);
  if (reading.ok) return reading.limits;
  const problems = reading.problems.map(({ path, message }) => `${path}: ${message}`);
  throw new GatewayError("config_invalid", `Limits are invalid. ${problems.join("; ")}.`);
}

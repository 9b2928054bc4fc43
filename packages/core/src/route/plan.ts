/**
 * The plan of one exchange: which deployments to try, in which order, and with which encoded request. A deployment is encoded
 * when the plan reaches it, so a request that the first one serves pays for no other dry run; `explain` asks for all.
 */
import type { Deployment, ResolvedModel } from "../config/index.ts";
import type { DialectRegistry, EncodedRequest, EncodeResult, Issue, ProviderDialect } from "../dialect/index.ts";
import type { DialectId, Operation } from "../ir/index.ts";
import type { HealthBoard } from "./health-board.ts";
import { orderByWeight } from "./order.ts";

/** A deployment that can serve the request. */
export interface PlanCandidate {
  readonly deployment: Deployment;
  readonly provider: ProviderDialect;
  /** The client speaks this deployment's dialect: its own bytes are forwarded. */
  readonly isForward: boolean;
  readonly encoded: EncodedRequest;
  readonly issues: readonly Issue[];
}

/** A deployment that cannot express the request, and why. */
export interface RefusedDeployment {
  readonly deployment: Deployment;
  readonly issues: readonly Issue[];
}

/** A deployment that could perhaps serve but rests now. */
export interface RestingDeployment {
  readonly deployment: Deployment;
  readonly retryAfterMs: number;
  readonly cause: "breaker" | "cooldown";
}

/** Encodes the request for one deployment in one of its dialects. */
export type EncodeFor = (deployment: Deployment, provider: ProviderDialect, isForward: boolean) => EncodeResult;

/** Chooses how to speak to a deployment: in the client's own dialect where it can, else in its first that serves the operation. */
export function chooseDialect(
  deployment: Deployment,
  clientDialect: DialectId,
  operation: Operation,
  registry: DialectRegistry,
): ProviderDialect | null {
  const spoken = deployment.capabilities.dialects ?? deployment.provider.kind.dialects;
  const serves = (id: DialectId): ProviderDialect | null => {
    const provider = registry.provider(id);
    return provider?.operations.includes(operation) === true ? provider : null;
  };
  if (spoken.includes(clientDialect)) {
    const own = serves(clientDialect);
    if (own !== null) return own;
  }
  for (const id of spoken) {
    const provider = serves(id);
    if (provider !== null) return provider;
  }
  return null;
}

/** What a plan is made from. */
export interface PlanOptions {
  readonly model: ResolvedModel;
  readonly clientDialect: DialectId;
  readonly operation: Operation;
  readonly registry: DialectRegistry;
  readonly health: HealthBoard;
  readonly random: () => number;
  readonly encode: EncodeFor;
}

const NO_DIALECT: readonly Issue[] = [
  {
    code: "capability_missing",
    path: "",
    severity: "reject",
    detail: "The deployment's provider has no such operation.",
  },
];

/** Gives out the deployments of one exchange, one after the other, and remembers those that it passed over and why. */
export class Plan {
  readonly refused: RefusedDeployment[] = [];
  readonly resting: RestingDeployment[] = [];
  readonly #options: PlanOptions;
  readonly #order: readonly Deployment[];
  readonly #shared = new Map<string, EncodeResult>();
  #position = 0;

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#order = options.model.tiers.flatMap((tier) => orderByWeight(tier, options.random));
  }

  /** How many deployments the model has. */
  get size(): number {
    return this.#order.length;
  }

  /**
   * The next deployment that is available now and can express the request, or null. With `minContextWindow`, deployments
   * that are not known to have a larger window are passed over.
   */
  next(nowMs: number, minContextWindow: number | null = null): PlanCandidate | null {
    while (this.#position < this.#order.length) {
      const deployment = this.#order[this.#position] as Deployment;
      this.#position += 1;
      if (minContextWindow !== null && (deployment.capabilities.contextWindow ?? 0) <= minContextWindow) continue;
      const rest = this.#options.health.deployment(deployment).unavailable(nowMs);
      if (rest !== null) {
        this.resting.push({ deployment, retryAfterMs: rest.retryAfterMs, cause: rest.cause });
        continue;
      }
      const candidate = this.consider(deployment);
      if (candidate !== null) return candidate;
    }
    return null;
  }

  /** Dry-runs one deployment; a refusal is kept in `refused`. */
  consider(deployment: Deployment): PlanCandidate | null {
    const { clientDialect, operation, registry } = this.#options;
    const provider = chooseDialect(deployment, clientDialect, operation, registry);
    if (provider === null) {
      this.refused.push({ deployment, issues: NO_DIALECT });
      return null;
    }
    const isForward = provider.id === clientDialect;
    const result = this.#encode(deployment, provider, isForward);
    if (!result.ok) {
      this.refused.push({ deployment, issues: result.issues });
      return null;
    }
    return { deployment, provider, isForward, encoded: result.encoded, issues: result.issues };
  }

  /** Every deployment in the order of this plan. */
  get deployments(): readonly Deployment[] {
    return this.#order;
  }

  #encode(deployment: Deployment, provider: ProviderDialect, isForward: boolean): EncodeResult {
    if (this.#order.length === 1) return this.#options.encode(deployment, provider, isForward);
    const key = `${provider.id}\n${deployment.encodingKey}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const result = this.#options.encode(deployment, provider, isForward);
    this.#shared.set(key, result);
    return result;
  }
}

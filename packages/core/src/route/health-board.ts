/**
 * Health of all deployments and credentials of one gateway, by id: it outlives configuration generations. A deployment of a glob
 * model has one health for each upstream model, since providers limit and lose models one by one.
 */
import { DeploymentHealth, DEFAULT_BREAKER, type BreakerLimits } from "./health.ts";

/** How long a refused credential is left alone before it is tried again, in milliseconds. */
export const CREDENTIAL_RETRY_MS = 60_000;

/** Upstream models of one deployment whose health is remembered; clients choose the names, so there has to be a bound. */
export const MAX_MODELS_PER_DEPLOYMENT = 1024;

/** Remembers the health of deployments and the credentials that were refused. One for a gateway. */
export class HealthBoard {
  readonly #limits: BreakerLimits;
  readonly #deployments = new Map<string, Map<string, DeploymentHealth>>();
  readonly #deadCredentials = new Map<string, { readonly generation: number; readonly untilMs: number }>();
  readonly #turns = new Map<string, number>();

  constructor(limits: BreakerLimits = DEFAULT_BREAKER) {
    this.#limits = limits;
  }

  /** The health of a deployment's upstream model. Of more models than are remembered the one that came first is forgotten. */
  deployment({ id, model }: { readonly id: string; readonly model: string }): DeploymentHealth {
    let models = this.#deployments.get(id);
    if (models === undefined) {
      models = new Map();
      this.#deployments.set(id, models);
    }
    const known = models.get(model);
    if (known !== undefined) return known;
    if (models.size >= MAX_MODELS_PER_DEPLOYMENT) {
      const [oldest] = models.keys();
      if (oldest !== undefined) models.delete(oldest);
    }
    const health = new DeploymentHealth(this.#limits);
    models.set(model, health);
    return health;
  }

  /** The upstream refused this credential: it rests until the next generation or for `CREDENTIAL_RETRY_MS`. */
  markCredentialDead(credentialId: string, generation: number, nowMs: number): void {
    this.#deadCredentials.set(credentialId, { generation, untilMs: nowMs + CREDENTIAL_RETRY_MS });
  }

  isCredentialDead(credentialId: string, generation: number, nowMs: number): boolean {
    const dead = this.#deadCredentials.get(credentialId);
    if (dead === undefined) return false;
    if (dead.generation === generation && nowMs < dead.untilMs) return true;
    this.#deadCredentials.delete(credentialId);
    return false;
  }

  /** Chooses among a provider's credentials in turn, skipping those that rest; null when all do. */
  pickCredential<Credential extends { readonly id: string }>(
    providerId: string,
    credentials: readonly Credential[],
    generation: number,
    nowMs: number,
  ): Credential | null {
    const turn = this.#turns.get(providerId) ?? 0;
    for (let offset = 0; offset < credentials.length; offset++) {
      const index = (turn + offset) % credentials.length;
      const credential = credentials[index] as Credential;
      if (this.isCredentialDead(credential.id, generation, nowMs)) continue;
      if (credentials.length > 1) this.#turns.set(providerId, index + 1);
      return credential;
    }
    return null;
  }

  /** Forgets deployments that no configuration names any more. */
  retainDeployments(isKnown: (id: string) => boolean): void {
    for (const id of this.#deployments.keys()) if (!isKnown(id)) this.#deployments.delete(id);
  }
}

/** Health of all deployments and credentials of one gateway, by id: it outlives configuration generations. */
import { DeploymentHealth, DEFAULT_BREAKER, type BreakerLimits } from "./health.ts";

/** How long a refused credential is left alone before it is tried again, in milliseconds. */
export const CREDENTIAL_RETRY_MS = 60_000;

export class HealthBoard {
  readonly #limits: BreakerLimits;
  readonly #deployments = new Map<string, DeploymentHealth>();
  readonly #deadCredentials = new Map<string, { readonly generation: number; readonly untilMs: number }>();
  readonly #turns = new Map<string, number>();

  constructor(limits: BreakerLimits = DEFAULT_BREAKER) {
    this.#limits = limits;
  }

  deployment(id: string): DeploymentHealth {
    let health = this.#deployments.get(id);
    if (health === undefined) {
      health = new DeploymentHealth(this.#limits);
      this.#deployments.set(id, health);
    }
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

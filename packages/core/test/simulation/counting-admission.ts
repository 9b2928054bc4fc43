/** Admission that refuses at random and counts what it hands out against what comes back. */
import type {
  Admission,
  AdmissionRefusal,
  AdmissionResult,
  AttemptTarget,
  HoldRequest,
  MaybeAsync,
  Settlement,
  Ticket,
} from "../../src/index.ts";
import type { SeededRandom } from "../../../../tests/random/seeded-random.ts";

const REFUSAL: AdmissionRefusal = {
  error: {
    class: "rate-limit",
    origin: "gateway",
    message: "Slower, please.",
    code: "rate_limit_exceeded",
    retryAfterMs: 900,
    retrySame: false,
    fallback: false,
  },
};

/** One ticket with everything that was done to it. */
export class CountedTicket implements Ticket {
  readonly seal: (() => Promise<boolean>) | null;
  readonly requestId: string;
  readonly settlements: Settlement[] = [];
  /** Deployments whose attempts were let in. */
  readonly granted: string[] = [];
  holds = 0;
  closes = 0;
  clientReleases = 0;
  readonly #random: SeededRandom;
  readonly #onViolation: (message: string) => void;

  constructor(requestId: string, random: SeededRandom, onViolation: (message: string) => void) {
    this.requestId = requestId;
    this.#random = random;
    this.#onViolation = onViolation;
    this.seal = random.chance(0.3) ? () => this.#seal() : null;
  }

  hold(request: HoldRequest): MaybeAsync<AdmissionRefusal | null> {
    this.#requireOpen("hold");
    this.holds += 1;
    if (this.holds > 1) this.#onViolation("a second hold");
    if (request.estimateInputTokens() <= 0) this.#onViolation("an estimate of nothing");
    if (!((request.bodyBytes ?? 0) > 0)) this.#onViolation("a hold that does not know the body's size");
    if (request.operation === undefined) this.#onViolation("a hold that does not know the operation");
    if (request.first === undefined) this.#onViolation("a hold that does not know where the call goes first");
    return this.#sometimesLate(this.#random.chance(0.03) ? REFUSAL : null);
  }

  attempt(deploymentId: string, target?: AttemptTarget): MaybeAsync<AdmissionRefusal | null> {
    this.#requireOpen("attempt");
    if (target === undefined || target.upstreamModel === "") this.#onViolation("an attempt at no model");
    if (this.holds !== 1) this.#onViolation("an attempt without a hold");
    if (this.granted.length !== this.settlements.length)
      this.#onViolation("an attempt before the last one was settled");
    if (this.#random.chance(0.04)) return this.#sometimesLate(REFUSAL);
    this.granted.push(deploymentId);
    return this.#sometimesLate(null);
  }

  settle(settlement: Settlement): void {
    this.#requireOpen("settle");
    this.settlements.push(settlement);
    if (settlement.providerDialect === undefined) this.#onViolation("a settlement without its dialect");
    if (this.granted[this.settlements.length - 1] !== settlement.deploymentId)
      this.#onViolation("a settlement without its attempt");
  }

  releaseClient(): void {
    this.#requireOpen("releaseClient");
    this.clientReleases += 1;
    if (this.clientReleases > 1) this.#onViolation("a client released twice");
  }

  close(): void {
    this.closes += 1;
    if (this.clientReleases !== 1) this.#onViolation("closed before the client was released");
    if (this.closes > 1) this.#onViolation("a second close");
    if (this.granted.length !== this.settlements.length) this.#onViolation("closed with an unsettled attempt");
  }

  /** Limits that are counted elsewhere answer after some turns. */
  async #late<Value>(value: Value): Promise<Value> {
    for (let turns = Math.floor(this.#random.next() * 5); turns >= 0; turns -= 1) await Promise.resolve();
    return value;
  }

  #sometimesLate<Value>(value: Value): MaybeAsync<Value> {
    return this.#random.chance(0.2) ? this.#late(value) : value;
  }

  #seal(): Promise<boolean> {
    this.#requireOpen("seal");
    if (this.granted.length !== this.settlements.length) this.#onViolation("a seal before the settlement");
    return this.#late(this.#random.chance(0.9));
  }

  #requireOpen(action: string): void {
    if (this.closes > 0) this.#onViolation(`${action} after close`);
  }
}

/** Hands out counted tickets. */
export function makeAdmission(
  random: SeededRandom,
  tickets: CountedTicket[],
  onViolation: (message: string) => void,
): Admission {
  return {
    open: (_principal, { requestId }) => {
      if (random.chance(0.03)) return { ok: false, refusal: REFUSAL };
      const ticket = new CountedTicket(requestId, random, onViolation);
      tickets.push(ticket);
      const result: AdmissionResult = { ok: true, ticket };
      return random.chance(0.2) ? Promise.resolve(result) : result;
    },
  };
}

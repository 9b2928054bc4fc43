/** Admission that refuses at random and counts what it hands out against what comes back. */
import type { Admission, AdmissionRefusal, AttemptTarget, HoldRequest, Settlement, Ticket } from "../../src/index.ts";
import type { SeededRandom } from "./seeded-random.ts";

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
  }

  hold(request: HoldRequest): AdmissionRefusal | null {
    this.#requireOpen("hold");
    this.holds += 1;
    if (this.holds > 1) this.#onViolation("a second hold");
    if (request.estimateInputTokens() <= 0) this.#onViolation("an estimate of nothing");
    if (!((request.bodyBytes ?? 0) > 0)) this.#onViolation("a hold that does not know the body's size");
    if (request.operation === undefined) this.#onViolation("a hold that does not know the operation");
    if (request.first === undefined) this.#onViolation("a hold that does not know where the call goes first");
    return this.#random.chance(0.03) ? REFUSAL : null;
  }

  attempt(deploymentId: string, target?: AttemptTarget): AdmissionRefusal | null {
    this.#requireOpen("attempt");
    if (target === undefined || target.upstreamModel === "") this.#onViolation("an attempt at no model");
    if (this.holds !== 1) this.#onViolation("an attempt without a hold");
    if (this.granted.length !== this.settlements.length)
      this.#onViolation("an attempt before the last one was settled");
    if (this.#random.chance(0.04)) return REFUSAL;
    this.granted.push(deploymentId);
    return null;
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
      return { ok: true, ticket };
    },
  };
}

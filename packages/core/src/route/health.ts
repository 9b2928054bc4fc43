/**
 * Health of one deployment: a circuit breaker over upstream faults, and a cooldown that an upstream asked for.
 *
 * closed ──(failures)──► open ──(time)──► half-open ──(success)──► closed
 *                          ▲                   └──(failure)──┐
 *                          └──────── longer each time ───────┘
 *
 * Faults of a request never count. State survives configuration generations by deployment id.
 */
import type { NeutralError } from "../ir/index.ts";

/** When a breaker opens and for how long, times in milliseconds. */
export interface BreakerLimits {
  readonly consecutiveFailures: number;
  /** Failure rate that opens, once `minCalls` calls fell into the window. */
  readonly failureRate: number;
  readonly minCalls: number;
  readonly windowMs: number;
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** Calls that may run at once while half-open. */
  readonly probes: number;
}

/** Limits of the breaker where nothing else is configured. */
export const DEFAULT_BREAKER: BreakerLimits = {
  consecutiveFailures: 5,
  failureRate: 0.5,
  minCalls: 20,
  windowMs: 30_000,
  openMs: 5_000,
  maxOpenMs: 120_000,
  probes: 1,
};

/** Names a call towards the breaker: the half-open phase that it probes, 0 for an ordinary call. */
export type HealthCall = number;

/** Why a deployment is skipped now, and for how much longer. */
export interface Unavailability {
  readonly cause: "breaker" | "cooldown";
  readonly retryAfterMs: number;
}

const COUNTED = new Set<NeutralError["class"]>(["overloaded", "timeout", "upstream-5xx", "network", "protocol"]);

/** The breaker and the cooldown of one deployment. A call is begun, then ends in one of `succeed`, `fail` and `abandon`. */
export class DeploymentHealth {
  readonly #limits: BreakerLimits;
  #state: "closed" | "open" | "half-open" = "closed";
  #consecutive = 0;
  #calls = 0;
  #failures = 0;
  #windowStartMs = 0;
  #openUntilMs = 0;
  #timesOpened = 0;
  /** Numbers the half-open phases, so that a late call of another phase is not taken for a probe of this one. */
  #phase = 0;
  #probesRunning = 0;
  #cooldownUntilMs = 0;

  constructor(limits: BreakerLimits = DEFAULT_BREAKER) {
    this.#limits = limits;
  }

  get state(): "closed" | "open" | "half-open" {
    return this.#state;
  }

  /** Null when a call may go out now. */
  unavailable(nowMs: number): Unavailability | null {
    if (nowMs < this.#cooldownUntilMs) return { cause: "cooldown", retryAfterMs: this.#cooldownUntilMs - nowMs };
    if (this.#state === "open" && nowMs < this.#openUntilMs)
      return { cause: "breaker", retryAfterMs: this.#openUntilMs - nowMs };
    if (this.#state === "half-open" && this.#probesRunning >= this.#limits.probes)
      return { cause: "breaker", retryAfterMs: this.#limits.openMs };
    return null;
  }

  /** A call goes out. Exactly one of `succeed`, `fail` or `abandon` follows, with what this returned. */
  begin(nowMs: number): HealthCall {
    if (this.#state === "open" && nowMs >= this.#openUntilMs) {
      this.#state = "half-open";
      this.#phase += 1;
      this.#probesRunning = 0;
    }
    if (this.#state !== "half-open") return 0;
    this.#probesRunning += 1;
    return this.#phase;
  }

  succeed(call: HealthCall, nowMs: number): void {
    if (!this.#isVerdict(call)) return;
    this.#count(nowMs, false);
    this.#consecutive = 0;
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#timesOpened = 0;
    this.#probesRunning = 0;
    this.#calls = 0;
    this.#failures = 0;
  }

  fail(call: HealthCall, error: NeutralError, nowMs: number, maxRetryAfterMs: number): void {
    if (
      error.retryAfterMs !== undefined &&
      (error.class === "rate-limit" || error.class === "overloaded" || error.class === "quota")
    )
      this.#cooldownUntilMs = Math.max(this.#cooldownUntilMs, nowMs + Math.min(error.retryAfterMs, maxRetryAfterMs));
    if (!COUNTED.has(error.class)) {
      this.abandon(call);
      return;
    }
    if (!this.#isVerdict(call)) return;
    this.#count(nowMs, true);
    this.#consecutive += 1;
    if (this.#state === "half-open" || this.#isBroken()) this.#open(nowMs);
  }

  /** The call ended without a verdict about the deployment (client gone, the request's own fault). */
  abandon(call: HealthCall): void {
    if (this.#isProbe(call)) this.#probesRunning -= 1;
  }

  #isProbe(call: HealthCall): boolean {
    return this.#state === "half-open" && call === this.#phase;
  }

  /** Once opened, only a probe says anything new: calls from before are late witnesses of what is known. */
  #isVerdict(call: HealthCall): boolean {
    return this.#state === "closed" || this.#isProbe(call);
  }

  #count(nowMs: number, isFailure: boolean): void {
    if (nowMs - this.#windowStartMs >= this.#limits.windowMs) {
      this.#windowStartMs = nowMs;
      this.#calls = 0;
      this.#failures = 0;
    }
    this.#calls += 1;
    if (isFailure) this.#failures += 1;
  }

  #isBroken(): boolean {
    if (this.#consecutive >= this.#limits.consecutiveFailures) return true;
    return this.#calls >= this.#limits.minCalls && this.#failures / this.#calls >= this.#limits.failureRate;
  }

  #open(nowMs: number): void {
    this.#state = "open";
    this.#timesOpened += 1;
    this.#probesRunning = 0;
    this.#openUntilMs =
      nowMs + Math.min(this.#limits.maxOpenMs, this.#limits.openMs * 2 ** Math.min(this.#timesOpened - 1, 20));
  }
}

/**
 * Limits repetitions on the same deployment to a share of the traffic, so that a failing upstream is not hit by a multiple of
 * its load. Falling back to another deployment is never limited.
 */

/** A bucket that requests fill and repetitions empty. */
export class RetryBudget {
  readonly #share: number;
  readonly #floorPerSecond: number;
  #earned: number;
  #floor: number;
  #lastMs: number;

  /** `share` of requests may be repeated, and `floorPerSecond` always. */
  constructor(nowMs: number, share: number = 0.2, floorPerSecond: number = 10) {
    this.#share = share;
    this.#floorPerSecond = floorPerSecond;
    this.#earned = 0;
    this.#floor = floorPerSecond;
    this.#lastMs = nowMs;
  }

  /** Counts one admitted request. */
  earn(): void {
    // Ten seconds' worth of a large service is enough memory; an unbounded balance would allow a storm after a quiet hour.
    this.#earned = Math.min(this.#earned + this.#share, 1_000);
  }

  /** Whether a repetition would be granted now. */
  hasRoom(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#floor >= 1 || this.#earned >= 1;
  }

  /** Takes one repetition. Call only after `hasRoom`. */
  spend(nowMs: number): void {
    this.#refill(nowMs);
    if (this.#floor >= 1) this.#floor -= 1;
    else this.#earned = Math.max(0, this.#earned - 1);
  }

  #refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#floor = Math.min(this.#floorPerSecond, this.#floor + (elapsedMs / 1000) * this.#floorPerSecond);
  }
}

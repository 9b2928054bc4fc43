/**
 * All deadlines of one exchange behind one timer. Moving a deadline later costs an assignment: the timer fires early, sees that
 * nothing is due and arms itself again.
 */
import type { Clock, Timer } from "./ports.ts";

/** What a deadline stands for; the index into the table of times. */
export const Deadline = {
  /** The whole exchange. */
  total: 0,
  /** The upstream's next sign of life: first content before the commit, idle time after it. */
  life: 1,
  /** The client is due a keep-alive. */
  keepAlive: 2,
  /** A stopped stream may still bring its usage. */
  usageGrace: 3,
  /** The client does not read. */
  stall: 4,
  /** The client left; the upstream is read on for usage. */
  drain: 5,
  /** The client gets its status although nothing has come yet. */
  commitAfter: 6,
} as const;

export type DeadlineName = (typeof Deadline)[keyof typeof Deadline];

const COUNT = 7;

export class Deadlines {
  readonly #clock: Clock;
  readonly #onDue: (name: DeadlineName) => void;
  readonly #atMs: Float64Array = new Float64Array(COUNT).fill(Number.POSITIVE_INFINITY);
  #timer: Timer | null = null;
  #armedAtMs: number = Number.POSITIVE_INFINITY;
  #isStopped = false;
  readonly #fire = (): void => this.#check();

  constructor(clock: Clock, onDue: (name: DeadlineName) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Sets a deadline `delayMs` from now; infinity clears it. */
  set(name: DeadlineName, delayMs: number): void {
    if (this.#isStopped) return;
    if (delayMs === Number.POSITIVE_INFINITY) {
      this.#atMs[name] = delayMs;
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    const atMs = nowMs + delayMs;
    this.#atMs[name] = atMs;
    if (atMs < this.#armedAtMs) this.#arm(nowMs, atMs);
  }

  clear(name: DeadlineName): void {
    this.#atMs[name] = Number.POSITIVE_INFINITY;
  }

  isSet(name: DeadlineName): boolean {
    return this.#atMs[name] !== Number.POSITIVE_INFINITY;
  }

  /** Cancels the timer for good. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#atMs.fill(Number.POSITIVE_INFINITY);
  }

  #arm(nowMs: number, atMs: number): void {
    this.#timer?.cancel();
    this.#armedAtMs = atMs;
    this.#timer = this.#clock.schedule(Math.max(0, Math.ceil(atMs - nowMs)), this.#fire);
  }

  #check(): void {
    this.#timer = null;
    this.#armedAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonicMs();
    for (let name = 0; name < COUNT && !this.#isStopped; name++) {
      if ((this.#atMs[name] as number) > nowMs) continue;
      this.#atMs[name] = Number.POSITIVE_INFINITY;
      this.#onDue(name as DeadlineName);
    }
    if (this.#isStopped) return;
    let nextMs = Number.POSITIVE_INFINITY;
    for (let name = 0; name < COUNT; name++) nextMs = Math.min(nextMs, this.#atMs[name] as number);
    if (nextMs < this.#armedAtMs) this.#arm(this.#clock.monotonicMs(), nextMs);
  }
}

// Counts of one worker. What belongs to the window is decided by the scheduled time, except the rate of completions, which is
// decided by when the last byte came.
import { createHistogram, type Histogram } from "../histogram/histogram.ts";
import type { ExchangeOutcome } from "./exchange.ts";
import type { RunTimes, Tally } from "./load-spec.ts";

/** A send later than this is the generator's failure to keep its schedule, µs. */
const LATE_SEND_US = 1000;

/** Collects the figures of one run. Every request offered in the window ends in exactly one count. */
export class TallySheet {
  readonly #times: RunTimes;
  readonly #latency: Histogram = createHistogram();
  readonly #ttft: Histogram = createHistogram();
  readonly #gap: Histogram = createHistogram();
  readonly #statuses = new Map<number, number>();
  #offered = 0;
  #succeeded = 0;
  #succeededInWindow = 0;
  #lastSuccessUs = 0;
  #lateSends = 0;
  #maxLateUs = 0;
  #queuedSends = 0;
  #connectErrors = 0;
  #timeouts = 0;
  #brokenBodies = 0;
  #connectionsPeak = 0;

  constructor(times: RunTimes) {
    this.#times = times;
  }

  offer(dueUs: number, lateUs: number): void {
    if (!this.#isInWindow(dueUs)) return;
    this.#offered += 1;
    if (lateUs > LATE_SEND_US) this.#lateSends += 1;
    if (lateUs > this.#maxLateUs) this.#maxLateUs = lateUs;
  }

  queue(dueUs: number): void {
    if (this.#isInWindow(dueUs)) this.#queuedSends += 1;
  }

  content(dueUs: number, atUs: number, previousUs: number | null): void {
    if (!this.#isInWindow(dueUs)) return;
    if (previousUs === null) this.#ttft.record(atUs - dueUs);
    else this.#gap.record(atUs - previousUs);
  }

  connections(open: number): void {
    if (open > this.#connectionsPeak) this.#connectionsPeak = open;
  }

  end(dueUs: number, atUs: number, outcome: ExchangeOutcome, status: number): void {
    if (outcome === "succeeded" && this.#isInWindow(atUs)) this.#succeededInWindow += 1;
    if (outcome === "succeeded") this.#lastSuccessUs = atUs;
    if (!this.#isInWindow(dueUs)) return;
    switch (outcome) {
      case "succeeded":
        this.#succeeded += 1;
        this.#latency.record(atUs - dueUs);
        return;
      case "connect-error":
        this.#connectErrors += 1;
        return;
      case "timeout":
        this.#timeouts += 1;
        return;
      case "broken-body":
        this.#brokenBodies += 1;
        return;
      case "status":
        this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    }
  }

  /** The figures so far; frees the histograms, so it is the last call. */
  close(): Tally {
    const tally = {
      offered: this.#offered,
      succeeded: this.#succeeded,
      succeededInWindow: this.#succeededInWindow,
      lastSuccessUs: this.#lastSuccessUs,
      lateSends: this.#lateSends,
      maxLateUs: this.#maxLateUs,
      queuedSends: this.#queuedSends,
      connectErrors: this.#connectErrors,
      timeouts: this.#timeouts,
      brokenBodies: this.#brokenBodies,
      statuses: Object.fromEntries(this.#statuses),
      connectionsPeak: this.#connectionsPeak,
      latency: this.#latency.encode(),
      ttft: this.#ttft.encode(),
      gap: this.#gap.encode(),
    };
    for (const histogram of [this.#latency, this.#ttft, this.#gap]) histogram.destroy();
    return tally;
  }

  #isInWindow(us: number): boolean {
    return us >= this.#times.windowStartUs && us < this.#times.windowEndUs;
  }
}

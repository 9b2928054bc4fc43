/** Where the time of one exchange went, for the `server-timing` header (W3C Server Timing) of callers that may see it. */
import type { Clock } from "./ports.ts";

/** Moments of an exchange on the monotonic clock. Each is marked at most once but the last two, which belong to the last attempt. */
export class ExchangeTiming {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #startedMs: number;
  #bodyMs: number | null = null;
  #firstSendMs: number | null = null;
  #sentMs: number | null = null;
  #answeredMs: number | null = null;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  /** The request's body is here. */
  markBody(): void {
    this.#bodyMs ??= this.#clock.monotonicMs();
  }

  /** A call goes out. */
  markSend(): void {
    this.#sentMs = this.#clock.monotonicMs();
    this.#firstSendMs ??= this.#sentMs;
    this.#answeredMs = null;
  }

  /** The head of the call's answer is here. */
  markAnswer(): void {
    this.#answeredMs = this.#clock.monotonicMs();
  }

  /**
   * The header's value: `read` from the request's head to its body, `gateway` from there to the first call upstream, `upstream` from
   * the last call to the head of its answer. Milliseconds; what did not happen is left out.
   */
  header(): string {
    return [
      entry("read", this.#startedMs, this.#bodyMs),
      entry("gateway", this.#bodyMs, this.#firstSendMs),
      entry("upstream", this.#sentMs, this.#answeredMs),
    ]
      .filter((each) => each !== null)
      .join(", ");
  }
}

const entry = (name: string, fromMs: number | null, toMs: number | null): string | null =>
  fromMs === null || toMs === null ? null : `${name};dur=${(toMs - fromMs).toFixed(3)}`;

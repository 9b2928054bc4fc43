/**
 * What a journal does while its lines cannot be written. States: well ⇄ failing. It is failing from the first write that fails until a
 * probe and everything that waited have been written; each change is logged once.
 */
import type { AdmissionRefusal, Clock, Logger, Timer } from "@dragoman/core";

/** While lines cannot be written: let no call in, or go on and keep what memory has room for. */
export type FullPolicy = "refuse" | "continue";

/** What a guard works with. */
export interface DiskGuardParts {
  readonly clock: Pick<Clock, "nowMs" | "schedule">;
  readonly logger: Logger;
  readonly policy: FullPolicy;
  readonly retryMs: number;
  /** Writes what waits; throws while that fails. */
  readonly retry: () => void;
  /** For the log: what waits and what is lost. */
  readonly describe: () => Readonly<Record<string, unknown>>;
}

/** Nothing is let in whose entry could not be kept. */
export const LEDGER_REFUSAL: AdmissionRefusal = {
  error: {
    class: "overloaded",
    origin: "gateway",
    message: "Calls cannot be accounted for now, so none is let in.",
    code: "ledger_unavailable",
    status: 503,
    retrySame: false,
    fallback: false,
  },
};

export class DiskGuard {
  readonly #parts: DiskGuardParts;
  #sinceMs: number | null = null;
  #timer: Timer | null = null;
  #isEnded = false;

  constructor(parts: DiskGuardParts) {
    this.#parts = parts;
  }

  get isFailing(): boolean {
    return this.#sinceMs !== null;
  }

  /** Since when lines cannot be written; null = they can. */
  get failingSinceMs(): number | null {
    return this.#sinceMs;
  }

  /** Why no call may be let in. */
  get refusal(): AdmissionRefusal | null {
    return this.isFailing && this.#parts.policy === "refuse" ? LEDGER_REFUSAL : null;
  }

  /** A write failed. */
  report(thrown: unknown): void {
    if (this.isFailing || this.#isEnded) return;
    const { clock, logger, policy } = this.#parts;
    this.#sinceMs = clock.nowMs();
    const consequence =
      policy === "refuse" ? "no call is let in until it can" : "calls go on, and what memory has no room for is lost";
    logger.error({ ...failureFields(thrown), policy }, `The journal cannot be written: ${consequence}.`);
    this.#arm();
  }

  /** Stops trying. */
  end(): void {
    this.#isEnded = true;
    this.#timer?.cancel();
  }

  #arm(): void {
    this.#timer = this.#parts.clock.schedule(this.#parts.retryMs, () => this.#tryAgain());
  }

  #tryAgain(): void {
    const { clock, logger, retry, describe } = this.#parts;
    try {
      retry();
    } catch {
      // Logged when it began; the next try is no news.
      this.#arm();
      return;
    }
    const failedMs = clock.nowMs() - (this.#sinceMs as number);
    this.#sinceMs = null;
    logger.warn({ failedMs, ...describe() }, "The journal can be written again.");
  }
}

/** What a log may tell of an error of the file system. */
export function failureFields(thrown: unknown): Readonly<Record<string, unknown>> {
  const { code, message } = thrown as { readonly code?: unknown; readonly message?: unknown };
  return {
    code: typeof code === "string" ? code : null,
    error: typeof message === "string" ? message : String(thrown),
  };
}

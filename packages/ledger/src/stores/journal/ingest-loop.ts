/**
 * Books what stands in journals: first what dead incarnations left, then what the live one writes. States: idle, waiting (a timer is
 * set), running. Invariants: one run at a time; while the store fails nothing is lost, tries back off with full jitter, and the log has
 * one line for the beginning and one for the end of it.
 */
import { isGatewayError, type Clock, type Logger, type Random, type Timer } from "@dragoman/core";

import { failureFields } from "./disk-guard.ts";
import type { OwnIngest } from "./own-ingest.ts";
import { recoverIncarnation, type RecoveryParts, type RecoveryReport } from "./recovery.ts";
import type { SegmentName } from "./segment-names.ts";
import type { TurnEnd } from "./turn-end.ts";

/** What the loop works with. */
export interface IngestLoopParts extends RecoveryParts {
  readonly clock: Pick<Clock, "nowMs" | "schedule">;
  readonly random: Pick<Random, "next">;
  readonly logger: Logger;
  readonly turnEnd: TurnEnd;
  readonly own: OwnIngest;
  /** Up to where the live incarnation has written. */
  readonly written: () => number;
  /** How long lines gather before they are booked. */
  readonly delayMs: number;
  readonly maxBackoffMs: number;
  /** More is booked. */
  readonly onBooked: () => void;
}

const FIRST_BACKOFF_MS = 100;

/** How far the store is behind. */
export interface IngestLag {
  readonly bytes: number;
  readonly ms: number;
}

interface Recovering {
  readonly segments: readonly SegmentName[];
  readonly settle: (report: RecoveryReport | null) => void;
}

export class IngestLoop {
  readonly #parts: IngestLoopParts;
  readonly #dead: Recovering[] = [];
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #isEnded = false;
  #failures = 0;
  #downSinceMs: number | null = null;
  /** A place in the journal that is not booked, and when it was the end of it. */
  #marker: { readonly position: number; readonly atMs: number } | null = null;

  constructor(parts: IngestLoopParts) {
    this.#parts = parts;
  }

  /** False from a failed booking to the next that succeeds. */
  get isStoreUp(): boolean {
    return this.#downSinceMs === null;
  }

  get lag(): IngestLag {
    const { clock, own, written } = this.#parts;
    return {
      bytes: Math.max(written() - own.position, 0),
      ms: this.#marker === null ? 0 : Math.max(clock.nowMs() - this.#marker.atMs, 0),
    };
  }

  /** Books what a dead incarnation left; null = its files cannot be read by this version, or the loop has ended. */
  recover(segments: readonly SegmentName[]): Promise<RecoveryReport | null> {
    return new Promise((settle) => {
      if (this.#isEnded) settle(null);
      else {
        this.#dead.push({ segments, settle });
        this.#arm(0);
      }
    });
  }

  /** Lines were written. */
  wake(): void {
    this.#mark();
    this.#arm(this.#parts.delayMs);
  }

  /** Books what can be booked within `timeoutMs` and ends; true = nothing is left. */
  async end(timeoutMs: number): Promise<boolean> {
    this.#isEnded = true;
    this.#timer?.cancel();
    let isLate = false;
    let timer: Timer | null = null;
    const late = new Promise<false>((settle) => {
      timer = this.#parts.clock.schedule(timeoutMs, () => {
        isLate = true;
        settle(false);
      });
    });
    // A store that hangs must not hold up the end of the process: its files are recovered at the next start.
    const isDone = await Promise.race([late, this.#finish(() => isLate)]);
    (timer as Timer | null)?.cancel();
    for (const { settle } of this.#dead.splice(0)) settle(null);
    return isDone;
  }

  async #finish(isOver: () => boolean): Promise<boolean> {
    await this.#running;
    const isDone = await this.#work(isOver);
    await this.#parts.own.end();
    return isDone;
  }

  #arm(delayMs: number): void {
    if (this.#timer !== null || this.#running !== null || this.#isEnded) return;
    this.#timer = this.#parts.clock.schedule(delayMs, () => {
      this.#timer = null;
      this.#running = this.#run();
    });
  }

  async #run(): Promise<void> {
    const isDone = await this.#work(() => this.#isEnded);
    this.#running = null;
    if (!isDone) this.#arm(this.#backoffMs());
    else if (this.lag.bytes > 0) this.#arm(this.#parts.delayMs);
  }

  /** Works until nothing is left (true), or something fails or `isOver` (false). Never rejects. */
  async #work(isOver: () => boolean): Promise<boolean> {
    try {
      while (!isOver()) {
        if (!(await this.#step())) return true;
        await new Promise<void>((next) => this.#parts.turnEnd(next));
      }
    } catch (thrown) {
      this.#reportDown(thrown);
    }
    return false;
  }

  async #step(): Promise<boolean> {
    const [dead] = this.#dead;
    if (dead !== undefined) {
      await this.#recover(dead);
      this.#dead.shift();
    } else if (!(await this.#parts.own.step())) {
      return false;
    }
    this.#reportUp();
    this.#mark();
    this.#parts.onBooked();
    return true;
  }

  async #recover({ segments, settle }: Recovering): Promise<void> {
    const { logger } = this.#parts;
    try {
      const report = await recoverIncarnation(this.#parts, segments);
      logger.info({ ...report }, "A journal that its process left was booked.");
      settle(report);
    } catch (thrown) {
      if (!isGatewayError(thrown) || thrown.code !== "config_invalid") throw thrown;
      logger.error({ error: thrown.message }, "A journal that its process left cannot be booked and stays.");
      settle(null);
    }
  }

  #mark(): void {
    const { clock, own, written } = this.#parts;
    if (this.#marker !== null && own.position < this.#marker.position) return;
    const position = written();
    this.#marker = own.position < position ? { position, atMs: clock.nowMs() } : null;
  }

  #backoffMs(): number {
    const { random, maxBackoffMs } = this.#parts;
    return random.next() * Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(this.#failures, 20), maxBackoffMs);
  }

  #reportDown(thrown: unknown): void {
    const { clock, logger } = this.#parts;
    this.#failures += 1;
    if (this.#downSinceMs !== null) return;
    this.#downSinceMs = clock.nowMs();
    logger.error(
      { ...failureFields(thrown), waitingBytes: this.lag.bytes, waitingIncarnations: this.#dead.length },
      "Entries cannot be booked in the store; they wait in the journal.",
    );
  }

  #reportUp(): void {
    const { clock, logger, own } = this.#parts;
    this.#failures = 0;
    if (this.#downSinceMs === null) return;
    const downMs = clock.nowMs() - this.#downSinceMs;
    this.#downSinceMs = null;
    logger.info(
      { downMs, bookedEntries: own.bookedEntries, waitingBytes: this.lag.bytes },
      "Entries are booked in the store again.",
    );
  }
}

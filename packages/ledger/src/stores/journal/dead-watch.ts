/** Hands the files of dead incarnations to the ingest loop, each once; looks again at those that still lived. */
import type { Logger } from "@dragoman/core";

import { findIncarnations, type JudgeParts } from "./dead-incarnations.ts";
import { failureFields } from "./disk-guard.ts";
import type { RecoveryReport } from "./recovery.ts";
import { groupSegments, type SegmentName } from "./segment-names.ts";

/** Parts of a watch. */
export interface DeadWatchParts extends JudgeParts {
  readonly logger: Logger;
  readonly recover: (segments: readonly SegmentName[]) => Promise<RecoveryReport | null>;
}

export class DeadWatch {
  readonly #parts: DeadWatchParts;
  /** Incarnations that are being recovered, or cannot be. */
  readonly #running = new Map<string, Promise<RecoveryReport | null>>();
  #alive: readonly string[] = [];
  #isLooking = false;

  constructor(parts: DeadWatchParts) {
    this.#parts = parts;
  }

  /** Begins to recover what is dead now; resolves with the reports to come. */
  async look(): Promise<readonly Promise<RecoveryReport | null>[]> {
    const { dead, alive } = await findIncarnations(this.#parts);
    this.#alive = alive;
    return dead.map((segments) => this.#recover(segments));
  }

  /** Looks again if somebody still lived. Never rejects. */
  async lookAgain(): Promise<void> {
    if (this.#alive.length === 0 || this.#isLooking) return;
    this.#isLooking = true;
    try {
      void (await this.look());
    } catch (thrown) {
      this.#parts.logger.error(failureFields(thrown), "The files of other journals cannot be listed.");
    }
    this.#isLooking = false;
  }

  /** Recovers one that is known to be dead. */
  async recoverNow(incarnation: string): Promise<RecoveryReport | null> {
    const segments = groupSegments(await this.#parts.files.list()).get(incarnation) ?? [];
    return this.#recover(segments, incarnation);
  }

  #recover(
    segments: readonly SegmentName[],
    incarnation: string = segments[0]?.incarnation ?? "",
  ): Promise<RecoveryReport | null> {
    const running = this.#running.get(incarnation);
    if (running !== undefined) return running;
    const recovery = this.#parts.recover(segments);
    this.#running.set(incarnation, recovery);
    // What this version cannot read stays in the list, so that it is tried, and logged, once.
    void recovery.then((report) => report !== null && this.#running.delete(incarnation));
    return recovery;
  }
}

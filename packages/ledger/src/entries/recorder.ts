/** What is written down while calls go on, so that no upstream call is ever without its line, whatever becomes of the process. */
import type { AdmissionRefusal } from "@dragoman/core";

import type { Amounts } from "../money/index.ts";
import type { EntrySink, LedgerEntry } from "./ledger-entry.ts";

/** A reservation that was made. */
export interface RecordedHold {
  readonly requestId: string;
  readonly atMs: number;
  readonly key: string;
  readonly owner: string | null;
  readonly endUser: string | null;
  readonly model: string;
  readonly held: Amounts;
}

/**
 * Keeps a ledger's lines. All methods are called in the order of what happened, in the turn in which it happened, and never throw: a
 * recorder that cannot keep a line says so by `refusal` and `seal`.
 */
export interface LedgerRecorder extends EntrySink {
  /** Why no call may be let in now, or null. Asked before a ticket is opened. */
  refusal(): AdmissionRefusal | null;
  /** A request is held in all its scopes. */
  hold(hold: RecordedHold): void;
  /**
   * An upstream call is about to go out. `provisional` is the entry that stands for it when the process dies before the real one is
   * there: rule `recovered`, charged by what was held.
   */
  attempt(provisional: LedgerEntry): void;
  /** An exchange ended, and what it held is free. */
  close(requestId: string, atMs: number): void;
  /** What the last byte of an answer waits for; null = nothing. Resolves with false when the lines written so far could not be kept. */
  readonly seal: (() => Promise<boolean>) | null;
}

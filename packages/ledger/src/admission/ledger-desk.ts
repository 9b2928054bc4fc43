/** What all tickets of one ledger share. */
import type { Clock } from "@dragoman/core";

import type { LeaseHolder } from "../counters/index.ts";
import type { EntrySink, LedgerRecorder } from "../entries/index.ts";
import type { HoldMode, LearnedOutput } from "../estimate/index.ts";
import type { AccountBook, LedgerAlert } from "../limits/index.ts";
import type { PriceBook } from "../prices/index.ts";
import type { LimitDirectory } from "./limit-directory.ts";

/** The ledger's parts, as a ticket uses them. Prices and limits may be replaced while tickets are open. */
export interface LedgerDesk {
  readonly clock: Pick<Clock, "nowMs">;
  readonly accounts: AccountBook;
  /** Where limits are counted for several processes; null = in this one alone. */
  readonly leases: LeaseHolder | null;
  readonly learned: LearnedOutput;
  readonly sink: EntrySink;
  /** Is the sink, too, where there is one; null = nothing but entries is kept. */
  readonly recorder: LedgerRecorder | null;
  readonly holdMode: HoldMode;
  readonly allowsUnpriced: boolean;
  readonly onAlert: ((alert: LedgerAlert) => void) | null;
  prices: PriceBook;
  limits: LimitDirectory;
}

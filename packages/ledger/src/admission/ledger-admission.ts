/** Admission by limits and budgets. Clock and sink come as ports; nothing here waits but for leases, where there are any. */
import type { Admission, AdmissionRefusal, AdmissionResult, AdmittedExchange, Clock, Principal } from "@dragoman/core";

import type { LeaseHolder } from "../counters/index.ts";
import type { EntrySink, LedgerRecorder } from "../entries/index.ts";
import { LearnedOutput, type HoldMode, type LearnedOutputOptions } from "../estimate/index.ts";
import { AccountBook, type LedgerAlert, type Scope, type Standing } from "../limits/index.ts";
import { PriceBook } from "../prices/index.ts";
import type { LedgerDesk } from "./ledger-desk.ts";
import { LedgerTicket } from "./ledger-ticket.ts";
import { createLimitDirectory, type LimitDirectory } from "./limit-directory.ts";
import { restoredSpends, type RestoreOptions } from "./restore-accounts.ts";

/** Parts and settings of a ledger's admission. */
export interface LedgerAdmissionOptions {
  readonly clock: Pick<Clock, "nowMs">;
  /** Gets one entry per settled attempt; a recorder is told of reservations and attempts as well, before they have effects. */
  readonly sink: EntrySink | LedgerRecorder;
  /** Default: the package's own table. */
  readonly prices?: PriceBook;
  /** Default: none. */
  readonly limits?: LimitDirectory;
  /** What is held: what such calls take (default), or the most they can take, so that no budget is ever passed. */
  readonly hold?: HoldMode;
  /** Models without a price under a budget. Default `refuse`. */
  readonly unpriced?: "refuse" | "allow";
  readonly learnedOutput?: LearnedOutputOptions;
  /** Accounts kept per scope. Default 100,000. */
  readonly maxAccounts?: number;
  /** Where limits are counted for several processes. Default: in this one alone, and every answer is there at once. */
  readonly leases?: LeaseHolder | null;
  /** Called when a share of a limit is reached and when a limit refuses, each once per window. Must not throw. */
  readonly onAlert?: (alert: LedgerAlert) => void;
}

/** Admission with what operators ask of it. */
export interface LedgerAdmission extends Admission {
  /** Spent and held of one scope's limits; empty where there are none. */
  standings(scope: Scope, id: string): readonly Standing[];
  /** Calls of a scope that run now. */
  running(scope: Scope, id: string): number;
  /** Books what was spent before this process began, from a store's entries. Not for limits that are counted elsewhere. */
  restore(from: Pick<RestoreOptions, "store" | "ownerOf" | "untilMs">): Promise<void>;
  /** Replaces limits or prices. Open tickets end under what they began with, as far as they hold it. */
  replace(parts: { readonly limits?: LimitDirectory; readonly prices?: PriceBook }): void;
}

/** Makes the admission of one process. */
export function createLedgerAdmission(options: LedgerAdmissionOptions): LedgerAdmission {
  const desk: LedgerDesk = {
    clock: options.clock,
    sink: options.sink,
    recorder: "attempt" in options.sink ? options.sink : null,
    accounts: new AccountBook(options.maxAccounts, options.leases),
    leases: options.leases ?? null,
    learned: new LearnedOutput(options.learnedOutput),
    holdMode: options.hold ?? "expected",
    allowsUnpriced: options.unpriced === "allow",
    onAlert: options.onAlert ?? null,
    prices: options.prices ?? new PriceBook(),
    limits: options.limits ?? createLimitDirectory({}),
  };
  return {
    open: (principal: Principal, exchange: AdmittedExchange) => {
      const ticket = new LedgerTicket(desk, principal, exchange);
      const refusal = desk.recorder?.refusal() ?? ticket.enter();
      return refusal instanceof Promise ? refusal.then((late) => resultOf(ticket, late)) : resultOf(ticket, refusal);
    },
    standings: (scope, id) => desk.accounts.find(scope, id)?.standings(desk.clock.nowMs()) ?? [],
    running: (scope, id) => desk.accounts.find(scope, id)?.running ?? 0,
    restore: async (from) => {
      const nowMs = desk.clock.nowMs();
      for await (const { scope, id, set, limit, ...spend } of restoredSpends({ ...from, limits: desk.limits, nowMs }))
        desk.accounts.open(scope, id, set, nowMs)?.restore(limit, spend, nowMs);
    },
    replace: ({ limits, prices }) => {
      if (limits !== undefined) desk.limits = limits;
      if (prices !== undefined) desk.prices = prices;
    },
  };
}

const resultOf = (ticket: LedgerTicket, refusal: AdmissionRefusal | null): AdmissionResult =>
  refusal === null ? { ok: true, ticket } : { ok: false, refusal };

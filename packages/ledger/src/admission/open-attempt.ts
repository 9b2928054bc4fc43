/** What stands for an attempt of which nobody says how it ended. */
import type { AttemptTarget, Settlement } from "@dragoman/core";

import type { LedgerEntry } from "../entries/index.ts";
import type { Amounts } from "../money/index.ts";
import type { Price } from "../prices/index.ts";
import { entryOf, type EntrySubject } from "./entry-of.ts";

/** One attempt, as far as it is known before it is settled. */
export interface OpenAttempt {
  readonly deploymentId: string;
  readonly target: AttemptTarget;
  /** Null = nobody priced the model. */
  readonly price: Price | null;
  readonly startedMs: number;
}

/** The entry of an attempt that begins, should nobody live to settle it. */
export function provisionalEntry(
  subject: EntrySubject,
  attempt: number,
  open: OpenAttempt,
  held: Amounts,
): LedgerEntry {
  const settlement: Settlement = { ...unsettled(open, held, open.startedMs), rule: "recovered" };
  return entryOf(subject, attempt, {
    settlement,
    provider: open.target.provider ?? null,
    usage: settlement.usage,
    source: "estimate",
    priceId: open.price?.id ?? null,
    costNanoUsd: open.price === null ? null : held.nanoUsd,
    overdrawnNanoUsd: 0,
  });
}

/** Nothing is known but that the call was let in: the whole reservation stands in for it. */
export function unsettled({ deploymentId, target, startedMs }: OpenAttempt, held: Amounts, nowMs: number): Settlement {
  return {
    rule: "abandoned",
    deploymentId,
    provider: "",
    upstreamModel: target.upstreamModel,
    upstreamRequestId: null,
    usage: { input: held.inputTokens, output: held.outputTokens, source: "estimated", final: true },
    deliveredBytes: 0,
    startedMs,
    endedMs: nowMs,
  };
}

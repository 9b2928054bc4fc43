/** Writes the entry of a settled attempt. */
import type { AdmittedExchange, Principal, Settlement, Usage } from "@dragoman/core";

import { entryUsageOf, type LedgerEntry } from "../entries/ledger-entry.ts";
import type { UsageSource } from "../estimate/index.ts";
import type { NanoUsd } from "../money/index.ts";

/** Who calls for what. */
export interface EntrySubject {
  readonly exchange: AdmittedExchange;
  readonly principal: Principal;
  readonly endUser: string | null;
  readonly model: string;
}

/** How an attempt is charged. */
export interface EntryCharge {
  readonly settlement: Settlement;
  readonly provider: string | null;
  readonly usage: Usage | null;
  readonly source: UsageSource;
  /** The row it was priced by; null = nobody priced the model. */
  readonly priceId: string | null;
  readonly costNanoUsd: NanoUsd | null;
  readonly overdrawnNanoUsd: NanoUsd;
}

/**
 * The entry of an attempt, numbered from 1; every member is there. Both parts are read member by member: to spread them into one object
 * costs six times the rest of a call's account (bench/ticket.mjs).
 */
export function entryOf(subject: EntrySubject, attempt: number, charge: EntryCharge): LedgerEntry {
  const { exchange, principal } = subject;
  const { settlement, usage } = charge;
  return {
    id: `${exchange.requestId}/${attempt}`,
    requestId: exchange.requestId,
    attempt,
    rule: settlement.rule,
    adjusts: null,
    usageSource: charge.source,
    usage: usage === null ? null : entryUsageOf(usage),
    deliveredBytes: settlement.deliveredBytes,
    priceId: charge.priceId,
    costNanoUsd: charge.costNanoUsd,
    overdrawnNanoUsd: charge.overdrawnNanoUsd,
    // A host's clock may have a fraction, which stores do not keep.
    openedMs: Math.floor(exchange.startedMs),
    startedMs: Math.floor(settlement.startedMs),
    endedMs: Math.floor(settlement.endedMs),
    key: principal.id,
    owner: principal.owner,
    endUser: subject.endUser,
    tags: principal.tags,
    model: subject.model,
    deployment: settlement.deploymentId,
    provider: charge.provider,
    upstreamModel: settlement.upstreamModel,
    upstreamRequestId: settlement.upstreamRequestId,
    generation: exchange.generation ?? null,
    clientDialect: exchange.clientDialect ?? null,
    providerDialect: settlement.providerDialect ?? null,
  };
}

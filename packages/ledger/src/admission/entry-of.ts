/** Writes the entry of a settled attempt. */
import type { AdmittedExchange, Principal, Settlement, Usage } from "@dragoman/core";

import { entryUsageOf, type LedgerEntry } from "../entries/ledger-entry.ts";
import type { UsageSource } from "../estimate/index.ts";
import type { NanoUsd } from "../money/index.ts";

/** What an entry is written from. */
export interface EntryParts {
  readonly attempt: number;
  readonly settlement: Settlement;
  readonly provider: string | null;
  readonly usage: Usage | null;
  readonly source: UsageSource;
  readonly priceId: string | null;
  readonly costNanoUsd: NanoUsd | null;
  readonly overdrawnNanoUsd: NanoUsd;
  readonly exchange: AdmittedExchange;
  readonly principal: Principal;
  readonly endUser: string | null;
  readonly model: string;
}

/** The entry; every member is there. */
export function entryOf(parts: EntryParts): LedgerEntry {
  const { exchange, principal, settlement, usage } = parts;
  return {
    id: `${exchange.requestId}/${parts.attempt}`,
    requestId: exchange.requestId,
    attempt: parts.attempt,
    rule: settlement.rule,
    adjusts: null,
    usageSource: parts.source,
    usage: usage === null ? null : entryUsageOf(usage),
    deliveredBytes: settlement.deliveredBytes,
    priceId: parts.priceId,
    costNanoUsd: parts.costNanoUsd,
    overdrawnNanoUsd: parts.overdrawnNanoUsd,
    openedMs: exchange.startedMs,
    startedMs: settlement.startedMs,
    endedMs: settlement.endedMs,
    key: principal.id,
    owner: principal.owner,
    endUser: parts.endUser,
    tags: principal.tags,
    model: parts.model,
    deployment: settlement.deploymentId,
    provider: parts.provider,
    upstreamModel: settlement.upstreamModel,
    upstreamRequestId: settlement.upstreamRequestId,
    generation: exchange.generation ?? null,
    clientDialect: exchange.clientDialect ?? null,
    providerDialect: settlement.providerDialect ?? null,
  };
}

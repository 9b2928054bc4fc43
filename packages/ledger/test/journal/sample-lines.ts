/** What an admission would record. */
import type { EntrySink } from "@dragoman/ledger";
import type { Journal } from "@dragoman/ledger/journal";

type Entry = Parameters<EntrySink["append"]>[0];
type Hold = Parameters<Journal["recorder"]["hold"]>[0];

export function sampleEntry(requestId: string, rule: "actual" | "recovered"): Entry {
  return {
    id: `${requestId}/1`,
    requestId,
    attempt: 1,
    rule,
    adjusts: null,
    usageSource: rule === "actual" ? "provider" : "estimate",
    usage: null,
    deliveredBytes: 0,
    priceId: null,
    costNanoUsd: 5,
    overdrawnNanoUsd: 0,
    openedMs: 1,
    startedMs: 2,
    endedMs: 3,
    key: "app",
    owner: null,
    endUser: null,
    tags: [],
    model: "chat",
    deployment: "d",
    provider: "p",
    upstreamModel: "m",
    upstreamRequestId: null,
    generation: 1,
    clientDialect: null,
    providerDialect: null,
  };
}

export function sampleHold(requestId: string): Hold {
  const held = { requests: 0, inputTokens: 1, outputTokens: 1, nanoUsd: 5 };
  return { requestId, atMs: 1, key: "app", owner: null, endUser: null, model: "chat", held };
}

/** One line of the ledger: one upstream call, or an answer that needed none. Plain data without references into buffers. */
import type { DialectId, SettlementRule, Usage } from "@dragoman/core";

import type { UsageSource } from "../estimate/index.ts";
import type { NanoUsd } from "../money/index.ts";

/** Token counts of an entry; null = the provider did not report it. Totals include their components. */
export interface EntryUsage {
  readonly input: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly cacheWriteByTtl: Readonly<Record<number, number>> | null;
  readonly inputAudio: number | null;
  readonly inputImage: number | null;
  readonly output: number;
  readonly reasoning: number | null;
  readonly outputAudio: number | null;
  readonly serverTools: Readonly<Record<string, number>> | null;
}

/** The rule an entry was made by. `adjusted` = it changes what another one costs, and stands for no call of its own. */
export type EntryRule = SettlementRule | "adjusted";

/** What happened to one attempt, and what it cost. */
export interface LedgerEntry {
  /** `<request id>/<number of the attempt>`: booking it twice changes nothing. */
  readonly id: string;
  readonly requestId: string;
  /** From 1. */
  readonly attempt: number;
  readonly rule: EntryRule;
  /** Id of the entry that this one adjusts, by the difference of its cost; null = none. */
  readonly adjusts: string | null;
  readonly usageSource: UsageSource;
  readonly usage: EntryUsage | null;
  readonly deliveredBytes: number;
  /** The row it was priced by; null = nobody priced the model. */
  readonly priceId: string | null;
  /** Null = unpriced, which is not free. */
  readonly costNanoUsd: NanoUsd | null;
  /** What it cost beyond what was held for it. */
  readonly overdrawnNanoUsd: NanoUsd;
  /** When the exchange began, and the attempt, and when the attempt ended; milliseconds since 1970. */
  readonly openedMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly key: string;
  readonly owner: string | null;
  readonly endUser: string | null;
  readonly tags: readonly string[];
  /** The public name. */
  readonly model: string;
  readonly deployment: string;
  readonly provider: string | null;
  readonly upstreamModel: string;
  readonly upstreamRequestId: string | null;
  readonly generation: number | null;
  readonly clientDialect: DialectId | null;
  readonly providerDialect: DialectId | null;
}

/** Where entries go. Called once per attempt, in the turn in which it was settled; must not throw for want of a store. */
export interface EntrySink {
  append(entry: LedgerEntry): void;
}

/** Copies the counts of a usage, without its raw bytes. A count that is none is cut to the next that is. */
export function entryUsageOf(usage: Usage): EntryUsage {
  return {
    input: wholeCount(usage.input),
    cacheRead: countOrNull(usage.cacheRead),
    cacheWrite: countOrNull(usage.cacheWrite),
    cacheWriteByTtl: usage.cacheWriteByTtl ?? null,
    inputAudio: countOrNull(usage.inputAudio),
    inputImage: countOrNull(usage.inputImage),
    output: wholeCount(usage.output),
    reasoning: countOrNull(usage.reasoning),
    outputAudio: countOrNull(usage.outputAudio),
    serverTools: usage.serverTools ?? null,
  };
}

const countOrNull = (count: number | undefined): number | null => (count === undefined ? null : wholeCount(count));

/** Decoders of outside dialects may let through what no store can keep. */
function wholeCount(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  return count > 0 ? Math.min(Math.floor(count), Number.MAX_SAFE_INTEGER) : 0;
}

/**
 * The JSON of a journal's lines. Written by hand, since two entries go out per call: `bench/journal.mjs` measures JSON.stringify of the
 * two beside it. ASCII only, so that a character is a byte, and a lone surrogate survives.
 */
import type { EntryUsage, LedgerEntry } from "../../entries/index.ts";
import { escapeToAscii, quoteText, type NameMemo } from "./name-memo.ts";

/** What a line tells. `start` is the first line of a file that stands for itself: everything open before it was written again. */
export type LineKind = "start" | "hold" | "attempt" | "entry" | "close";

/** Version of the format, in every `start` line. */
export const JOURNAL_FORMAT = 1;

export function startJson(incarnation: string, number: number, carried: number): string {
  return `{"k":"start","format":${JOURNAL_FORMAT},"incarnation":${quoteText(incarnation)},"number":${number},"carried":${carried}}`;
}

/** What is held stands in the attempts; this line says that there is a reservation before there is one. */
export function holdJson(requestId: string, atMs: number): string {
  return `{"k":"hold","requestId":${quoteText(requestId)},"atMs":${atMs}}`;
}

export function closeJson(requestId: string, atMs: number): string {
  return `{"k":"close","requestId":${quoteText(requestId)},"atMs":${atMs}}`;
}

/** Holds every member of an entry that is not null, so that a reader may start anywhere. `names` are of this entry. */
export function entryJson(kind: "attempt" | "entry", entry: LedgerEntry, names: string, memo: NameMemo): string {
  return (
    `{"k":"${kind}"${names},"rule":"${entry.rule}","usageSource":"${entry.usageSource}"` +
    text(',"adjusts":', entry.adjusts) +
    (entry.usage === null ? "" : usageJson(entry.usage)) +
    `,"deliveredBytes":${entry.deliveredBytes}` +
    count(',"costNanoUsd":', entry.costNanoUsd) +
    `,"overdrawnNanoUsd":${entry.overdrawnNanoUsd},"startedMs":${entry.startedMs},"endedMs":${entry.endedMs}` +
    name(',"priceId":', entry.priceId, memo) +
    name(',"provider":', entry.provider, memo) +
    text(',"upstreamRequestId":', entry.upstreamRequestId) +
    name(',"providerDialect":', entry.providerDialect, memo) +
    "}"
  );
}

/** The members that an attempt and its entry have in common. */
export function namesJson(entry: LedgerEntry, memo: NameMemo): string {
  return (
    `,"id":${quoteText(entry.id)},"requestId":${quoteText(entry.requestId)},"attempt":${entry.attempt},"openedMs":${entry.openedMs}` +
    `,"key":${memo.quote(entry.key)}` +
    name(',"owner":', entry.owner, memo) +
    text(',"endUser":', entry.endUser) +
    `,"tags":${list(entry.tags, memo)},"model":${memo.quote(entry.model)},"deployment":${memo.quote(entry.deployment)}` +
    `,"upstreamModel":${memo.quote(entry.upstreamModel)}` +
    count(',"generation":', entry.generation) +
    name(',"clientDialect":', entry.clientDialect, memo)
  );
}

/** Whether two entries have the same `namesJson`. Their texts are the same objects, as a rule, and compare at once. */
export function haveSameNames(one: LedgerEntry, other: LedgerEntry): boolean {
  return (
    one.id === other.id &&
    one.requestId === other.requestId &&
    one.attempt === other.attempt &&
    one.openedMs === other.openedMs &&
    one.key === other.key &&
    one.owner === other.owner &&
    one.endUser === other.endUser &&
    one.tags === other.tags &&
    one.model === other.model &&
    one.deployment === other.deployment &&
    one.upstreamModel === other.upstreamModel &&
    one.generation === other.generation &&
    one.clientDialect === other.clientDialect
  );
}

function usageJson(usage: EntryUsage): string {
  return (
    `,"usage":{"input":${usage.input},"output":${usage.output}` +
    count(',"cacheRead":', usage.cacheRead) +
    count(',"cacheWrite":', usage.cacheWrite) +
    counts(',"cacheWriteByTtl":', usage.cacheWriteByTtl) +
    count(',"inputAudio":', usage.inputAudio) +
    count(',"inputImage":', usage.inputImage) +
    count(',"reasoning":', usage.reasoning) +
    count(',"outputAudio":', usage.outputAudio) +
    counts(',"serverTools":', usage.serverTools) +
    "}"
  );
}

/** A member that is left out where it is null: a third of a line. */
function text(member: string, value: string | null): string {
  return value === null ? "" : member + quoteText(value);
}

function name(member: string, value: string | null, memo: NameMemo): string {
  return value === null ? "" : member + memo.quote(value);
}

function count(member: string, value: number | null): string {
  return value === null ? "" : member + value;
}

function counts(member: string, values: Readonly<Record<string, number>> | null): string {
  return values === null ? "" : member + escapeToAscii(JSON.stringify(values));
}

function list(values: readonly string[], memo: NameMemo): string {
  let json = "";
  for (const value of values) json += json === "" ? memo.quote(value) : `,${memo.quote(value)}`;
  return `[${json}]`;
}

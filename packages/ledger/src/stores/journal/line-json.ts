/**
 * The JSON of a journal's lines. Written by hand, since two entries go out per call: 0.9 µs where JSON.stringify takes 1.7 (Node 20.20,
 * shared two-core virtual machine; `bench/journal.mjs`). ASCII only, so that a character is a byte, and a lone surrogate survives.
 */
import type { EntryUsage, LedgerEntry, RecordedHold } from "../../entries/index.ts";

/** What a line tells. `start` is the first line of a file that stands for itself: everything open before it was written again. */
export type LineKind = "start" | "hold" | "attempt" | "entry" | "close";

/** Version of the format, in every `start` line. */
export const JOURNAL_FORMAT = 1;

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const NOT_ASCII = /[\u007f-\uffff]/g;

export function startJson(incarnation: string, number: number, carried: number): string {
  return `{"k":"start","format":${JOURNAL_FORMAT},"incarnation":${text(incarnation)},"number":${number},"carried":${carried}}`;
}

export function holdJson({ requestId, atMs, key, owner, endUser, model, held }: RecordedHold): string {
  return (
    `{"k":"hold","requestId":${text(requestId)},"atMs":${atMs},"key":${text(key)},"owner":${orNull(owner)},"endUser":${orNull(endUser)}` +
    `,"model":${text(model)},"held":{"requests":${held.requests},"inputTokens":${held.inputTokens}` +
    `,"outputTokens":${held.outputTokens},"nanoUsd":${held.nanoUsd}}}`
  );
}

export function closeJson(requestId: string, atMs: number): string {
  return `{"k":"close","requestId":${text(requestId)},"atMs":${atMs}}`;
}

/** Holds every member of an entry, so that a reader may start anywhere. */
export function entryJson(kind: "attempt" | "entry", entry: LedgerEntry): string {
  return (
    `{"k":"${kind}","id":${text(entry.id)},"requestId":${text(entry.requestId)},"attempt":${entry.attempt},"rule":"${entry.rule}"` +
    `,"adjusts":${orNull(entry.adjusts)},"usageSource":"${entry.usageSource}","usage":${usageJson(entry.usage)}` +
    `,"deliveredBytes":${entry.deliveredBytes},"priceId":${orNull(entry.priceId)},"costNanoUsd":${entry.costNanoUsd}` +
    `,"overdrawnNanoUsd":${entry.overdrawnNanoUsd},"openedMs":${entry.openedMs},"startedMs":${entry.startedMs}` +
    `,"endedMs":${entry.endedMs},"key":${text(entry.key)},"owner":${orNull(entry.owner)},"endUser":${orNull(entry.endUser)}` +
    `,"tags":${list(entry.tags)},"model":${text(entry.model)},"deployment":${text(entry.deployment)}` +
    `,"provider":${orNull(entry.provider)},"upstreamModel":${text(entry.upstreamModel)}` +
    `,"upstreamRequestId":${orNull(entry.upstreamRequestId)},"generation":${entry.generation}` +
    `,"clientDialect":${orNull(entry.clientDialect)},"providerDialect":${orNull(entry.providerDialect)}}`
  );
}

function usageJson(usage: EntryUsage | null): string {
  if (usage === null) return "null";
  return (
    `{"input":${usage.input},"cacheRead":${usage.cacheRead},"cacheWrite":${usage.cacheWrite}` +
    `,"cacheWriteByTtl":${counts(usage.cacheWriteByTtl)},"inputAudio":${usage.inputAudio},"inputImage":${usage.inputImage}` +
    `,"output":${usage.output},"reasoning":${usage.reasoning},"outputAudio":${usage.outputAudio}` +
    `,"serverTools":${counts(usage.serverTools)}}`
  );
}

function text(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : escaped(JSON.stringify(value));
}

function orNull(value: string | null): string {
  return value === null ? "null" : text(value);
}

function list(values: readonly string[]): string {
  return values.length === 0 ? "[]" : `[${values.map(text).join(",")}]`;
}

function counts(values: Readonly<Record<string, number>> | null): string {
  return values === null ? "null" : escaped(JSON.stringify(values));
}

function escaped(json: string): string {
  return json.replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

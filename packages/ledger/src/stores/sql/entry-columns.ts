/** The columns of an entry, in the one order in which every statement names them, and the way from an entry to a row and back. */
import type { EntryUsage, LedgerEntry } from "../../entries/index.ts";
import { indexedText, isLong, originalText, storedText } from "./stored-text.ts";

/** What a column holds. Texts are as `storedText` writes them. */
export type ColumnKind = "text" | "integer" | "json";

/** A value on its way to a database. */
export type SqlValue = string | number | null;

/** A row as a driver gives it back: integers as numbers, JSON as text. */
export type SqlRow = Readonly<Record<string, unknown>>;

interface EntryColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  read(entry: LedgerEntry): SqlValue;
}

const text = (name: string, read: (entry: LedgerEntry) => string | null): EntryColumn => ({
  name,
  kind: "text",
  read: (entry) => {
    const value = read(entry);
    return value === null ? null : storedText(value);
  },
});
const integer = (name: string, read: (entry: LedgerEntry) => number | null): EntryColumn => ({
  name,
  kind: "integer",
  read,
});
const count = (name: string, member: Exclude<keyof EntryUsage, "cacheWriteByTtl" | "serverTools">): EntryColumn =>
  integer(name, ({ usage }) => (usage === null ? null : usage[member]));
/** JSON escapes what databases refuse by itself. */
const json = (name: string, read: (entry: LedgerEntry) => object | null): EntryColumn => ({
  name,
  kind: "json",
  read: (entry) => {
    const value = read(entry);
    return value === null ? null : JSON.stringify(value);
  },
});

/** Without the row's number, which the database gives. */
export const ENTRY_COLUMNS: readonly EntryColumn[] = [
  { name: "id", kind: "text", read: ({ id }) => indexedText(id) },
  text("long_id", ({ id }) => (isLong(id) ? id : null)),
  text("request_id", (entry) => entry.requestId),
  integer("attempt", (entry) => entry.attempt),
  text("rule", (entry) => entry.rule),
  text("adjusts", (entry) => entry.adjusts),
  text("usage_source", (entry) => entry.usageSource),
  count("input_tokens", "input"),
  count("cache_read_tokens", "cacheRead"),
  count("cache_write_tokens", "cacheWrite"),
  json("cache_write_tokens_by_ttl", ({ usage }) => usage?.cacheWriteByTtl ?? null),
  count("input_audio_tokens", "inputAudio"),
  count("input_image_tokens", "inputImage"),
  count("output_tokens", "output"),
  count("reasoning_tokens", "reasoning"),
  count("output_audio_tokens", "outputAudio"),
  json("server_tools", ({ usage }) => usage?.serverTools ?? null),
  integer("delivered_bytes", (entry) => entry.deliveredBytes),
  text("price_id", (entry) => entry.priceId),
  integer("cost_nano_usd", (entry) => entry.costNanoUsd),
  integer("overdrawn_nano_usd", (entry) => entry.overdrawnNanoUsd),
  integer("opened_ms", (entry) => entry.openedMs),
  integer("started_ms", (entry) => entry.startedMs),
  integer("ended_ms", (entry) => entry.endedMs),
  text("key_id", (entry) => entry.key),
  text("owner", (entry) => entry.owner),
  text("end_user", (entry) => entry.endUser),
  json("tags", (entry) => (entry.tags.length === 0 ? null : entry.tags)),
  text("model", (entry) => entry.model),
  text("deployment", (entry) => entry.deployment),
  text("provider", (entry) => entry.provider),
  text("upstream_model", (entry) => entry.upstreamModel),
  text("upstream_request_id", (entry) => entry.upstreamRequestId),
  integer("generation", (entry) => entry.generation),
  text("client_dialect", (entry) => entry.clientDialect),
  text("provider_dialect", (entry) => entry.providerDialect),
];

/** All columns, as statements name them. */
export const ENTRY_COLUMN_NAMES: string = ENTRY_COLUMNS.map(({ name }) => name).join(", ");

/** The entry of a row that has all columns. Only rows that `ENTRY_COLUMNS` wrote come back, so their types are known. */
export function entryOfRow(row: SqlRow): LedgerEntry {
  const textOf = (name: string): string => originalText(row[name] as string);
  const textOrNull = (name: string): string | null => (row[name] === null ? null : textOf(name));
  const numberOf = (name: string): number => row[name] as number;
  return {
    id: textOrNull("long_id") ?? textOf("id"),
    requestId: textOf("request_id"),
    attempt: numberOf("attempt"),
    rule: row["rule"] as LedgerEntry["rule"],
    adjusts: textOrNull("adjusts"),
    usageSource: row["usage_source"] as LedgerEntry["usageSource"],
    usage: row["input_tokens"] === null ? null : usageOfRow(row),
    deliveredBytes: numberOf("delivered_bytes"),
    priceId: textOrNull("price_id"),
    costNanoUsd: row["cost_nano_usd"] as number | null,
    overdrawnNanoUsd: numberOf("overdrawn_nano_usd"),
    openedMs: numberOf("opened_ms"),
    startedMs: numberOf("started_ms"),
    endedMs: numberOf("ended_ms"),
    key: textOf("key_id"),
    owner: textOrNull("owner"),
    endUser: textOrNull("end_user"),
    tags: jsonOf(row["tags"]) ?? [],
    model: textOf("model"),
    deployment: textOf("deployment"),
    provider: textOrNull("provider"),
    upstreamModel: textOf("upstream_model"),
    upstreamRequestId: textOrNull("upstream_request_id"),
    generation: row["generation"] as number | null,
    clientDialect: textOrNull("client_dialect"),
    providerDialect: textOrNull("provider_dialect"),
  };
}

function usageOfRow(row: SqlRow): EntryUsage {
  const countOf = (name: string): number | null => row[name] as number | null;
  return {
    input: row["input_tokens"] as number,
    cacheRead: countOf("cache_read_tokens"),
    cacheWrite: countOf("cache_write_tokens"),
    cacheWriteByTtl: jsonOf(row["cache_write_tokens_by_ttl"]),
    inputAudio: countOf("input_audio_tokens"),
    inputImage: countOf("input_image_tokens"),
    output: row["output_tokens"] as number,
    reasoning: countOf("reasoning_tokens"),
    outputAudio: countOf("output_audio_tokens"),
    serverTools: jsonOf(row["server_tools"]),
  };
}

function jsonOf<Value>(stored: unknown): Value | null {
  return stored === null ? null : (JSON.parse(stored as string) as Value);
}

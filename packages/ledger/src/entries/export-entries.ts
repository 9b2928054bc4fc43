/** Entries as text, line by line: NDJSON with every member, CSV with one column per member. */
import { formatUsd } from "../money/index.ts";
import type { EntryUsage, LedgerEntry } from "./ledger-entry.ts";

/** Entries as a store gives them, one by one, or as they are at hand. */
type Entries = Iterable<LedgerEntry> | AsyncIterable<LedgerEntry>;

/** One JSON object per line (each with its line feed), amounts in nano-USD. Holds one entry at a time. */
export async function* exportNdjson(entries: Entries): AsyncGenerator<string, void> {
  for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}

type Cell = string | number | null;

const iso = (ms: number): string => new Date(ms).toISOString();
const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
const count =
  (name: Exclude<keyof EntryUsage, "cacheWriteByTtl" | "serverTools">) =>
  (entry: LedgerEntry): Cell =>
    entry.usage?.[name] ?? null;

const COLUMNS: readonly (readonly [string, (entry: LedgerEntry) => Cell])[] = [
  ["id", (entry) => entry.id],
  ["request_id", (entry) => entry.requestId],
  ["attempt", (entry) => entry.attempt],
  ["opened", (entry) => iso(entry.openedMs)],
  ["started", (entry) => iso(entry.startedMs)],
  ["ended", (entry) => iso(entry.endedMs)],
  ["key", (entry) => entry.key],
  ["owner", (entry) => entry.owner],
  ["end_user", (entry) => entry.endUser],
  ["tags", (entry) => entry.tags.join(" ")],
  ["model", (entry) => entry.model],
  ["deployment", (entry) => entry.deployment],
  ["provider", (entry) => entry.provider],
  ["upstream_model", (entry) => entry.upstreamModel],
  ["upstream_request_id", (entry) => entry.upstreamRequestId],
  ["rule", (entry) => entry.rule],
  ["adjusts", (entry) => entry.adjusts],
  ["usage_source", (entry) => entry.usageSource],
  ["input_tokens", count("input")],
  ["cache_read_tokens", count("cacheRead")],
  ["cache_write_tokens", count("cacheWrite")],
  ["cache_write_tokens_by_ttl", (entry) => json(entry.usage?.cacheWriteByTtl ?? null)],
  ["input_audio_tokens", count("inputAudio")],
  ["input_image_tokens", count("inputImage")],
  ["output_tokens", count("output")],
  ["reasoning_tokens", count("reasoning")],
  ["output_audio_tokens", count("outputAudio")],
  ["server_tools", (entry) => json(entry.usage?.serverTools ?? null)],
  ["delivered_bytes", (entry) => entry.deliveredBytes],
  ["price", (entry) => entry.priceId],
  ["cost_usd", (entry) => (entry.costNanoUsd === null ? null : formatUsd(entry.costNanoUsd))],
  ["overdrawn_usd", (entry) => formatUsd(entry.overdrawnNanoUsd)],
  ["generation", (entry) => entry.generation],
  ["client_dialect", (entry) => entry.clientDialect],
  ["provider_dialect", (entry) => entry.providerDialect],
];

/** A header line, then one line per entry, as RFC 4180 has it. Amounts are decimal USD; what is not known is empty. */
export async function* exportCsv(entries: Entries): AsyncGenerator<string, void> {
  yield `${COLUMNS.map(([name]) => name).join(",")}\r\n`;
  for await (const entry of entries) yield `${COLUMNS.map(([, read]) => cellText(read(entry))).join(",")}\r\n`;
}

/**
 * Names come from clients: a text that a spreadsheet would run as a formula gets an apostrophe before it (OWASP, CSV Injection).
 * A negative amount is a number, and not such a text.
 */
function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

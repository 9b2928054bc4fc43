/** What lines say. A checksum vouches for their bytes, so that only a later format can surprise here. */
import type { EntryUsage, LedgerEntry } from "../../entries/index.ts";
import type { JournalLine } from "./segment-reader.ts";

/** A line, parsed; null where it is no JSON of its kind. */
export type JournalRecord =
  | { readonly k: "start"; readonly format: number }
  | { readonly k: "hold" | "close"; readonly requestId: string }
  | { readonly k: "attempt" | "entry"; readonly entry: LedgerEntry };

export function parseLine({ kind, json }: JournalLine): JournalRecord | null {
  const value = parseObject(json);
  if (value === null) return null;
  switch (kind) {
    case "start":
      return typeof value["format"] === "number" ? { k: kind, format: value["format"] } : null;
    case "hold":
    case "close":
      return typeof value["requestId"] === "string" ? { k: kind, requestId: value["requestId"] } : null;
    case "attempt":
    case "entry": {
      if (typeof value["id"] !== "string") return null;
      return { k: kind, entry: entryOf(value) };
    }
  }
}

/** What is null has no member in a line. */
const NULL_MEMBERS = {
  adjusts: null,
  usage: null,
  priceId: null,
  costNanoUsd: null,
  owner: null,
  endUser: null,
  provider: null,
  upstreamRequestId: null,
  generation: null,
  clientDialect: null,
  providerDialect: null,
} as const satisfies Partial<LedgerEntry>;
const NULL_COUNTS = {
  cacheRead: null,
  cacheWrite: null,
  cacheWriteByTtl: null,
  inputAudio: null,
  inputImage: null,
  reasoning: null,
  outputAudio: null,
  serverTools: null,
} as const satisfies Partial<EntryUsage>;

function entryOf(value: Record<string, unknown>): LedgerEntry {
  const { k: _, usage, ...members } = value;
  const counts = typeof usage === "object" && usage !== null ? { ...NULL_COUNTS, ...usage } : null;
  return { ...NULL_MEMBERS, ...members, usage: counts } as unknown as LedgerEntry;
}

function parseObject(json: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // The caller reports it with its place.
    return null;
  }
}

/**
 * Token counts of this dialect, both ways. On its wire `input_tokens` excludes cache reads and writes; the neutral total includes
 * them. Stream events carry cumulative counts: a later one overwrites, a missing or null one never erases.
 */
import { ABSENT, type Document, type NodeIndex, type Usage } from "@dragoman/core";

const readCount = (document: Document, object: NodeIndex, name: string, previous: number | null): number | null => {
  const node = document.member(object, name);
  if (!document.isNumber(node)) return previous;
  const count = document.number(node);
  return Number.isFinite(count) && count >= 0 ? count : previous;
};

/** Gathers the counts of one answer. */
export class UsageTally {
  #input: number | null = null;
  #cacheWrite: number | null = null;
  #cacheRead: number | null = null;
  #write5m: number | null = null;
  #write1h: number | null = null;
  #output: number | null = null;
  #thinking: number | null = null;
  #webSearch: number | null = null;
  #webFetch: number | null = null;
  #serviceTier: string | null = null;

  /** The provider's own word for the tier that served the call, or null. */
  get serviceTier(): string | null {
    return this.#serviceTier;
  }

  /** Takes over every count that a `usage` object has. True = the output was counted in it. */
  read(document: Document, usage: NodeIndex): boolean {
    if (!document.isObject(usage)) return false;
    this.#input = readCount(document, usage, "input_tokens", this.#input);
    this.#cacheWrite = readCount(document, usage, "cache_creation_input_tokens", this.#cacheWrite);
    this.#cacheRead = readCount(document, usage, "cache_read_input_tokens", this.#cacheRead);
    this.#output = readCount(document, usage, "output_tokens", this.#output);
    const creation = document.member(usage, "cache_creation");
    if (creation !== ABSENT) {
      this.#write5m = readCount(document, creation, "ephemeral_5m_input_tokens", this.#write5m);
      this.#write1h = readCount(document, creation, "ephemeral_1h_input_tokens", this.#write1h);
    }
    const details = document.member(usage, "output_tokens_details");
    if (details !== ABSENT) this.#thinking = readCount(document, details, "thinking_tokens", this.#thinking);
    const tools = document.member(usage, "server_tool_use");
    if (tools !== ABSENT) {
      this.#webSearch = readCount(document, tools, "web_search_requests", this.#webSearch);
      this.#webFetch = readCount(document, tools, "web_fetch_requests", this.#webFetch);
    }
    const tier = document.member(usage, "service_tier");
    if (document.isString(tier)) this.#serviceTier = document.string(tier);
    return document.isNumber(document.member(usage, "output_tokens"));
  }

  /** The neutral counts, or null when nothing was reported. */
  toUsage(isFinal: boolean): Usage | null {
    if (this.#input === null && this.#output === null) return null;
    const output = this.#output ?? 0;
    const cacheWrite = this.#cacheWrite ?? this.#splitWrites();
    const usage: { -readonly [Member in keyof Usage]: Usage[Member] } = {
      input: (this.#input ?? 0) + (cacheWrite ?? 0) + (this.#cacheRead ?? 0),
      output,
      source: "upstream",
      final: isFinal,
    };
    if (this.#cacheRead !== null) usage.cacheRead = this.#cacheRead;
    if (cacheWrite !== null) usage.cacheWrite = cacheWrite;
    const byTtl = this.#writesByTtl();
    if (byTtl !== null) usage.cacheWriteByTtl = byTtl;
    if (this.#thinking !== null) usage.reasoning = Math.min(this.#thinking, output);
    const serverTools = this.#serverTools();
    if (serverTools !== null) usage.serverTools = serverTools;
    return usage;
  }

  #splitWrites(): number | null {
    return this.#write5m === null && this.#write1h === null ? null : (this.#write5m ?? 0) + (this.#write1h ?? 0);
  }

  #writesByTtl(): Record<number, number> | null {
    if (this.#write5m === null && this.#write1h === null) return null;
    const byTtl: Record<number, number> = {};
    if (this.#write5m !== null) byTtl[300] = this.#write5m;
    if (this.#write1h !== null) byTtl[3600] = this.#write1h;
    return byTtl;
  }

  #serverTools(): Record<string, number> | null {
    if (this.#webSearch === null && this.#webFetch === null) return null;
    const counts: Record<string, number> = {};
    if (this.#webSearch !== null) counts["web_search"] = this.#webSearch;
    if (this.#webFetch !== null) counts["web_fetch"] = this.#webFetch;
    return counts;
  }
}

/** Members that the vendor's strictly typed SDK declares as present but nullable (`@anthropic-ai/sdk` 1.14.0). */
const NULLABLE_MEMBERS: readonly string[] = [
  "cache_creation",
  "output_tokens_details",
  "server_tool_use",
  "service_tier",
  "inference_geo",
  "speed",
];

/**
 * Writes neutral counts as this dialect's `usage` object, in JSON. A tier is written where this dialect has a word for it; with
 * `isFull` what is unknown is written as null.
 */
export function encodeUsage(usage: Usage | null, serviceTier: string | null, isFull = false): string {
  const cacheRead = usage?.cacheRead ?? 0;
  const cacheWrite = usage?.cacheWrite ?? 0;
  const members = new Map<string, unknown>();
  members.set("input_tokens", Math.max(0, (usage?.input ?? 0) - cacheRead - cacheWrite));
  members.set("cache_creation_input_tokens", cacheWrite);
  members.set("cache_read_input_tokens", cacheRead);
  const byTtl = usage?.cacheWriteByTtl;
  if (byTtl !== undefined) {
    const split = { ephemeral_5m_input_tokens: byTtl[300] ?? 0, ephemeral_1h_input_tokens: byTtl[3600] ?? 0 };
    members.set("cache_creation", split);
  }
  members.set("output_tokens", usage?.output ?? 0);
  if (usage?.reasoning !== undefined) members.set("output_tokens_details", { thinking_tokens: usage.reasoning });
  const tools = usage?.serverTools;
  if (tools !== undefined) {
    const counts = { web_search_requests: tools["web_search"] ?? 0, web_fetch_requests: tools["web_fetch"] ?? 0 };
    members.set("server_tool_use", counts);
  }
  const tier = serviceTier === null ? null : tierWord(serviceTier);
  if (tier !== null) members.set("service_tier", tier);
  if (isFull) for (const name of NULLABLE_MEMBERS) if (!members.has(name)) members.set(name, null);
  return JSON.stringify(Object.fromEntries(members));
}

/** Neutral tiers that this dialect has a word for. */
function tierWord(tier: string): "standard" | "priority" | null {
  if (tier === "default" || tier === "standard") return "standard";
  return tier === "priority" ? tier : null;
}

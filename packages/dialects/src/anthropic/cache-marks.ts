/** Cache marks of requests: rounded to the lives that the model knows, and at most four of them, the last ones. */
import type { CacheBreakpoint, Extension, Part, SegmentWriter } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";

/** Marks that one request may hold (prompt caching documentation). */
const MAX_MARKS = 4;

const WORDS: Readonly<Record<number, string>> = { 300: "5m", 3600: "1h" };

/** How many marks a list of parts holds, those inside tool results included. */
export function countMarks(parts: readonly Part[]): number {
  let count = 0;
  for (const part of parts) {
    if (part.cacheBreakpoint !== undefined) count += 1;
    if (part.type === "tool-result") count += countMarks(part.content);
  }
  return count;
}

/** Writes marks in the order of the body; needs their number beforehand. */
export class CacheMarks {
  readonly #encoding: Encoding;
  #surplus: number;

  constructor(encoding: Encoding, total: number) {
    this.#encoding = encoding;
    this.#surplus = Math.max(0, total - MAX_MARKS);
  }

  /** Writes `,"cache_control":…` or reports why not. */
  write(
    writer: SegmentWriter,
    { cacheBreakpoint: mark, extensions, at }: Pick<Part, "cacheBreakpoint" | "extensions" | "at">,
  ): void {
    if (mark === undefined) return;
    const { issues, target } = this.#encoding;
    if (!target.capabilities.explicitCache) {
      issues.drop("cache_hint", at, "The deployment takes no cache marks.");
      return;
    }
    if (this.#surplus > 0) {
      this.#surplus -= 1;
      issues.drop("cache_hint", at, `A request holds at most ${MAX_MARKS} cache marks; the last ones stay.`);
      return;
    }
    this.writeMark(writer, mark, { at, extensions });
  }

  /** Writes a mark that is taken, with what only this dialect has inside it. */
  writeMark(
    writer: SegmentWriter,
    mark: CacheBreakpoint,
    { at, extensions }: { readonly at: string; readonly extensions: readonly Extension[] | undefined },
  ): void {
    writer.glue(`,"cache_control":${this.#encode(mark, at)}`);
    this.#encoding.writeInner(writer, extensions, "cache_control");
    writer.glue("}");
  }

  /** A mark as JSON without its last brace, its life rounded up to one that the model knows. */
  #encode(mark: CacheBreakpoint, at: string): string {
    const { issues, target } = this.#encoding;
    const wanted = mark.ttlSeconds;
    if (wanted === undefined) return '{"type":"ephemeral"';
    const known = target.capabilities.cacheTtls.filter((ttl) => WORDS[ttl] !== undefined).toSorted((a, b) => a - b);
    const ttl = known.find((candidate) => candidate >= wanted) ?? known.at(-1);
    if (ttl === undefined) return '{"type":"ephemeral"';
    if (ttl < wanted)
      issues.drop("cache_ttl_reduced", at, "The cache life is longer than the longest of the deployment.");
    else if (ttl > wanted) issues.adapt("prompt_cache_adapted", at, "The cache life was rounded up.");
    return `{"type":"ephemeral","ttl":"${WORDS[ttl] as string}"`;
  }
}

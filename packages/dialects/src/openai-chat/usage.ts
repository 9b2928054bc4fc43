// Token counts of this dialect both ways. Here prompt and completion totals include their components (cached, written, reasoning), as
// the neutral usage does, so only names change; vendors differ in where the counts stand.
import { ABSENT } from "@dragoman/core";
import type { Document, NodeIndex, SegmentWriter, Usage } from "@dragoman/core";

import type { ChatProfile } from "./profiles.ts";

/** Reads usage objects of one profile; paths are split once. */
export class UsageReader {
  readonly #usagePaths: readonly (readonly string[])[];
  readonly #cachedPaths: readonly (readonly string[])[];
  readonly #count: (name: string) => void;

  constructor(profile: ChatProfile, count: (name: string) => void) {
    this.#usagePaths = profile.usagePaths.map((path) => path.split("."));
    this.#cachedPaths = profile.cachedPaths.map((path) => path.split("."));
    this.#count = count;
  }

  /** The usage object of an answer or chunk, or ABSENT. Null, and anything that is no object, is none. */
  find(document: Document, root: NodeIndex): NodeIndex {
    for (const path of this.#usagePaths) {
      const node = walk(document, root, path);
      if (document.isObject(node)) return node;
    }
    return ABSENT;
  }

  /**
   * Reads a usage object; null when it counts nothing, as the empty objects on early chunks of some servers. Components above their
   * total are clamped and counted as `usage_clamped`.
   */
  read(document: Document, node: NodeIndex, final: boolean): Usage | null {
    if (!document.isObject(node)) return null;
    const output = countOf(document, document.member(node, "completion_tokens"));
    const total = countOf(document, document.member(node, "total_tokens"));
    const reported = countOf(document, document.member(node, "prompt_tokens"));
    const input = reported ?? (total === undefined ? undefined : Math.max(0, total - (output ?? 0)));
    if ((input ?? 0) === 0 && (output ?? 0) === 0) return null;
    const prompt = document.member(node, "prompt_tokens_details");
    const completion = document.member(node, "completion_tokens_details");
    return this.#assemble(input ?? 0, output ?? 0, final, {
      cacheRead: this.#cached(document, node),
      cacheWrite: countOf(document, document.member(prompt, "cache_write_tokens")),
      inputAudio: countOf(document, document.member(prompt, "audio_tokens")),
      inputImage: countOf(document, document.member(prompt, "image_tokens")),
      reasoning: countOf(document, document.member(completion, "reasoning_tokens")),
      outputAudio: countOf(document, document.member(completion, "audio_tokens")),
      acceptedPrediction: countOf(document, document.member(completion, "accepted_prediction_tokens")),
      rejectedPrediction: countOf(document, document.member(completion, "rejected_prediction_tokens")),
    });
  }

  #cached(document: Document, node: NodeIndex): number | undefined {
    for (const path of this.#cachedPaths) {
      const count = countOf(document, walk(document, node, path));
      if (count !== undefined) return count;
    }
    return undefined;
  }

  #assemble(input: number, output: number, final: boolean, parts: UsageParts): Usage {
    const cacheRead = this.#clamp(parts.cacheRead, input);
    const cacheWrite = this.#clamp(parts.cacheWrite, input - (cacheRead ?? 0));
    const reasoning = this.#clamp(parts.reasoning, output);
    return {
      input,
      ...(cacheRead === undefined ? null : { cacheRead }),
      ...(cacheWrite === undefined ? null : { cacheWrite }),
      ...(parts.inputAudio === undefined ? null : { inputAudio: parts.inputAudio }),
      ...(parts.inputImage === undefined ? null : { inputImage: parts.inputImage }),
      output,
      ...(reasoning === undefined ? null : { reasoning }),
      ...(parts.outputAudio === undefined ? null : { outputAudio: parts.outputAudio }),
      ...(parts.acceptedPrediction === undefined ? null : { acceptedPrediction: parts.acceptedPrediction }),
      ...(parts.rejectedPrediction === undefined ? null : { rejectedPrediction: parts.rejectedPrediction }),
      source: "upstream",
      final,
    };
  }

  #clamp(part: number | undefined, total: number): number | undefined {
    if (part === undefined || part <= total) return part;
    this.#count("usage_clamped");
    return total;
  }
}

interface UsageParts {
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly inputAudio: number | undefined;
  readonly inputImage: number | undefined;
  readonly reasoning: number | undefined;
  readonly outputAudio: number | undefined;
  readonly acceptedPrediction: number | undefined;
  readonly rejectedPrediction: number | undefined;
}

function walk(document: Document, from: NodeIndex, path: readonly string[]): NodeIndex {
  let node = from;
  for (const name of path) node = document.member(node, name);
  return node;
}

/** A count is a whole number from 0 that a double carries; anything else was not reported. */
function countOf(document: Document, node: NodeIndex): number | undefined {
  if (!document.isNumber(node)) return undefined;
  const value = document.number(node);
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Writes a usage object: the totals always, details where the upstream reported them. */
export function writeUsage(writer: SegmentWriter, usage: Usage): void {
  const { input, output } = usage;
  writer.glue(`{"prompt_tokens":${input},"completion_tokens":${output},"total_tokens":${input + output}`);
  writeDetails(writer, "prompt_tokens_details", [
    ["cached_tokens", usage.cacheRead],
    ["cache_write_tokens", usage.cacheWrite],
    ["audio_tokens", usage.inputAudio],
    ["image_tokens", usage.inputImage],
  ]);
  writeDetails(writer, "completion_tokens_details", [
    ["reasoning_tokens", usage.reasoning],
    ["audio_tokens", usage.outputAudio],
    ["accepted_prediction_tokens", usage.acceptedPrediction],
    ["rejected_prediction_tokens", usage.rejectedPrediction],
  ]);
  writer.glue("}");
}

function writeDetails(
  writer: SegmentWriter,
  name: string,
  counts: readonly (readonly [string, number | undefined])[],
): void {
  const known = counts.filter(([, count]) => count !== undefined);
  if (known.length === 0) return;
  writer.glue(`,"${name}":{${known.map(([member, count]) => `"${member}":${count}`).join(",")}}`);
}

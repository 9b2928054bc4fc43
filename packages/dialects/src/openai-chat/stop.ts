// Finish words of this dialect and what they mean, both ways. What a candidate holds decides with the word: servers say `stop` where
// they mean `tool_calls`, and the reverse.
import type { Stop } from "@dragoman/core";

import { upstreamError } from "../shared/neutral-error.ts";
import type { FinishMeaning } from "./profiles.ts";
import type { ChatProfile } from "./profiles.ts";

/** What a candidate holds when it ends. */
export interface CandidateContents {
  readonly hasCalls: boolean;
  readonly hasText: boolean;
  readonly hasRefusal: boolean;
}

const STANDARD: Readonly<Record<string, FinishMeaning>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

/**
 * Why a candidate ended. First match wins: failures, limits and filters, then calls, then a refusal without text, then the word. A
 * null word is read by the contents alone; whether it may be null is the caller's question.
 */
export function decodeStop(word: string | null, contents: CandidateContents, profile: ChatProfile): Stop {
  const raw = word ?? "";
  const mapped = word === null ? "stop" : meaningOf(word, profile);
  if (mapped === "error" || mapped === "overloaded") {
    const errorClass = mapped === "error" ? "upstream-5xx" : "overloaded";
    return { reason: "error", raw, error: upstreamError(errorClass, `The provider ended the answer with "${raw}".`) };
  }
  if (mapped === "length") return { reason: "max-tokens", raw };
  if (mapped === "content_filter") return { reason: "content-filter", raw };
  if (contents.hasCalls) return { reason: "tool-calls", raw };
  if (contents.hasRefusal && !contents.hasText) return { reason: "refusal", raw };
  return { reason: mapped === undefined ? "other" : "end", raw };
}

function meaningOf(word: string, profile: ChatProfile): FinishMeaning | undefined {
  const own = Object.hasOwn(profile.finishReasonMap, word) ? profile.finishReasonMap[word] : undefined;
  return own ?? (Object.hasOwn(STANDARD, word) ? STANDARD[word] : undefined);
}

/** A finish word for a client of this dialect. `error` and malformed calls are no words: the caller fails the answer instead. */
export function encodeStop(stop: Stop, usesDeprecatedFunctions: boolean): string {
  switch (stop.reason) {
    case "max-tokens":
    case "context-window":
      return "length";
    case "tool-calls":
      return usesDeprecatedFunctions ? "function_call" : "tool_calls";
    case "content-filter":
      return "content_filter";
    case "refusal":
      return isProviderRefusal(stop) ? "content_filter" : "stop";
    case "end":
    case "stop-sequence":
    case "pause":
    case "malformed-tool-call":
    case "error":
    case "other":
      return "stop";
  }
}

/** A refusal that the provider's own stop word declares, unlike a refusal that is a part of the answer. */
export function isProviderRefusal(stop: Stop): boolean {
  return stop.reason === "refusal" && stop.raw === "refusal";
}

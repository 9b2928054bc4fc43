/** Stop reasons of this dialect, both ways. */
import { isSlice, textToString, type Document, type NodeIndex, type Stop, type StopReason } from "@dragoman/core";

import type { Mutable } from "./body-reader.ts";

/** Words that hold whatever the answer's parts are. */
const LIMITS: Readonly<Record<string, StopReason>> = {
  max_tokens: "max-tokens",
  model_context_window_exceeded: "context-window",
  pause_turn: "pause",
  stop_sequence: "stop-sequence",
  refusal: "refusal",
};

const KNOWN_ENDS: ReadonlySet<string> = new Set(["end_turn", "tool_use"]);

/** The reason that a word and the parts beside it stand for. */
export function stopReasonOf(word: string, hasCalls: boolean): StopReason {
  const limit = Object.hasOwn(LIMITS, word) ? LIMITS[word] : undefined;
  if (limit !== undefined) return limit;
  if (hasCalls) return "tool-calls";
  return KNOWN_ENDS.has(word) ? "end" : "other";
}

/** Reads `stop_reason` and what goes with it from a message or from the delta that ends one; null when there is no reason. */
export function readStop(document: Document, holder: NodeIndex, hasCalls: boolean): Stop | null {
  const wordNode = document.member(holder, "stop_reason");
  if (!document.isString(wordNode)) return null;
  const raw = document.string(wordNode);
  const stop: Mutable<Stop> = { reason: stopReasonOf(raw, hasCalls), raw };
  const sequence = document.member(holder, "stop_sequence");
  if (document.isString(sequence)) stop.sequence = document.string(sequence);
  const details = document.member(holder, "stop_details");
  if (!document.isObject(details)) return stop;
  const detail: { category?: string; explanation?: string } = {};
  const category = document.member(details, "category");
  const explanation = document.member(details, "explanation");
  if (document.isString(category)) detail.category = document.string(category);
  if (document.isString(explanation)) detail.explanation = document.string(explanation);
  stop.detail = detail;
  return stop;
}

const WORDS: Readonly<Record<Exclude<StopReason, "error" | "malformed-tool-call">, string>> = {
  end: "end_turn",
  "stop-sequence": "stop_sequence",
  "max-tokens": "max_tokens",
  "context-window": "model_context_window_exceeded",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
  refusal: "refusal",
  pause: "pause_turn",
  other: "end_turn",
};

/**
 * Writes `"stop_reason":…,"stop_sequence":…` and, where a provider of this dialect gave them, `stop_details`; null for a stop that
 * is an error and has no word.
 */
export function encodeStop(stop: Stop, isFull: boolean): string | null {
  if (stop.reason === "error" || stop.reason === "malformed-tool-call") return null;
  const { sequence, detail } = stop;
  const text =
    stop.reason !== "stop-sequence" || sequence === undefined
      ? "null"
      : JSON.stringify(isSlice(sequence) ? textToString(sequence) : sequence);
  let members = `"stop_reason":"${WORDS[stop.reason]}","stop_sequence":${text}`;
  if (stop.reason === "refusal" && detail !== undefined) {
    const explanation = detail.explanation === undefined ? null : textToString(detail.explanation);
    members += `,"stop_details":${JSON.stringify({ type: "refusal", category: detail.category ?? null, explanation })}`;
  } else if (isFull) members += ',"stop_details":null';
  return members;
}

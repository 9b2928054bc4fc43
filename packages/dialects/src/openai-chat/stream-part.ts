// Parts and candidates as the stream encoder tracks them, and what it reads out of event references.
import { decodeText, escapeBytes, isSlice, rawToValue } from "@dragoman/core";
import type { PartHead, Raw, Signature, StreamEvent, Text } from "@dragoman/core";

import type { CarriedReasoning } from "./reasoning-carrier.ts";
import { isProviderRefusal } from "./stop.ts";

/** A part of the stream as this encoder tracks it. */
export interface EncodedPart {
  readonly head: PartHead;
  /** Index of a call among the candidate's calls. */
  readonly callIndex: number;
  /** The call's start fragment still waits for its first arguments. */
  isHeld: boolean;
  /** A wrapped free-text tool: its arguments are gathered. */
  readonly isWrapped: boolean;
  gathered: string;
  signature: Signature | null;
  /** Last segment of a reasoning part that was written. */
  segment: number;
}

/** A candidate of the stream as this encoder tracks it. */
export interface CandidateState {
  readonly parts: Map<number, EncodedPart>;
  readonly carried: CarriedReasoning[];
  callCount: number;
  hasReasoning: boolean;
  isStopped: boolean;
}

/** Bytes of a reference, characters of a string. */
export const lengthOf = (text: Text): number => (typeof text === "string" ? text.length : text.end - text.start);

/** The JSON text of an arguments delta as a string. */
export function jsonText(text: Text, encoded: boolean): string {
  if (!isSlice(text)) return text;
  if (encoded) return decodeText(text);
  return decodeText(escapeBytes(text.bytes, text.start, text.end));
}

/** A value as JSON text. */
export function rawJson(raw: Raw): string {
  if (!isSlice(raw)) return JSON.stringify(rawToValue(raw)) ?? "null";
  const { bytes, start, end } = raw;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}

/** What a provider says about its own refusal is the refusal's text. */
export function explanationOf(event: Extract<StreamEvent, { type: "stop" }>): Text | null {
  return isProviderRefusal(event.stop) ? (event.stop.detail?.explanation ?? null) : null;
}

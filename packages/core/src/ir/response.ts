/** Answers, neutral between dialects: whole ones and the events of a stream. */
import type { DialectId, Extension, Media, Part, Signature } from "./part.ts";
import type { Raw, Text } from "./text.ts";
import type { NeutralError } from "./error.ts";
import type { Usage } from "./usage.ts";

/** Why an answer ended, neutral between dialects; `other` is a word that nobody has mapped. */
export type StopReason =
  | "end"
  | "stop-sequence"
  | "max-tokens"
  | "context-window"
  | "tool-calls"
  | "content-filter"
  | "refusal"
  | "pause"
  | "malformed-tool-call"
  | "error"
  | "other";

/** Why a candidate ended. `raw` is the provider's own word. */
export interface Stop {
  readonly reason: StopReason;
  readonly raw: string;
  readonly sequence?: Text;
  readonly detail?: { readonly category?: string; readonly explanation?: Text };
  /** With reason `error`: the error that the stop word stands for. */
  readonly error?: NeutralError;
}

/** One alternative answer. */
export interface Candidate {
  readonly index: number;
  readonly parts: readonly Part[];
  readonly stop: Stop;
  readonly logprobs?: Raw;
  readonly extensions?: readonly Extension[];
}

/** A complete answer. */
export interface NeutralResponse {
  readonly id?: string;
  readonly model?: string;
  readonly created?: number;
  readonly candidates: readonly Candidate[];
  readonly usage?: Usage;
  readonly serviceTier?: string;
  readonly extensions: readonly Extension[];
}

/** What a stream part is, known when it starts. */
export type PartHead =
  | { readonly type: "text" }
  | { readonly type: "refusal" }
  | {
      readonly type: "reasoning";
      readonly form: "summary" | "raw" | "opaque";
      readonly redacted?: Text;
      readonly itemId?: Text;
    }
  | {
      readonly type: "tool-call";
      readonly id: string;
      readonly name: Text;
      readonly namespace?: Text;
      readonly kind: "function" | "custom";
      readonly signature?: Signature;
    }
  | { readonly type: "image" | "audio"; readonly media: Media }
  | { readonly type: "server-tool" | "opaque"; readonly dialect: DialectId; readonly raw: Raw };

/**
 * One event of a neutral stream. Per candidate: `part-start` before its deltas before its `part-end`; parts are numbered
 * 0, 1, 2, … in order of appearance and may overlap; exactly one `stop`, then no more deltas; `end` once, last.
 * References inside an event are valid only during the call that delivers it.
 */
export type StreamEvent =
  | {
      readonly type: "start";
      readonly id?: string;
      readonly model?: string;
      readonly usage?: Usage;
      readonly serviceTier?: string;
    }
  | { readonly type: "part-start"; readonly candidate: number; readonly part: number; readonly head: PartHead }
  | { readonly type: "text-delta"; readonly candidate: number; readonly part: number; readonly text: Text }
  | { readonly type: "refusal-delta"; readonly candidate: number; readonly part: number; readonly text: Text }
  | {
      readonly type: "reasoning-delta";
      readonly candidate: number;
      readonly part: number;
      readonly text: Text;
      readonly segment?: number;
    }
  | {
      readonly type: "arguments-delta";
      readonly candidate: number;
      readonly part: number;
      readonly text: Text;
      readonly encoded: boolean;
    }
  | {
      readonly type: "signature-delta";
      readonly candidate: number;
      readonly part: number;
      readonly signature: Signature;
    }
  | { readonly type: "citation-delta"; readonly candidate: number; readonly part: number; readonly raw: Raw }
  | { readonly type: "audio-delta"; readonly candidate: number; readonly part: number; readonly raw: Raw }
  | { readonly type: "logprobs-delta"; readonly candidate: number; readonly raw: Raw }
  | { readonly type: "part-end"; readonly candidate: number; readonly part: number }
  | { readonly type: "stop"; readonly candidate: number; readonly stop: Stop }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "ping" }
  | { readonly type: "error"; readonly error: NeutralError }
  | { readonly type: "end" };

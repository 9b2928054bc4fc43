// The neutral description of one scripted answer. Every dialect renders the same description, whole or streamed, so that an
// assembled stream always equals the whole answer.

/** One tool call of a scripted answer. */
export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text of the arguments: one object. */
  readonly arguments: string;
}

/** Token counts of a scripted answer. `input` includes cached tokens, `output` includes thinking. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly thinking?: number;
}

/** Why a scripted answer ends. */
export type ScriptedStop = "end" | "length" | "tools" | "refusal" | "filter" | "stop-sequence";

/** What the upstream says, before a dialect gives it its form. */
export interface ScriptedAnswer {
  readonly thinking?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly stop: ScriptedStop;
  /** The sequence that ended the answer, for `stop-sequence`. */
  readonly stopSequence?: string;
  readonly usage: ScriptedUsage;
  /** Into how many deltas each text is cut when streamed; at least 1, at most one a character. */
  readonly deltas: number;
}

/** How an answer is distorted while it is rendered; the defaults are what a correct server sends. */
export interface RenderOptions {
  /** Serial number of the call: part of every id, so that ids are unique and repeatable. */
  readonly serial: number;
  /** The model name that the answer carries. */
  readonly model: string;
  /** Chat streams send usage only when asked. */
  readonly includeUsage: boolean;
  /** Number of choices (chat only). */
  readonly choices: number;
  readonly usage: "normal" | "none" | "twice" | "in-content";
  /** Which parts of the ending are left out: the stop reason, the last record, or both. */
  readonly omit: readonly ("finish" | "end")[];
}

/** One server-sent event before it becomes bytes; `mark` tells faults what it is. */
export interface ScriptedRecord {
  readonly event: string | null;
  readonly data: string;
  readonly mark: "open" | "content" | "finish" | "usage" | "end" | "error" | "ping";
}

/** Cuts a text into at most `count` non-empty pieces of nearly equal length, never inside a surrogate pair. */
export function* cutText(text: string, count: number): Generator<string> {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)));
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + size);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

/** Tokens of a text by the rule of this upstream: one per four characters, rounded up. */
export function countScriptedTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

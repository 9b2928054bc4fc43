// Answers and events in one comparable form: texts decoded, values by their source, absent members gone.
import { isSlice, rawToValue, ResponseAssembler, textToString } from "@dragoman/core";
import type { NeutralResponse, Part, Raw, StreamEvent, Text, Usage } from "@dragoman/core";

import { spelledJson } from "./spelled-json.ts";
import type { JsonValue } from "./spelled-json.ts";

/** What one candidate says. */
export interface CanonicalCandidate {
  readonly index: number;
  /** Parts in order, or grouped by kind, adjacent ones of a kind joined. */
  readonly parts: readonly JsonValue[];
  readonly stop: string;
  readonly sequence: string | null;
}

/** How much of an answer's shape is compared. */
export interface AnswerShape {
  readonly ordersParts: boolean;
  readonly hasRefusals: boolean;
  readonly namesStopSequences: boolean;
  readonly maxCandidates: number;
}

/** Copies what an event references, since its bytes are only lent. Numbers and escapes keep their source spelling. */
export function frozenEvent(event: StreamEvent): StreamEvent {
  return freeze(event) as StreamEvent;
}

function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => freeze(item));
  if ("bytes" in value && "start" in value && "end" in value) {
    const slice = value as { bytes: Uint8Array; start: number; end: number };
    // Not `slice`: that of a Buffer would be a view.
    const bytes = new Uint8Array(slice.bytes.subarray(slice.start, slice.end));
    return { bytes, start: 0, end: bytes.length };
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, freeze(inner)]));
}

/** An event stream as comparable values. */
export function canonicalEvents(events: readonly StreamEvent[]): readonly JsonValue[] {
  return events.map((event) => plain(event) as JsonValue);
}

/** Any value of the neutral representation as plain JSON, texts and values decoded. */
export function plain(value: unknown): JsonValue {
  if (typeof value !== "object" || value === null) return value === undefined ? null : (value as JsonValue);
  if (Array.isArray(value)) return value.map((item) => plain(item));
  if (isText(value)) return sourceOf(value);
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([name, inner]) => [name, plain(inner)]));
}

const isText = (value: object): value is Extract<Text, object> =>
  "bytes" in value && "start" in value && "end" in value;

const sourceOf = ({ bytes, start, end }: Extract<Text, object>): string =>
  Buffer.from(bytes.subarray(start, end)).toString("utf8");

/** The answer that a stream's events say, whether it ended, and its error. */
export function assemble(events: readonly StreamEvent[]): {
  readonly response: NeutralResponse;
  readonly isEnded: boolean;
  readonly error: string | null;
} {
  const assembler = new ResponseAssembler();
  let error: string | null = null;
  for (const event of events) {
    assembler.add(event);
    if (event.type === "error") error = event.error.class;
  }
  return { response: assembler.response(), isEnded: assembler.isEnded, error };
}

/** What an answer's candidates say. */
export function canonicalCandidates(response: NeutralResponse, shape: AnswerShape): readonly CanonicalCandidate[] {
  return response.candidates
    .filter(({ index }) => index < shape.maxCandidates)
    .map(({ index, parts, stop }) => ({
      index,
      parts: canonicalParts(parts, shape),
      stop: stopWord(stop.reason, shape),
      sequence: shape.namesStopSequences && stop.sequence !== undefined ? textToString(stop.sequence) : null,
    }));
}

/** Words that a dialect without the distinction folds into one. */
function stopWord(reason: string, shape: AnswerShape): string {
  if (!shape.namesStopSequences && reason === "stop-sequence") return "end";
  return reason;
}

function canonicalParts(parts: readonly Part[], shape: AnswerShape): readonly JsonValue[] {
  const said: { kind: string; text: string; rest: JsonValue }[] = [];
  for (const part of parts) {
    const next = canonicalPart(part, shape);
    const last = said.at(-1);
    const isJoined = (next.kind === "text" || next.kind === "refusal") && last?.kind === next.kind;
    if (isJoined && last !== undefined) last.text += next.text;
    else if (next.text.trim() !== "" || next.rest !== null) said.push(next);
  }
  if (shape.ordersParts) return said.map(({ kind, text, rest }) => [kind, text, rest]);
  const kinds = [...new Set(said.map(({ kind }) => kind))].sort();
  return kinds.map((kind) => {
    const same = said.filter((part) => part.kind === kind);
    if (kind === "text" || kind === "refusal" || kind === "reasoning") {
      return [
        kind,
        same.map(({ text }) => text).join(""),
        same.map(({ rest }) => rest).filter((rest) => rest !== null),
      ];
    }
    return [kind, ...same.map(({ text, rest }): JsonValue => [text, rest])];
  });
}

function canonicalPart(part: Part, shape: AnswerShape): { kind: string; text: string; rest: JsonValue } {
  switch (part.type) {
    case "text":
      return { kind: "text", text: textToString(part.text), rest: null };
    case "refusal":
      return { kind: shape.hasRefusals ? "refusal" : "text", text: textToString(part.text), rest: null };
    case "reasoning": {
      const { signature, redacted } = part;
      const proof = signature === undefined ? null : [signature.origin, textToString(signature.data)];
      const data = proof === null && redacted !== undefined ? textToString(redacted) : proof;
      return { kind: "reasoning", text: part.texts.map((text) => textToString(text)).join("\n\n"), rest: data };
    }
    case "tool-call":
      return {
        kind: "call",
        text: textToString(part.id),
        rest: [
          textToString(part.name),
          part.kind,
          canonicalArguments(part.arguments.text, part.kind, part.arguments.encoded),
        ],
      };
    default:
      return { kind: part.type, text: "", rest: plain(part) };
  }
}

/** Arguments by value with spelled numbers where they are JSON, by text where they are not. */
export function canonicalArguments(text: Text | Raw, kind: "function" | "custom", isEncoded: boolean): JsonValue {
  const source = argumentSource(text, isEncoded);
  if (kind === "custom") return source;
  if (source.trim() === "") return {};
  try {
    return spelledJson(source);
  } catch {
    // Models write broken JSON; then the characters are what must be kept.
    return ["broken", source];
  }
}

function argumentSource(text: Text | Raw, isEncoded: boolean): string {
  if (typeof text === "string") return text;
  if (!isSlice(text)) return JSON.stringify(rawToValue(text)) ?? "";
  return isEncoded ? textToString(text) : sourceOf(text);
}

/** The counts of a usage that are compared; absent and zero components are alike, because some dialects always write them. */
export function canonicalUsage(
  usage: Usage | undefined,
  members: readonly ("cacheRead" | "cacheWrite" | "reasoning")[],
): JsonValue {
  if (usage === undefined) return null;
  const counts = members.map((member): [string, number] => [member, usage[member] ?? 0]);
  return { input: usage.input, output: usage.output, ...Object.fromEntries(counts) };
}

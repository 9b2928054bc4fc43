// Renders a scripted answer as an Anthropic-style message: the whole body, or the records of its stream.
import { cutText } from "./answer.ts";
import type { RenderOptions, ScriptedAnswer, ScriptedRecord, ScriptedStop, ScriptedUsage } from "./answer.ts";

type Json = Record<string, unknown>;

function stopReasonOf(stop: ScriptedStop): string {
  switch (stop) {
    case "end":
      return "end_turn";
    case "length":
      return "max_tokens";
    case "tools":
      return "tool_use";
    case "refusal":
    case "filter":
      return "refusal";
    case "stop-sequence":
      return "stop_sequence";
  }
}

function inputUsageOf(usage: ScriptedUsage): Json {
  const cacheRead = usage.cacheRead ?? 0;
  const cacheWrite = usage.cacheWrite ?? 0;
  return {
    input_tokens: usage.input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
  };
}

function outputUsageOf(usage: ScriptedUsage): Json {
  return {
    output_tokens: usage.output,
    ...(usage.thinking === undefined ? {} : { output_tokens_details: { thinking_tokens: usage.thinking } }),
  };
}

/** The signature that this upstream gives a thinking text: repeatable, and base64 as real ones are. */
function signThinking(thinking: string): string {
  return Buffer.from(`scripted:${thinking.length}`, "latin1").toString("base64");
}

function stopMembersOf(answer: ScriptedAnswer, omitFinish: boolean): Json {
  if (omitFinish) return { stop_reason: null, stop_sequence: null };
  return {
    stop_reason: stopReasonOf(answer.stop),
    stop_sequence: answer.stopSequence ?? null,
    ...(answer.refusal === undefined
      ? {}
      : { stop_details: { type: "refusal", category: null, explanation: answer.refusal } }),
  };
}

function contentOf(answer: ScriptedAnswer): Json[] {
  const content: Json[] = [];
  if (answer.thinking !== undefined) {
    content.push({ type: "thinking", thinking: answer.thinking, signature: signThinking(answer.thinking) });
  }
  if (answer.text !== undefined && answer.text !== "") content.push({ type: "text", text: answer.text });
  for (const call of answer.toolCalls ?? []) {
    content.push({ type: "tool_use", id: call.id, name: call.name, input: JSON.parse(call.arguments) as unknown });
  }
  return content;
}

/** Renders the whole message. */
export function renderMessageWhole(answer: ScriptedAnswer, options: RenderOptions): string {
  return JSON.stringify({
    id: `msg_scripted_${options.serial}`,
    type: "message",
    role: "assistant",
    model: options.model,
    content: contentOf(answer),
    ...stopMembersOf(answer, options.omit.includes("finish")),
    ...(options.usage === "none" ? {} : { usage: { ...inputUsageOf(answer.usage), ...outputUsageOf(answer.usage) } }),
  });
}

function record(mark: ScriptedRecord["mark"], data: Json & { type: string }): ScriptedRecord {
  return { event: data.type, mark, data: JSON.stringify(data) };
}

function* blockRecords(index: number, block: Json, deltas: Iterable<Json>): Generator<ScriptedRecord> {
  yield record("content", { type: "content_block_start", index, content_block: block });
  for (const delta of deltas) yield record("content", { type: "content_block_delta", index, delta });
  yield record("content", { type: "content_block_stop", index });
}

function* thinkingDeltas(thinking: string, count: number): Generator<Json> {
  for (const piece of cutText(thinking, count)) yield { type: "thinking_delta", thinking: piece };
  yield { type: "signature_delta", signature: signThinking(thinking) };
}

function* textDeltas(text: string, count: number): Generator<Json> {
  for (const piece of cutText(text, count)) yield { type: "text_delta", text: piece };
}

function* inputDeltas(input: string, count: number): Generator<Json> {
  yield { type: "input_json_delta", partial_json: "" };
  for (const piece of cutText(input, count)) yield { type: "input_json_delta", partial_json: piece };
}

function* contentRecords(answer: ScriptedAnswer): Generator<ScriptedRecord> {
  let index = 0;
  if (answer.thinking !== undefined) {
    const block = { type: "thinking", thinking: "", signature: "" };
    yield* blockRecords(index++, block, thinkingDeltas(answer.thinking, answer.deltas));
  }
  if (answer.text !== undefined && answer.text !== "") {
    yield* blockRecords(index++, { type: "text", text: "" }, textDeltas(answer.text, answer.deltas));
  }
  for (const call of answer.toolCalls ?? []) {
    const block = { type: "tool_use", id: call.id, name: call.name, input: {} };
    yield* blockRecords(index++, block, inputDeltas(call.arguments, answer.deltas));
  }
}

/** Yields the records of the streamed message, lazily. Usage is never part of a content record in this dialect. */
export function* renderMessageStream(answer: ScriptedAnswer, options: RenderOptions): Generator<ScriptedRecord> {
  const withUsage = options.usage !== "none";
  yield record("open", {
    type: "message_start",
    message: {
      id: `msg_scripted_${options.serial}`,
      type: "message",
      role: "assistant",
      model: options.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...(withUsage ? { usage: { ...inputUsageOf(answer.usage), output_tokens: 1 } } : {}),
    },
  });
  yield record("ping", { type: "ping" });
  yield* contentRecords(answer);
  const ending = record("finish", {
    type: "message_delta",
    delta: stopMembersOf(answer, false),
    ...(withUsage ? { usage: outputUsageOf(answer.usage) } : {}),
  });
  if (!options.omit.includes("finish")) yield ending;
  if (!options.omit.includes("finish") && options.usage === "twice") yield ending;
  if (!options.omit.includes("end")) yield record("end", { type: "message_stop" });
}

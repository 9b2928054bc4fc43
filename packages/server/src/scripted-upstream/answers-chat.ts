// Renders a scripted answer as an OpenAI-style chat completion: the whole body, or the records of its stream.
import { cutText } from "./answer.ts";
import type { RenderOptions, ScriptedAnswer, ScriptedRecord, ScriptedStop, ScriptedUsage } from "./answer.ts";

/** The `created` time of every chat answer, in seconds since 1970. */
const SCRIPTED_CREATED = 1_790_000_000;

type Json = Record<string, unknown>;

function finishReasonOf(stop: ScriptedStop): string {
  switch (stop) {
    case "end":
    case "refusal":
    case "stop-sequence":
      return "stop";
    case "length":
      return "length";
    case "tools":
      return "tool_calls";
    case "filter":
      return "content_filter";
  }
}

function usageOf(usage: ScriptedUsage): Json {
  const promptDetails: Json = {};
  if (usage.cacheRead !== undefined) promptDetails["cached_tokens"] = usage.cacheRead;
  if (usage.cacheWrite !== undefined) promptDetails["cache_write_tokens"] = usage.cacheWrite;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    ...(Object.keys(promptDetails).length > 0 ? { prompt_tokens_details: promptDetails } : {}),
    ...(usage.thinking === undefined ? {} : { completion_tokens_details: { reasoning_tokens: usage.thinking } }),
  };
}

function messageOf(answer: ScriptedAnswer): Json {
  const calls = answer.toolCalls ?? [];
  return {
    role: "assistant",
    content: answer.text ?? null,
    refusal: answer.refusal ?? null,
    ...(answer.thinking === undefined ? {} : { reasoning_content: answer.thinking }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
  };
}

function choiceIndexes(options: RenderOptions): number[] {
  return Array.from({ length: options.choices }, (_, index) => index);
}

/** Renders the whole chat completion. */
export function renderChatWhole(answer: ScriptedAnswer, options: RenderOptions): string {
  const finishReason = options.omit.includes("finish") ? null : finishReasonOf(answer.stop);
  return JSON.stringify({
    id: `chatcmpl-scripted-${options.serial}`,
    object: "chat.completion",
    created: SCRIPTED_CREATED,
    model: options.model,
    choices: choiceIndexes(options).map((index) => ({
      index,
      message: messageOf(answer),
      logprobs: null,
      finish_reason: finishReason,
    })),
    ...(options.usage === "none" ? {} : { usage: usageOf(answer.usage) }),
  });
}

/** The deltas of one choice in order, without the opening and the closing chunk. */
function* deltasOf(answer: ScriptedAnswer): Generator<Json> {
  for (const piece of cutText(answer.thinking ?? "", answer.deltas)) yield { reasoning_content: piece };
  for (const piece of cutText(answer.text ?? "", answer.deltas)) yield { content: piece };
  for (const piece of cutText(answer.refusal ?? "", answer.deltas)) yield { refusal: piece };
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    yield { tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] };
    for (const piece of cutText(call.arguments, answer.deltas)) {
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
    }
  }
}

/** Yields the records of the streamed chat completion, lazily. */
export function* renderChatStream(answer: ScriptedAnswer, options: RenderOptions): Generator<ScriptedRecord> {
  const inContent = options.usage === "in-content";
  const asked = options.includeUsage && options.usage !== "none" && !inContent;
  const usage = usageOf(answer.usage);
  const head = {
    id: `chatcmpl-scripted-${options.serial}`,
    object: "chat.completion.chunk",
    created: SCRIPTED_CREATED,
    model: options.model,
  };
  const chunk = (
    mark: ScriptedRecord["mark"],
    index: number,
    delta: Json,
    finishReason: string | null,
  ): ScriptedRecord => ({
    event: null,
    mark,
    data: JSON.stringify({
      ...head,
      choices: [{ index, delta, logprobs: null, finish_reason: finishReason }],
      ...(inContent && mark === "content" ? { usage } : options.includeUsage ? { usage: null } : {}),
    }),
  });
  const indexes = choiceIndexes(options);
  const opening = { role: "assistant", content: answer.text === undefined ? null : "", refusal: null };
  for (const index of indexes) yield chunk("open", index, opening, null);
  for (const delta of deltasOf(answer)) {
    for (const index of indexes) yield chunk("content", index, delta, null);
  }
  if (!options.omit.includes("finish")) {
    for (const index of indexes) yield chunk("finish", index, {}, finishReasonOf(answer.stop));
  }
  const usageRecord: ScriptedRecord = {
    event: null,
    mark: "usage",
    data: JSON.stringify({ ...head, choices: [], usage }),
  };
  if (asked) yield usageRecord;
  if (asked && options.usage === "twice") yield usageRecord;
  if (!options.omit.includes("end")) yield { event: null, mark: "end", data: "[DONE]" };
}

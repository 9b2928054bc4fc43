// What a request means, aspect by aspect, in a form that is the same for every dialect; and which aspects a declared adaptation changes.
import { isSlice, numToNumber, rawToValue, textToString } from "@dragoman/core";
import type { Media, Message, NeutralRequest, Part, Text, Tool, ToolChoice } from "@dragoman/core";

import { canonicalArguments, plain } from "./canonical-answer.ts";
import type { JsonValue } from "./spelled-json.ts";

/** Aspects that an adaptation may change, by its code. What is not listed changes none. */
export const ASPECTS_OF_ADAPTATIONS: Readonly<Record<string, readonly string[]>> = {
  content_reshaped: ["turns"],
  custom_tool_wrapped: ["turns", "tools", "choice"],
  effort_mapped: ["reasoning", "limit"],
  empty_text_removed: ["turns"],
  format_adapted: ["format"],
  id_rewritten: ["turns"],
  instruction_moved: ["instructions", "turns"],
  max_tokens_defaulted: ["limit"],
  media_adapted: ["turns"],
  messages_merged: ["turns"],
  namespace_flattened: ["turns", "tools", "choice"],
  reasoning_default: ["reasoning"],
  schema_adapted: ["tools", "format"],
  system_merged: ["instructions"],
  text_joined: ["instructions", "turns"],
  text_prefixed: ["turns"],
  tools_filtered: ["tools", "choice"],
  value_adapted: ["sampling", "user"],
};

/** A request's meaning as comparable aspects. */
export function meaningOf(request: NeutralRequest): JsonValue {
  const { messages, tools, toolChoice, parallelTools, maxOutputTokens, stop, sampling, identity, output } = request;
  const format = output.format?.kind === "text" ? undefined : output.format;
  return {
    instructions: messages
      .filter(({ role }) => role === "instruction")
      .flatMap(({ parts }) => parts.map((part) => partMeaning(part))),
    turns: turnsOf(messages.filter(({ role }) => role !== "instruction")),
    tools: tools.map((tool) => toolMeaning(tool)),
    choice: choiceMeaning(toolChoice),
    isSequential: parallelTools === false && tools.length > 0,
    limit: maxOutputTokens === undefined ? null : numToNumber(maxOutputTokens),
    stop: (stop ?? []).map((text) => textToString(text)),
    sampling: [sampling.temperature, sampling.topP].map((num) => (num === undefined ? null : numToNumber(num))),
    user: textOrNull(identity.safetyId ?? identity.endUser),
    format:
      format?.kind === "json-schema"
        ? ["json-schema", format.schema === undefined ? null : (rawToValue(format.schema) as JsonValue)]
        : (format?.kind ?? null),
    reasoning:
      request.reasoning === undefined ? null : [request.reasoning.mode === "off", request.reasoning.effort ?? null],
    isStreamed: request.stream,
  };
}

const textOrNull = (text: Text | undefined): string | null => (text === undefined ? null : textToString(text));

/** Turns of one role in a row are one turn. */
function turnsOf(messages: readonly Message[]): JsonValue {
  const turns: { role: string; parts: JsonValue[] }[] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    const meanings = parts.map((part) => partMeaning(part));
    if (last?.role === role) last.parts.push(...meanings);
    else turns.push({ role, parts: meanings });
  }
  return turns.map(({ role, parts }) => [role, parts]);
}

function partMeaning(part: Part): JsonValue {
  switch (part.type) {
    case "text":
    case "refusal":
      return ["text", textToString(part.text)];
    case "image":
      return ["image", mediaMeaning(part.media)];
    case "file":
      return ["file", mediaMeaning(part.media), textOrNull(part.filename ?? part.title)];
    case "tool-call":
      return [
        "call",
        textToString(part.id),
        textToString(part.name),
        canonicalArguments(part.arguments.text, part.kind, part.arguments.encoded),
      ];
    case "tool-result":
      return [
        "result",
        textToString(part.callId),
        part.content.map((inner) => partMeaning(inner)).filter((inner) => JSON.stringify(inner) !== '["text",""]'),
      ];
    case "reasoning":
      return [
        "reasoning",
        part.texts.map((text) => textToString(text)).join("\n\n"),
        part.signature === undefined ? null : textToString(part.signature.data),
      ];
    case "audio":
    case "video":
    case "search-result":
    case "server-tool":
    case "opaque":
      return [part.type, plain({ ...part, at: "" })];
  }
}

function mediaMeaning(media: Media): JsonValue {
  switch (media.from) {
    case "base64":
      return ["base64", textOrNull(media.mime), textToString(media.data)];
    case "url":
      return ["url", textToString(media.url)];
    case "file-ref":
      return ["file-ref", media.dialect, textToString(media.id)];
    case "text":
      return ["text", textToString(media.text)];
  }
}

function toolMeaning(tool: Tool): JsonValue {
  switch (tool.kind) {
    case "function": {
      const schema = tool.schema === undefined ? null : (rawToValue(tool.schema) as JsonValue);
      return [textToString(tool.name), textOrNull(tool.description), schema, tool.strict === true];
    }
    case "custom":
      return ["custom", textToString(tool.name), textOrNull(tool.description)];
    case "server":
      return ["server", tool.toolType, isSlice(tool.raw) ? (rawToValue(tool.raw) as JsonValue) : null];
  }
}

function choiceMeaning(choice: ToolChoice | undefined): JsonValue {
  if (choice === undefined || choice.mode === "auto") return null;
  if (choice.mode === "tool") return ["tool", textToString(choice.name)];
  if (choice.mode === "allowed") return ["allowed", choice.required, choice.names.map((name) => textToString(name))];
  return choice.mode;
}

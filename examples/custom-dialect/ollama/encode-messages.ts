/**
 * Messages for Ollama: content is one string, images stand beside it, and every result of a tool is a message of its own. What this
 * moves or joins is said by an adaptation.
 */
import { textToString } from "@dragoman/core";
import type { Message, Part, Text, ToolCallPart, ToolResultPart } from "@dragoman/core";

import { readArguments } from "./call-arguments.ts";
import { sortContent } from "./content.ts";
import type { Content } from "./content.ts";
import type { Encoding } from "./encoding.ts";

/** Writes the member `messages`. */
export function encodeMessages(encoding: Encoding): void {
  encoding.writer.glue(',"messages":[');
  new MessageWriter(encoding).writeAll();
  encoding.writer.glue("]");
}

class MessageWriter {
  readonly #encoding: Encoding;
  /** Names of called tools by the id of their call; Ollama wants the name with the result. */
  readonly #names = new Map<string, Text>();
  #isFirst = true;

  constructor(encoding: Encoding) {
    this.#encoding = encoding;
  }

  writeAll(): void {
    const { request, issues } = this.#encoding;
    for (const message of request.messages) {
      if (message.name !== undefined)
        issues.drop("name_unsupported", `${message.at}/name`, "Messages of Ollama have no name.");
      if (message.phase !== undefined)
        issues.drop("phase_unsupported", `${message.at}/phase`, "Messages of Ollama have no phase.");
      this.#encoding.dropExtensions(message.extensions);
      if (message.role === "instruction") this.#text("system", message);
      else if (message.role === "user") this.#user(message);
      else this.#assistant(message);
    }
    const last = request.messages.at(-1);
    if (last?.role === "assistant" && !this.#encoding.target.capabilities.prefill)
      issues.reject("prefill_unsupported", last.at, "The model does not go on with an assistant's message.");
  }

  #begin(role: string, content: Content): void {
    const { writer, profile } = this.#encoding;
    writer.glue(`${this.#isFirst ? "" : ","}{"role":"${role}","content":"`);
    this.#isFirst = false;
    content.texts.forEach((text, index) => {
      if (index > 0) writer.inside(profile.textSeparator);
      writer.inside(text);
    });
    writer.glue('"');
    content.images.forEach((image, index) => writer.glue(index === 0 ? ',"images":[' : ",").token(image));
    if (content.images.length > 0) writer.glue("]");
  }

  #text(role: string, message: Message): void {
    const content = sortContent(this.#encoding, message.parts, message.at);
    if (content.isEmpty) {
      this.#encoding.issues.adapt("empty_text_removed", message.at, "A message without content is left out.");
      return;
    }
    this.#begin(role, content);
    this.#encoding.writer.glue("}");
  }

  #user(message: Message): void {
    const results = message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
    for (const result of results) this.#result(result);
    const rest = message.parts.filter((part) => part.type !== "tool-result");
    if (rest.length > 0 || results.length === 0) this.#text("user", { ...message, parts: rest });
    if (results.length > 0 && message.parts.slice(0, results.length).some((part) => part.type !== "tool-result"))
      this.#encoding.issues.adapt("content_reshaped", message.at, "Results of tools come before the text beside them.");
  }

  #result(part: ToolResultPart): void {
    const { issues, writer } = this.#encoding;
    const name = this.#names.get(textToString(part.callId));
    if (name === undefined) issues.reject("tool_result_unpaired", part.at, "This result answers no call before it.");
    this.#mark(part);
    const media = part.content.filter((inner) => inner.type !== "text");
    if (media.length > 0)
      issues.drop("tool_result_media_unsupported", part.at, "A result of a tool is text for Ollama.");
    const content = sortContent(
      this.#encoding,
      part.content.filter((inner) => inner.type === "text"),
      part.at,
    );
    const prefix: readonly Text[] = part.isError === true ? ["Error:"] : [];
    if (part.isError === true) issues.adapt("text_prefixed", part.at, "That the tool failed is said in the text.");
    const json: readonly Text[] = part.json === undefined || !content.isEmpty ? [] : [jsonText(part.json)];
    this.#begin("tool", { ...content, texts: [...prefix, ...json, ...content.texts] });
    if (name !== undefined) writer.glue(',"tool_name":').token(name);
    // Older servers pair by order and ignore the id (ollama/ollama, api/types.go, Message, read 2026-11-30).
    writer.glue(',"tool_call_id":').token(part.callId).glue("}");
  }

  #assistant(message: Message): void {
    const { issues, writer } = this.#encoding;
    const calls = message.parts.filter((part): part is ToolCallPart => part.type === "tool-call");
    for (const part of message.parts)
      if (part.type === "reasoning")
        issues.drop("reasoning_history_foreign", part.at, "Thoughts of another model are not replayed.");
    const said = message.parts.filter((part) => part.type !== "tool-call" && part.type !== "reasoning");
    const content = sortContent(this.#encoding, said, message.at);
    if (content.isEmpty && calls.length === 0) {
      issues.adapt("empty_text_removed", message.at, "A message without content is left out.");
      return;
    }
    const firstCall = message.parts.findIndex((part) => part.type === "tool-call");
    const lastText = message.parts.findLastIndex((part) => part.type === "text" || part.type === "refusal");
    if (firstCall !== -1 && firstCall < lastText)
      issues.adapt("content_reshaped", message.at, "Calls come after the text of their message.");
    this.#begin("assistant", content);
    calls.forEach((call, index) => {
      writer.glue(index === 0 ? ',"tool_calls":[' : ",");
      this.#call(call);
    });
    writer.glue(calls.length > 0 ? "]}" : "}");
  }

  #call(part: ToolCallPart): void {
    const { issues, writer } = this.#encoding;
    this.#names.set(textToString(part.id), part.name);
    this.#mark(part);
    if (part.kind === "custom" || part.namespace !== undefined)
      issues.reject("tool_kind_unsupported", part.at, "Ollama knows function tools only.");
    if (part.signature !== undefined)
      issues.drop("reasoning_history_foreign", part.at, "Ollama verifies no signatures.");
    const value = readArguments(part.arguments);
    if (value === null)
      issues.reject("tool_arguments_not_object", part.at, "Arguments of a call are an object for Ollama.");
    writer.glue('{"id":').token(part.id).glue(',"function":{"name":').token(part.name).glue(',"arguments":');
    if (value === null) writer.glue("{}");
    else writer.raw(value);
    writer.glue("}}");
  }

  /** What any part may carry beside its content. */
  #mark(part: Part): void {
    if (part.cacheBreakpoint !== undefined)
      this.#encoding.issues.drop("cache_hint", part.at, "Ollama caches prefixes by itself.");
    this.#encoding.dropExtensions(part.extensions);
  }
}

const jsonText = (json: NonNullable<ToolResultPart["json"]>): string =>
  "bytes" in json
    ? Buffer.from(json.bytes.subarray(json.start, json.end)).toString("utf8")
    : (JSON.stringify(json.value) ?? "null");

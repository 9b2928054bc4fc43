// Messages for a chat server. A neutral user message becomes one `tool` message per result, in order, then the user message with what is
// left; every call must be answered by the message that follows it.
import { escapeBytes, encodeString, isEmptyText, isSlice, textToString } from "@dragoman/core";
import type {
  ByteSlice,
  Message,
  Part,
  ReasoningPart,
  Text,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "@dragoman/core";

import { writeArgumentsAsString } from "../shared/tool-arguments.ts";
import { planContent, startsWith } from "./content-pieces.ts";
import type { ContentPiece } from "./content-pieces.ts";
import { writeContent } from "./encode-content.ts";
import type { ChatEncoding } from "./encoding.ts";
import { googleContentJson } from "./call-json.ts";
import { isLegalToolName } from "./encode-tools.ts";
import { writeExtensions } from "./raw-json.ts";

const ERROR_PREFIX = "Error: ";

/** Writes the `messages` array. */
export function encodeMessages(encoding: ChatEncoding): void {
  new MessageEncoder(encoding).encode();
}

class MessageEncoder {
  readonly #encoding: ChatEncoding;
  /** Calls of the latest assistant message that no result has answered. */
  #unanswered: Map<string, ToolCallPart> = new Map();
  #isFirst = true;

  constructor(encoding: ChatEncoding) {
    this.#encoding = encoding;
  }

  encode(): void {
    const { request, writer } = this.#encoding;
    writer.glue("[");
    const last = request.messages.length - 1;
    request.messages.forEach((message, index) => {
      if (message.phase !== undefined)
        this.#encoding.issues.drop("phase_unsupported", message.at, "Messages of this dialect have no phase.");
      if (message.role === "instruction") this.#instruction(message);
      else if (message.role === "user") this.#user(message);
      else this.#assistant(message, index === last);
    });
    this.#refuseUnanswered();
    writer.glue("]");
  }

  /** Begins a message object with its role. */
  #begin(role: string): void {
    this.#encoding.writer.glue(`${this.#isFirst ? "" : ","}{"role":"${role}"`);
    this.#isFirst = false;
  }

  /** Ends a message object with what every role may have. */
  #end(message: Message): void {
    const { writer } = this.#encoding;
    if (message.name !== undefined) writer.glue(',"name":').token(message.name);
    writeExtensions(writer, this.#encoding.ownExtensions(message.extensions));
    writer.glue("}");
  }

  #instruction(message: Message): void {
    const { issues, profile, writer } = this.#encoding;
    const { authority } = message;
    const pieces = planContent(this.#encoding, message.parts);
    for (const { texts, part } of pieces)
      if (texts === null && part.type !== "opaque")
        issues.reject("capability_missing", part.at, "Instructions of this dialect are text.");
    if (pieces.length === 0 || this.#isEmpty(pieces)) {
      issues.adapt("empty_text_removed", message.at, "An empty instruction is left out.");
      return;
    }
    const isDeveloper = profile.instructionRole === "developer" && authority !== "system";
    this.#begin(isDeveloper ? "developer" : "system");
    writer.glue(',"content":');
    writeContent(this.#encoding, pieces, message.at);
    this.#end(message);
  }

  #isEmpty(pieces: readonly ContentPiece[]): boolean {
    if (this.#encoding.isOwn) return false;
    return pieces.every(({ texts }) => texts !== null && texts.every((text) => isEmptyText(text)));
  }

  #user(message: Message): void {
    const { issues, writer } = this.#encoding;
    const rest: Part[] = [];
    const attachments: Part[] = [];
    let results = 0;
    for (const part of message.parts) {
      if (part.type !== "tool-result") rest.push(part);
      else {
        results++;
        this.#result(part, attachments);
      }
    }
    this.#refuseUnanswered();
    const pieces = planContent(this.#encoding, [...attachments, ...rest]);
    if (pieces.length === 0 && results > 0) return;
    if (pieces.length === 0 || this.#isEmpty(pieces)) {
      if (results > 0) issues.adapt("empty_text_removed", message.at, "Empty text beside tool results is left out.");
      else issues.reject("empty_content", message.at, "A user message must have content.");
      return;
    }
    this.#begin("user");
    writer.glue(',"content":');
    writeContent(this.#encoding, pieces, message.at);
    this.#end(message);
  }

  /** Writes one result as a `tool` message. Media cannot stand there: where losing their place is allowed they follow the results. */
  #result(part: ToolResultPart, attachments: Part[]): void {
    const encoding = this.#encoding;
    const { issues, writer } = encoding;
    const callId = textToString(part.callId);
    if (!this.#unanswered.delete(callId))
      issues.reject("tool_result_unpaired", part.at, "This result answers no call of the assistant message before it.");
    const media = part.content.filter((inner) => isMedia(inner));
    const isMoved =
      media.length > 0 && issues.drop("tool_result_media_unsupported", part.at, "Tool messages hold text only.");
    if (isMoved) {
      const text = `Attachment(s) of tool call ${encoding.toolId(part.callId, part.at)}:`;
      attachments.push(textPart(text, part.at));
      for (const inner of media) attachments.push(inner);
    }
    this.#begin("tool");
    writer.glue(`,"tool_call_id":${encodeString(encoding.toolId(part.callId, part.at))},"content":`);
    const pieces = this.#resultPieces(part, isMoved ? media.length : 0);
    this.#dropMark(part, "A tool result takes no cache mark as a whole here.");
    if (part.json !== undefined && pieces.length === 0) this.#jsonResult(part.json);
    else writeContent(encoding, pieces, part.at);
    if (encoding.isOwn && part.name !== undefined) writer.glue(',"name":').token(part.name);
    writeExtensions(writer, encoding.ownExtensions(part.extensions));
    writer.glue("}");
  }

  /** A structured result as the text of its JSON. */
  #jsonResult(json: NonNullable<ToolResultPart["json"]>): void {
    const { writer } = this.#encoding;
    if (isSlice(json)) writer.token(escapeBytes(json.bytes, json.start, json.end));
    else writer.string(JSON.stringify(json.value) ?? "null");
  }

  /** The texts of a result, with what else must be said in words: that media follow, that the tool failed. */
  #resultPieces(part: ToolResultPart, attachmentCount: number): readonly ContentPiece[] {
    const texts: Part[] = part.content.filter((inner) => !isMedia(inner));
    if (attachmentCount > 0) texts.push(textPart(`[${attachmentCount} attachment(s) follow]`, part.at));
    const pieces = planContent(this.#encoding, texts);
    if (part.isError !== true) return pieces;
    const [first, ...rest] = pieces;
    const [text] = first?.texts ?? [];
    if (text !== undefined && startsWith(text, ERROR_PREFIX)) return pieces;
    this.#encoding.issues.adapt("text_prefixed", part.at, "That the tool failed is said in the text.");
    if (first === undefined || first.texts === null) {
      const prefix = textPart(ERROR_PREFIX.trimEnd(), part.at);
      return [{ texts: [prefix.text], part: prefix, mark: undefined, extensions: [] }, ...pieces];
    }
    return [{ ...first, texts: [ERROR_PREFIX, ...first.texts] }, ...rest];
  }

  #assistant(message: Message, isLast: boolean): void {
    const encoding = this.#encoding;
    const { issues, writer, profile } = encoding;
    this.#refuseUnanswered();
    const calls = message.parts.filter((part): part is ToolCallPart => part.type === "tool-call");
    const refusals = message.parts.filter((part) => part.type === "refusal");
    const reasoning = message.parts.filter((part): part is ReasoningPart => part.type === "reasoning");
    const content = message.parts.filter((part) => !["tool-call", "refusal", "reasoning"].includes(part.type));
    const pieces = planContent(encoding, content);
    const text = this.#reasoning(reasoning);
    const extensions = encoding.ownExtensions(message.extensions);
    const hasContent = pieces.length > 0 && !(this.#isEmpty(pieces) && calls.length > 0);
    if (!hasContent && calls.length === 0 && refusals.length === 0 && text === null && extensions.length === 0) {
      issues.adapt("empty_text_removed", message.at, "An assistant message without content is left out.");
      return;
    }
    this.#begin("assistant");
    writer.glue(',"content":');
    if (hasContent) writeContent(encoding, pieces, message.at);
    else writer.glue("null");
    if (refusals.length > 0) this.#refusal(refusals.map((part) => part.text));
    if (text !== null) {
      writer.glue(`,${encodeString(profile.reasoningFields[0] ?? "reasoning_content")}:`);
      this.#joined(text, "\n\n");
    }
    if (calls.length > 0) this.#calls(calls);
    if (isLast && calls.length === 0 && !encoding.isOwn) this.#prefill(message);
    if (message.name !== undefined) writer.glue(',"name":').token(message.name);
    writeExtensions(writer, extensions);
    writer.glue("}");
  }

  #refusal(texts: readonly Text[]): void {
    this.#encoding.writer.glue(',"refusal":');
    this.#joined(texts, "");
  }

  /** Several texts as one string token. */
  #joined(texts: readonly Text[], separator: string): void {
    const { writer } = this.#encoding;
    writer.glue('"');
    texts.forEach((text, index) => {
      if (index > 0) writer.inside(separator);
      writer.inside(text);
    });
    writer.glue('"');
  }

  /** The reasoning texts that go into the message, or null for no member. Only bare text of this dialect's own kind can. */
  #reasoning(parts: readonly ReasoningPart[]): readonly Text[] | null {
    const { issues, profile, isOwn } = this.#encoding;
    const takes = profile.reasoningHistory !== "strip";
    const texts: Text[] = [];
    for (const part of parts) {
      if (takes && isOwn && part.signature === undefined && part.form === "raw")
        for (const text of part.texts) texts.push(text);
      else issues.drop("reasoning_history_foreign", part.at, "The server cannot verify another provider's reasoning.");
    }
    if (texts.length > 0) return texts;
    return profile.reasoningHistory === "required" ? [] : null;
  }

  #calls(calls: readonly ToolCallPart[]): void {
    const { writer, issues } = this.#encoding;
    calls.forEach((part, index) => {
      const id = textToString(part.id);
      if (this.#unanswered.has(id))
        issues.reject("tool_result_unpaired", part.at, "Two calls of one message have the same id.");
      this.#unanswered.set(id, part);
      writer.glue(index === 0 ? ',"tool_calls":[' : ",");
      this.#call(part);
    });
    writer.glue("]");
  }

  #call(part: ToolCallPart): void {
    const encoding = this.#encoding;
    const { writer, issues, profile, capabilities } = encoding;
    const id = encodeString(encoding.toolId(part.id, part.at));
    const name = encoding.toolName(part.name, part.namespace, part.at);
    if (!isLegalToolName(name))
      issues.reject("tool_name_invalid", part.at, "A tool's name has letters, digits, _ and - only, at most 64.");
    const isCustom = part.kind === "custom" && profile.customTools && capabilities.tools.custom;
    const holder = `${part.kind}.`;
    const own = encoding.ownExtensions(part.extensions);
    this.#dropMark(part, "A tool call takes no cache mark here.");
    if (isCustom) {
      writer.glue(`{"id":${id},"type":"custom","custom":{"name":${encodeString(name)},"input":`);
      writeArgumentsAsString(writer, part.arguments);
    } else {
      writer.glue(`{"id":${id},"type":"function","function":{"name":${encodeString(name)},"arguments":`);
      this.#arguments(part);
    }
    writeExtensions(
      writer,
      own.filter(({ path }) => path.startsWith(holder)),
      holder,
    );
    writer.glue("}");
    this.#callSignature(part);
    writeExtensions(
      writer,
      own.filter(({ path }) => !path.startsWith(holder)),
    );
    writer.glue("}");
  }

  /** A mark in a place where this dialect has none. */
  #dropMark({ cacheBreakpoint, at }: Part, detail: string): void {
    // A mark that the server would not take anyway has its issue by then.
    if (this.#encoding.takeMark(cacheBreakpoint, at) !== undefined)
      this.#encoding.issues.drop("cache_hint", at, detail);
  }

  #arguments(part: ToolCallPart): void {
    const { writer, issues } = this.#encoding;
    const { text } = part.arguments;
    if (part.kind === "function") {
      const isMissing = typeof text === "string" ? text === "" : isSlice(text) && text.start === text.end;
      if (isMissing) writer.glue('"{}"');
      else writeArgumentsAsString(writer, part.arguments);
      return;
    }
    // Free text inside JSON inside a string: the token is escaped once more.
    issues.adapt("custom_tool_wrapped", part.at, "The server knows function tools only.");
    const { bytes, start, end } = isSlice(text) ? text : insideOf(typeof text === "string" ? text : "");
    writer
      .glue(String.raw`"{\"input\":\"`)
      .inside(escapeBytes(bytes, start, end))
      .glue(String.raw`\"}"`);
  }

  /** A signature on a call goes back only to the server family that made it. */
  #callSignature({ signature, at }: ToolCallPart): void {
    if (signature === undefined) return;
    const { writer, issues, profile } = this.#encoding;
    const json = profile.extraAccepts.includes("extra_content") ? googleContentJson(signature) : "";
    if (json === "") issues.drop("reasoning_history_foreign", at, "The server cannot verify this call's signature.");
    else writer.glue(json);
  }

  #prefill(message: Message): void {
    const { writer, issues, profile, capabilities } = this.#encoding;
    if (profile.prefill && capabilities.prefill) writer.glue(',"prefix":true');
    else issues.reject("prefill_unsupported", message.at, "The server does not continue an assistant message.");
  }

  #refuseUnanswered(): void {
    for (const part of this.#unanswered.values())
      this.#encoding.issues.reject("tool_result_unpaired", part.at, "This call has no result in the message after it.");
    if (this.#unanswered.size > 0) this.#unanswered = new Map();
  }
}

const isMedia = (part: Part): boolean =>
  part.type === "image" ||
  part.type === "audio" ||
  part.type === "video" ||
  (part.type === "file" && part.media.from !== "text");

const textPart = (text: string, at: string): TextPart => ({ type: "text", text, at });

/** The inside of a string's token as bytes. */
function insideOf(text: string): ByteSlice {
  const bytes = Buffer.from(encodeString(text).slice(1, -1), "utf8");
  return { bytes, start: 0, end: bytes.length };
}

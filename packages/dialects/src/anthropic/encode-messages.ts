/** Writes system instructions and messages: every neutral part as a content block, in the order of the planned turns. */
import {
  isEmptyText,
  isSlice,
  textToString,
  type FilePart,
  type Part,
  type ReasonCode,
  type ReasoningPart,
  type SearchResultPart,
  type SegmentWriter,
  type Text,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from "@dragoman/core";

import { argumentsAsValue } from "../shared/tool-arguments.ts";
import { legalToolId, type ToolIdRule } from "../shared/tool-ids.ts";
import type { CacheMarks } from "./cache-marks.ts";
import { writeDocumentSource, writeImageSource } from "./encode-media.ts";
import type { ToolNames } from "./encode-tools.ts";
import type { Encoding } from "./encoding.ts";
import { ANTHROPIC } from "./members.ts";
import type { Conversation, Turn } from "./plan-turns.ts";
import { isBlankText } from "./text-checks.ts";

const TOOL_ID_RULE: ToolIdRule = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: Infinity, prefix: "toolu_", length: 24 };

/** A list that is exactly one plain text is written as a string. */
const onlyText = (parts: readonly Part[]): Text | null => {
  const [part] = parts;
  if (parts.length !== 1 || part?.type !== "text") return null;
  return part.cacheBreakpoint === undefined && part.citations === undefined && part.extensions === undefined
    ? part.text
    : null;
};

/** Writes the messages of one encoding. */
export class MessageWriter {
  readonly #encoding: Encoding;
  readonly #marks: CacheMarks;
  readonly #names: ToolNames;
  readonly #writer: SegmentWriter;

  constructor(encoding: Encoding, marks: CacheMarks, names: ToolNames, writer: SegmentWriter) {
    this.#encoding = encoding;
    this.#marks = marks;
    this.#names = names;
    this.#writer = writer;
  }

  /** Writes `,"system":…` when there are instructions. */
  writeSystem({ system }: Conversation): void {
    if (system.length === 0) return;
    this.#writer.glue(',"system":');
    this.#writeContent(system, "system");
  }

  /** Writes `,"messages":[…]`. */
  writeTurns({ turns }: Conversation): void {
    const writer = this.#writer;
    writer.glue(',"messages":[');
    turns.forEach((turn, index) => {
      writer.glue(`${index === 0 ? "" : ","}{"role":"${turn.role}","content":`);
      this.#writeContent(turn.parts, turn.role);
      for (const message of turn.messages) this.#encoding.writeExtensions(writer, message.extensions);
      writer.glue("}");
    });
    writer.glue("]");
  }

  #writeContent(parts: readonly Part[], role: Turn["role"]): void {
    const text = onlyText(parts);
    if (text !== null) {
      this.#writer.token(text);
      return;
    }
    this.#writer.glue("[");
    parts.forEach((part, index) => {
      if (index > 0) this.#writer.glue(",");
      this.#writePart(part, role);
    });
    this.#writer.glue("]");
  }

  #writePart(part: Part, role: Turn["role"]): void {
    const { issues } = this.#encoding;
    switch (part.type) {
      case "text":
        this.#writeText(part);
        return;
      case "refusal":
        issues.adapt("content_reshaped", part.at, "The refusal is written as text.");
        this.#writer.glue('{"type":"text","text":').token(part.text);
        this.#finishBlock(part);
        return;
      case "reasoning":
        this.#writeReasoning(part);
        return;
      case "tool-call":
        this.#writeToolCall(part);
        return;
      case "tool-result":
        this.#writeToolResult(part);
        return;
      case "server-tool":
      case "opaque":
        this.#writeOwnBlock(part);
        return;
      default:
        this.#writeMedia(part, role);
    }
  }

  #writeMedia(
    part: Exclude<
      Part,
      { type: "text" | "refusal" | "reasoning" | "tool-call" | "tool-result" | "server-tool" | "opaque" }
    >,
    role: Turn["role"],
  ): void {
    const { issues } = this.#encoding;
    const isAssistant = role === "assistant";
    switch (part.type) {
      case "image":
        if (isAssistant) issues.reject("image_input_unsupported", part.at, "Assistant messages hold no images.");
        this.#writer.glue('{"type":"image","source":');
        writeImageSource(this.#writer, part, this.#encoding);
        this.#finishBlock(part);
        return;
      case "file":
        if (isAssistant) issues.reject("file_input_unsupported", part.at, "Assistant messages hold no documents.");
        this.#writeDocument(part);
        return;
      case "search-result":
        this.#writeSearchResult(part);
        return;
      case "audio":
        this.#refuse("audio_input_unsupported", part, "The model takes no audio.");
        return;
      case "video":
        this.#refuse("video_input_unsupported", part, "The model takes no video.");
        return;
    }
  }

  /** Nothing is sent after a refusal; the block only keeps the text well-formed. */
  #refuse(code: ReasonCode, part: Part, detail: string): void {
    this.#encoding.issues.reject(code, part.at, detail);
    this.#writer.glue("null");
  }

  #writeText(part: TextPart): void {
    this.#writer.glue('{"type":"text","text":').token(part.text);
    if (part.citations !== undefined && isSlice(part.citations) && this.#encoding.request.source === ANTHROPIC) {
      this.#writer.glue(',"citations":').raw(part.citations);
    }
    this.#finishBlock(part);
  }

  #writeReasoning(part: ReasoningPart): void {
    const writer = this.#writer;
    const { signature } = part;
    const redacted = signature === undefined ? part.redacted : signature.origin === "ar" ? signature.data : undefined;
    if (redacted !== undefined) writer.glue('{"type":"redacted_thinking","data":').token(redacted);
    else {
      writer.glue('{"type":"thinking","thinking":"');
      // The provider verifies the text with the signature: pieces of one block are joined as they came, with nothing between.
      for (const text of part.texts) writer.inside(text);
      writer.glue('","signature":').token(signature?.data ?? "");
    }
    this.#encoding.writeExtensions(writer, part.extensions);
    writer.glue("}");
  }

  #writeToolCall(part: ToolCallPart): void {
    const { issues } = this.#encoding;
    if (part.signature !== undefined) {
      issues.drop("reasoning_history_foreign", part.at, "The call carries another provider's signature.");
    }
    this.#writer.glue('{"type":"tool_use","id":');
    this.#writeId(part.id, part.at);
    this.#writer.glue(',"name":').token(this.#names.nameOfCall(part)).glue(',"input":');
    this.#writeInput(part);
    this.#finishBlock(part);
  }

  #writeInput(part: ToolCallPart): void {
    const { text, encoded } = part.arguments;
    if (part.kind === "custom") {
      this.#encoding.issues.adapt("custom_tool_wrapped", part.at, "The free-text call is written as a function call.");
      const input =
        typeof text === "string" || (isSlice(text) && encoded)
          ? text
          : String(isSlice(text) ? textToString(text) : text.value);
      this.#writer.glue('{"input":').token(input).glue("}");
      return;
    }
    const value = argumentsAsValue(part.arguments);
    if (value.ok) this.#writer.raw(value.raw);
    else {
      this.#encoding.issues.reject(
        "tool_arguments_not_object",
        part.at,
        "The arguments of the call are not a JSON object.",
      );
      this.#writer.glue("{}");
    }
  }

  #writeId(id: Text, at: string): void {
    const legal = legalToolId(textToString(id), TOOL_ID_RULE);
    if (!legal.rewritten) {
      this.#writer.token(id);
      return;
    }
    this.#encoding.issues.adapt("id_rewritten", at, "The tool-call id is not legal here and was replaced.");
    this.#writer.string(legal.id);
  }

  #writeToolResult(part: ToolResultPart): void {
    const writer = this.#writer;
    writer.glue('{"type":"tool_result","tool_use_id":');
    this.#writeId(part.callId, part.at);
    const content = part.content.filter((inner) => this.#keepsInResult(inner));
    if (part.json !== undefined && isSlice(part.json)) {
      const { bytes, start, end } = part.json;
      writer
        .glue(',"content":')
        .string(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8"));
    } else if (content.length > 0) {
      writer.glue(',"content":');
      this.#writeContent(content, "user");
    }
    if (part.isError === true) writer.glue(',"is_error":true');
    this.#finishBlock(part);
  }

  /** An empty result is a result without content. */
  #keepsInResult(part: Part): boolean {
    const { issues } = this.#encoding;
    if (part.type === "opaque" && part.dialect !== ANTHROPIC) {
      issues.drop("unknown_field", part.at, "The content part has no place in this dialect.");
      return false;
    }
    if (part.type !== "text" || !isBlankText(part.text)) return true;
    if (!isEmptyText(part.text))
      issues.adapt("empty_text_removed", part.at, "A text without visible characters was left out.");
    return false;
  }

  #writeDocument(part: FilePart): void {
    const writer = this.#writer;
    writer.glue('{"type":"document","source":');
    writeDocumentSource(writer, part, this.#encoding);
    const title = part.title ?? part.filename;
    if (title !== undefined && !isEmptyText(title)) writer.glue(',"title":').token(title);
    if (part.context !== undefined) writer.glue(',"context":').token(part.context);
    if (part.citations !== undefined) {
      writer.glue(`,"citations":{"enabled":${part.citations}`);
      this.#encoding.writeInner(writer, part.extensions, "citations");
      writer.glue("}");
    }
    if (part.detail !== undefined && part.detail !== "auto") {
      this.#encoding.issues.drop(
        "image_detail_unsupported",
        part.at,
        "Documents have no level of detail in this dialect.",
      );
    }
    this.#finishBlock(part);
  }

  #writeSearchResult(part: SearchResultPart): void {
    const writer = this.#writer;
    writer.glue('{"type":"search_result","source":').token(part.source).glue(',"title":').token(part.title);
    writer.glue(',"content":[');
    part.content.forEach((inner, index) => {
      if (index > 0) writer.glue(",");
      this.#writePart(inner, "user");
    });
    writer.glue("]");
    if (part.citations !== undefined) {
      writer.glue(`,"citations":{"enabled":${part.citations}`);
      this.#encoding.writeInner(writer, part.extensions, "citations");
      writer.glue("}");
    }
    this.#finishBlock(part);
  }

  #writeOwnBlock(part: Extract<Part, { type: "server-tool" | "opaque" }>): void {
    if (part.dialect !== ANTHROPIC) {
      // Opaque parts of others were left out before; a call that another provider runs cannot be.
      this.#refuse("server_tool_unsupported", part, "Only its own provider can continue this call.");
    } else if (isSlice(part.raw)) this.#writer.raw(part.raw);
    else this.#writer.glue(JSON.stringify(part.raw.value));
  }

  /** Writes what every block may carry and closes it. */
  #finishBlock(part: Part): void {
    this.#marks.write(this.#writer, part);
    this.#encoding.writeExtensions(this.#writer, part.extensions);
    this.#writer.glue("}");
  }
}

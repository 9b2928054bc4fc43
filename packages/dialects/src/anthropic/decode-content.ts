/** Content blocks of requests as neutral parts. Text stays a reference into the client's bytes. */
import {
  ABSENT,
  decodeText,
  isSlice,
  type Extension,
  type FilePart,
  type Media,
  type NodeIndex,
  type Part,
  type ReasoningPart,
  type SearchResultPart,
  type Signature,
  type Text,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from "@dragoman/core";

import { decodeEnvelope, ENVELOPE_PREFIX } from "../shared/signature-envelope.ts";
import type { BodyReader, Mutable } from "./body-reader.ts";
import { ANTHROPIC, BLOCK_EXTENSIONS, BLOCK_MEMBERS, isServerBlock } from "./members.ts";

const lengthOf = (text: Text): number => (isSlice(text) ? text.end - text.start : text.length);

/** Only a text of at least the envelope's length is decoded to look for one. */
const readEnvelope = (text: Text): ReturnType<typeof decodeEnvelope> => {
  if (lengthOf(text) < ENVELOPE_PREFIX.length) return null;
  const source = isSlice(text) ? decodeText(text) : text;
  return source.startsWith(ENVELOPE_PREFIX) ? decodeEnvelope(source) : null;
};

/** Decodes the blocks of one body. */
export class ContentDecoder {
  readonly #reader: BodyReader;
  readonly #answeringModel: string | null;

  /** `answeringModel`: the body is that model's answer, so its signatures are its own, whatever they look like. */
  constructor(reader: BodyReader, answeringModel: string | null = null) {
    this.#reader = reader;
    this.#answeringModel = answeringModel;
  }

  /** Appends the parts of a `content` member: a string is one text part. */
  decode(content: NodeIndex, at: string, parts: Part[]): void {
    const { document } = this.#reader;
    if (document.isString(content)) {
      parts.push({ type: "text", text: document.text(content), at });
      return;
    }
    if (!document.isArray(content)) {
      this.#reader.refuse(content, at, "a string or a list of content blocks");
      return;
    }
    let index = 0;
    for (let block = document.firstElement(content); block !== ABSENT; block = document.nextElement(block)) {
      this.#decodeBlock(block, `${at}/${index}`, parts);
      index++;
    }
  }

  #decodeBlock(block: NodeIndex, at: string, parts: Part[]): void {
    const { document } = this.#reader;
    const typeNode = document.member(block, "type");
    if (!document.isString(typeNode)) {
      this.#reader.refuse(document.isObject(block) ? typeNode : block, at, "a content block with a type");
      return;
    }
    const type = document.string(typeNode);
    switch (type) {
      case "text":
        parts.push(this.#finish(this.#decodeText(block, at), block, type));
        break;
      case "image":
        parts.push(this.#finish({ type: "image", media: this.#decodeSource(block, at), at }, block, type));
        break;
      case "document":
        this.#decodeDocument(block, at, parts);
        break;
      case "search_result":
        parts.push(this.#finish(this.#decodeSearchResult(block, at), block, type));
        break;
      case "thinking":
        parts.push(this.#finish(this.#decodeThinking(block, at), block, type));
        break;
      case "redacted_thinking": {
        const data = this.#reader.requiredString(block, "data", at);
        const signature = this.#ownSignature("ar", data);
        parts.push(
          this.#finish({ type: "reasoning", form: "opaque", texts: [], redacted: data, signature, at }, block, type),
        );
        break;
      }
      case "tool_use":
        parts.push(this.#finish(this.#decodeToolUse(block, at), block, type));
        break;
      case "tool_result":
        parts.push(this.#finish(this.#decodeToolResult(block, at), block, type));
        break;
      default: {
        const raw = document.raw(block);
        if (isServerBlock(type)) parts.push({ type: "server-tool", dialect: ANTHROPIC, raw, at });
        else parts.push({ type: "opaque", dialect: ANTHROPIC, blockType: type, raw, at });
      }
    }
  }

  /** Adds what every block may carry: a cache mark, and members without a neutral place. */
  #finish<Kind extends Part>(part: Mutable<Kind>, block: NodeIndex, type: string): Part {
    const cacheBreakpoint = this.#reader.cacheControl(block, part.at);
    if (cacheBreakpoint !== undefined) part.cacheBreakpoint = cacheBreakpoint;
    const known = BLOCK_MEMBERS[type] as ReadonlySet<string>;
    const extensions = this.#reader
      .extensions(block, part.at, { known, codes: BLOCK_EXTENSIONS })
      .filter((extension) => !this.#isDirectCaller(extension))
      .concat(this.#reader.innerExtensions(block, part.at, ["cache_control", "source", "citations"]));
    if (extensions.length > 0) part.extensions = extensions;
    // The type parameter only makes the two members writable.
    return part as unknown as Part;
  }

  /** `caller:{"type":"direct"}` says that the model called, as always. */
  #isDirectCaller(extension: Extension): boolean {
    const { document } = this.#reader;
    if (extension.path !== "caller" || !isSlice(extension.raw)) return false;
    const { start, end } = extension.raw;
    const source = Buffer.from(
      document.bytes.buffer,
      document.bytes.byteOffset + start,
      Math.min(end - start, 64),
    ).toString("latin1");
    return /^\{\s*"type"\s*:\s*"direct"\s*\}$/.test(source);
  }

  #decodeText(block: NodeIndex, at: string): Mutable<TextPart> {
    const part: Mutable<TextPart> = { type: "text", text: this.#reader.requiredString(block, "text", at), at };
    const citations = this.#reader.list(block, "citations", at);
    if (citations !== ABSENT && this.#reader.document.count(citations) > 0) {
      part.citations = this.#reader.document.raw(citations);
    }
    return part;
  }

  #decodeSource(block: NodeIndex, at: string): Media {
    const reader = this.#reader;
    const source = reader.object(block, "source", at);
    const here = `${at}/source`;
    if (source === ABSENT) {
      reader.refuse(source, here, "an object");
      return { from: "text", text: "" };
    }
    const type = reader.word(source, "type", here, ["base64", "url", "file", "text", "content"]);
    const mime = reader.string(source, "media_type", here);
    const withMime = mime === undefined ? null : { mime };
    switch (type) {
      case "base64":
        return { from: "base64", data: reader.requiredString(source, "data", here), ...withMime };
      case "url":
        return { from: "url", url: reader.requiredString(source, "url", here), ...withMime };
      case "file":
        return { from: "file-ref", dialect: ANTHROPIC, id: reader.requiredString(source, "file_id", here) };
      case "text":
        return { from: "text", text: reader.requiredString(source, "data", here) };
      default:
        if (type === undefined) reader.refuse(reader.document.member(source, "type"), `${here}/type`, "a source type");
        return { from: "text", text: "" };
    }
  }

  #decodeDocument(block: NodeIndex, at: string, parts: Part[]): void {
    const reader = this.#reader;
    const { document } = reader;
    const source = document.member(block, "source");
    const isContent = document.stringEquals(document.member(source, "type"), "content");
    const inner: Part[] = [];
    if (isContent) this.decode(document.member(source, "content"), `${at}/source/content`, inner);
    const media: Media = isContent ? { from: "text", text: joinTexts(inner) } : this.#decodeSource(block, at);
    const part: Mutable<FilePart> = { type: "file", media, at };
    const title = reader.string(block, "title", at);
    const context = reader.string(block, "context", at);
    const citations = this.#decodeCitationsSwitch(block, at);
    if (title !== undefined) part.title = title;
    if (context !== undefined) part.context = context;
    if (citations !== undefined) part.citations = citations;
    parts.push(this.#finish(part, block, "document"));
    // A document made of blocks has a neutral place for its text; images in it follow as parts of their own.
    for (const image of inner) if (image.type === "image") parts.push(image);
  }

  #decodeCitationsSwitch(block: NodeIndex, at: string): boolean | undefined {
    const citations = this.#reader.object(block, "citations", at);
    return citations === ABSENT ? undefined : this.#reader.boolean(citations, "enabled", `${at}/citations`);
  }

  #decodeSearchResult(block: NodeIndex, at: string): Mutable<SearchResultPart> {
    const content: Part[] = [];
    this.decode(this.#reader.document.member(block, "content"), `${at}/content`, content);
    const part: Mutable<SearchResultPart> = {
      type: "search-result",
      source: this.#reader.requiredString(block, "source", at),
      title: this.#reader.requiredString(block, "title", at),
      content,
      at,
    };
    const citations = this.#decodeCitationsSwitch(block, at);
    if (citations !== undefined) part.citations = citations;
    return part;
  }

  #decodeThinking(block: NodeIndex, at: string): Mutable<ReasoningPart> {
    const text = this.#reader.string(block, "thinking", at) ?? "";
    const signature = this.#reader.string(block, "signature", at) ?? "";
    const texts = lengthOf(text) === 0 ? [] : [text];
    const part: Mutable<ReasoningPart> = { type: "reasoning", form: "summary", texts, at };
    if (lengthOf(signature) === 0) return part;
    const envelope = this.#answeringModel === null ? readEnvelope(signature) : null;
    if (envelope === null) part.signature = this.#ownSignature("a", signature);
    else {
      part.signature = { origin: envelope.origin, model: envelope.model, data: envelope.data };
      if (envelope.text !== undefined) part.texts = envelope.text === "" ? [] : [envelope.text];
    }
    return part;
  }

  #ownSignature(origin: string, data: Text): Signature {
    return this.#answeringModel === null ? { origin, data } : { origin, model: this.#answeringModel, data };
  }

  #decodeToolUse(block: NodeIndex, at: string): Mutable<ToolCallPart> {
    const reader = this.#reader;
    const input = reader.member(block, "input");
    if (input !== ABSENT && !reader.document.isObject(input)) reader.refuse(input, `${at}/input`, "an object");
    return {
      type: "tool-call",
      id: reader.requiredString(block, "id", at),
      name: reader.requiredString(block, "name", at),
      kind: "function",
      arguments:
        input === ABSENT ? { text: "{}", encoded: false } : { text: reader.document.raw(input), encoded: false },
      at,
    };
  }

  #decodeToolResult(block: NodeIndex, at: string): Mutable<ToolResultPart> {
    const reader = this.#reader;
    const content: Part[] = [];
    const node = reader.member(block, "content");
    if (node !== ABSENT) this.decode(node, `${at}/content`, content);
    const part: Mutable<ToolResultPart> = {
      type: "tool-result",
      callId: reader.requiredString(block, "tool_use_id", at),
      content,
      at,
    };
    if (reader.boolean(block, "is_error", at) === true) part.isError = true;
    return part;
  }
}

function joinTexts(parts: readonly Part[]): Text {
  const texts = parts.filter((part) => part.type === "text").map((part) => part.text);
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) return only;
  return texts.map((text) => (isSlice(text) ? decodeText(text) : text)).join("\n");
}

// Writes judged content: one string where it is one plain text, a list of parts otherwise.
import { encodeString, textToString } from "@dragoman/core";
import type { CacheBreakpoint, FilePart, Part, Text } from "@dragoman/core";

import { writeDataUrl } from "../shared/data-url.ts";
import { soundFormat } from "./content-pieces.ts";
import type { ContentPiece } from "./content-pieces.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import type { ChatEncoding } from "./encoding.ts";
import { writeExtensions, writeRaw } from "./raw-json.ts";

/** Writes content; no pieces are the empty string. */
export function writeContent(encoding: ChatEncoding, pieces: readonly ContentPiece[], at: string): void {
  const { writer, profile } = encoding;
  const [only] = pieces;
  if (only === undefined) writer.glue('""');
  else if (pieces.length === 1 && only.texts !== null && isPlain(only)) writeTexts(encoding, only.texts);
  else if (profile.textLists === "join" && pieces.every((piece) => piece.texts !== null))
    writeJoined(encoding, pieces, at);
  else writeList(encoding, pieces);
}

/** Whether a text needs no part of its own. */
function isPlain(piece: ContentPiece): boolean {
  return piece.extensions.length === 0 && piece.mark === undefined;
}

function writeTexts({ writer }: ChatEncoding, texts: readonly Text[]): void {
  const [first] = texts;
  if (texts.length === 1 && first !== undefined) {
    writer.token(first);
    return;
  }
  writer.glue('"');
  for (const text of texts) writer.inside(text);
  writer.glue('"');
}

function writeJoined(encoding: ChatEncoding, pieces: readonly ContentPiece[], at: string): void {
  const { writer, issues } = encoding;
  if (pieces.length > 1) issues.adapt("text_joined", at, "The server takes text content as one string.");
  writer.glue('"');
  pieces.forEach((piece, index) => {
    if (index > 0) writer.glue(String.raw`\n`);
    for (const text of piece.texts ?? []) writer.inside(text);
    for (const extension of piece.extensions)
      issues.drop("unknown_field", extension.at, "Content that is one string has no place for it.");
  });
  writer.glue('"');
}

function writeList(encoding: ChatEncoding, pieces: readonly ContentPiece[]): void {
  const { writer } = encoding;
  pieces.forEach((piece, index) => {
    writer.glue(index === 0 ? "[" : ",");
    if (piece.texts === null) writePart(encoding, piece.part);
    else {
      writer.glue('{"type":"text","text":');
      writeTexts(encoding, piece.texts);
    }
    if (piece.part.type === "opaque") return;
    if (piece.mark !== undefined) {
      writer.glue(`,"prompt_cache_breakpoint":${markJson(piece.mark)}`);
      writeExtensions(writer, nestedIn(piece.part, "prompt_cache_breakpoint"), "prompt_cache_breakpoint.");
      writer.glue("}");
    }
    // What was nested inside the part's own object was written with it.
    writeExtensions(
      writer,
      piece.extensions.filter((extension) => !extension.path.includes(".")),
    );
    writer.glue("}");
  });
  writer.glue("]");
}

/** A mark without its last brace. Times to live of this dialect, in seconds and words. A mark's time is rounded up; beyond the longest, the longest is asked for. */
function markJson({ ttlSeconds }: CacheBreakpoint): string {
  if (ttlSeconds === undefined) return '{"mode":"explicit"';
  return `{"mode":"explicit","ttl":"${ttlSeconds <= 1_800 ? "30m" : "12h"}"`;
}

/** Writes a part without its closing brace; an opaque one whole. */
function writePart(encoding: ChatEncoding, part: Part): void {
  const { writer } = encoding;
  switch (part.type) {
    case "image":
      writer.glue('{"type":"image_url","image_url":{"url":');
      if (part.media.from === "base64") writeDataUrl(writer, mimeOf(part.media.mime), part.media.data);
      else if (part.media.from === "url") writer.token(part.media.url);
      if (part.detail !== undefined && part.detail !== "ultra") writer.glue(`,"detail":"${part.detail}"`);
      writeExtensions(writer, nestedIn(part, "image_url"), "image_url.");
      writer.glue("}");
      return;
    case "audio":
      writer.glue('{"type":"input_audio","input_audio":{"data":');
      if (part.media.from === "base64") writer.token(part.media.data);
      writer.glue(`,"format":${encodeString(part.format ?? soundFormat(part) ?? "wav")}`);
      writeExtensions(writer, nestedIn(part, "input_audio"), "input_audio.");
      writer.glue("}");
      return;
    case "file":
      writer.glue('{"type":"file","file":');
      writeFile(encoding, part);
      return;
    case "refusal":
      writer.glue('{"type":"refusal","refusal":').token(part.text);
      return;
    case "opaque":
      writeRaw(writer, part.raw);
      return;
    case "text":
    case "video":
    case "search-result":
    case "tool-call":
    case "tool-result":
    case "reasoning":
    case "server-tool":
      // Judged before: these are text by now, or not content.
      return;
  }
}

const nestedIn = (part: Part, object: string): NonNullable<Part["extensions"]> =>
  (part.extensions ?? []).filter(({ dialect, path }) => dialect === OPENAI_CHAT && path.startsWith(`${object}.`));

const mimeOf = (mime: Text | undefined): string => (mime === undefined ? "" : textToString(mime));

/** The server wants a name for every document. */
function writeFile({ writer, isOwn }: ChatEncoding, part: FilePart): void {
  const { media } = part;
  if (media.from === "file-ref") writer.glue('{"file_id":').token(media.id);
  else {
    writer.glue('{"file_data":');
    if (media.from === "base64") writeDataUrl(writer, mimeOf(media.mime), media.data);
    else if (media.from === "url") writer.token(media.url);
  }
  const name = part.filename ?? part.title;
  if (name !== undefined) writer.glue(',"filename":').token(name);
  else if (media.from === "base64" && !isOwn) writer.glue(',"filename":"document.pdf"');
  writeExtensions(writer, nestedIn(part, "file"), "file.");
  writer.glue("}");
}

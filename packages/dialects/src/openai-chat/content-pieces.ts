// Message content on its way out: parts are judged once (what the server takes, what becomes text) and then written. A piece of text is
// a list of references that are written into one string token.
import { isEmptyText, isSlice, textToString } from "@dragoman/core";
import type { CacheBreakpoint, Extension, FilePart, ImagePart, Part, SearchResultPart, Text } from "@dragoman/core";

import { isDataUrl } from "../shared/data-url.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import type { ChatEncoding } from "./encoding.ts";

/** One unit of content that the server takes. */
export interface ContentPiece {
  /** Texts of one text part, or null for another part. */
  readonly texts: readonly Text[] | null;
  readonly part: Part;
  readonly mark: CacheBreakpoint | undefined;
  readonly extensions: readonly Extension[];
}

/** Image types that the vendor names for its models. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const SOUND_FORMATS: Readonly<Record<string, string>> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/mp3": "mp3",
  "audio/mpeg": "mp3",
};

/** Judges the parts of a message or a tool result. What the server lacks becomes an issue and is left out. */
export function planContent(encoding: ChatEncoding, parts: readonly Part[]): readonly ContentPiece[] {
  const pieces: ContentPiece[] = [];
  for (const part of parts) {
    const texts = textsOf(encoding, part);
    if (texts === null && !isTaken(encoding, part)) continue;
    pieces.push({
      texts,
      part,
      mark: encoding.takeMark(part.cacheBreakpoint, part.at),
      extensions: encoding.ownExtensions(part.extensions),
    });
  }
  return encoding.isOwn ? pieces : withoutEmptyTexts(encoding, pieces);
}

/** The texts of a part that is text or becomes it; null for others. */
function textsOf(encoding: ChatEncoding, part: Part): readonly Text[] | null {
  if (part.type === "text") return [part.text];
  if (part.type === "search-result") return searchTexts(encoding, part);
  return part.type === "file" && part.media.from === "text" ? documentTexts(encoding, part, part.media.text) : null;
}

function documentTexts(encoding: ChatEncoding, part: FilePart, text: Text): readonly Text[] {
  if (part.citations === true)
    encoding.issues.drop("citations_unsupported", part.at, "Servers of this dialect cite no documents.");
  encoding.issues.adapt("media_adapted", part.at, "A text document is sent as text.");
  const head = headLines([
    ["Title", part.title ?? part.filename],
    ["Context", part.context],
  ]);
  return head === "" ? [text] : [head, text];
}

function searchTexts(encoding: ChatEncoding, part: SearchResultPart): readonly Text[] {
  if (part.citations === true)
    encoding.issues.drop("citations_unsupported", part.at, "Servers of this dialect cite no search results.");
  encoding.issues.adapt("media_adapted", part.at, "A search result is sent as text.");
  const texts: Text[] = [
    headLines([
      ["Title", part.title],
      ["Source", part.source],
    ]),
  ];
  for (const inner of part.content) if (inner.type === "text") texts.push(inner.text);
  return texts;
}

function headLines(lines: readonly (readonly [string, Text | undefined])[]): string {
  const present = lines.flatMap(([name, text]) => (text === undefined ? [] : [`${name}: ${textToString(text)}\n`]));
  return present.length === 0 ? "" : `${present.join("")}\n`;
}

/** Whether the server takes a part that is not text. */
function isTaken(encoding: ChatEncoding, part: Part): boolean {
  const { issues, capabilities } = encoding;
  switch (part.type) {
    case "image":
      return isImageTaken(encoding, part);
    case "audio": {
      if (capabilities.input.audio && soundFormat(part) !== null) return true;
      issues.reject("audio_input_unsupported", part.at, "The server takes no sound of this form.");
      return false;
    }
    case "video":
      issues.reject("video_input_unsupported", part.at, "Servers of this dialect take no video.");
      return false;
    case "file":
      return isFileTaken(encoding, part);
    case "opaque":
      if (part.dialect === OPENAI_CHAT) return true;
      issues.drop("unknown_field", part.at, `Content of the type ${part.blockType} has no place here.`);
      return false;
    case "server-tool":
      issues.reject("server_tool_unsupported", part.at, "What another provider's tools did cannot be replayed here.");
      return false;
    case "refusal":
    case "text":
    case "search-result":
      return true;
    case "tool-call":
    case "tool-result":
    case "reasoning":
      return false;
  }
}

function isImageTaken(encoding: ChatEncoding, part: ImagePart): boolean {
  const { issues, capabilities, profile } = encoding;
  const { media } = part;
  if (part.detail === "ultra")
    issues.drop("image_detail_unsupported", part.at, "This dialect has no such level of detail.");
  if (!capabilities.input.image || profile.images === "none") {
    issues.reject("image_input_unsupported", part.at, "The model takes no images.");
    return false;
  }
  if (media.from === "file-ref" || media.from === "text") {
    issues.reject("file_reference_foreign", part.at, "A file at another provider cannot be named here.");
    return false;
  }
  if (media.from === "url") {
    const isWeb = !isDataUrl(media.url);
    if (encoding.isOwn && !isWeb) return true;
    if (isWeb && capabilities.input.imageUrl && profile.images === "any") return true;
    issues.reject("media_url_unsupported", part.at, "The server loads no images from URLs.");
    return false;
  }
  const mime = media.mime === undefined ? "" : textToString(media.mime).toLowerCase();
  if (encoding.isOwn || IMAGE_TYPES.has(mime)) return true;
  issues.reject("image_input_unsupported", part.at, "Images must be JPEG, PNG, GIF or WebP.");
  return false;
}

function isFileTaken(encoding: ChatEncoding, part: FilePart): boolean {
  const { issues, capabilities } = encoding;
  const { media } = part;
  if (part.citations === true)
    issues.drop("citations_unsupported", part.at, "Servers of this dialect cite no documents.");
  if (media.from === "file-ref") {
    if (media.dialect === OPENAI_CHAT) return true;
    issues.reject("file_reference_foreign", part.at, "A file at another provider cannot be named here.");
    return false;
  }
  if (media.from === "url") {
    if (encoding.isOwn && isDataUrl(media.url)) return true;
    issues.reject("media_url_unsupported", part.at, "The server loads no documents from URLs.");
    return false;
  }
  const mime = media.from === "base64" && media.mime !== undefined ? textToString(media.mime).toLowerCase() : "";
  if (encoding.isOwn || (capabilities.input.pdf && mime === "application/pdf")) return true;
  issues.reject("file_input_unsupported", part.at, "The server takes no documents of this type.");
  return false;
}

/** The format word of sound, or null when the dialect has none for it. */
export function soundFormat(part: Extract<Part, { type: "audio" }>): string | null {
  if (part.media.from !== "base64") return null;
  if (part.format === "wav" || part.format === "mp3") return part.format;
  const mime = part.media.mime === undefined ? "" : textToString(part.media.mime).toLowerCase();
  return SOUND_FORMATS[mime] ?? null;
}

/** Empty texts say nothing beside other parts, and some servers refuse them. */
function withoutEmptyTexts(encoding: ChatEncoding, pieces: readonly ContentPiece[]): readonly ContentPiece[] {
  if (pieces.length < 2) return pieces;
  const kept = pieces.filter((piece) => piece.texts === null || !piece.texts.every((text) => isEmptyText(text)));
  if (kept.length === pieces.length || kept.length === 0) return pieces;
  encoding.issues.adapt("empty_text_removed", pieces[0]?.part.at ?? "", "Empty text beside other content is left out.");
  return kept;
}

/** The first characters of a text, for comparisons. */
export function startsWith(text: Text, prefix: string): boolean {
  if (!isSlice(text)) return text.startsWith(prefix);
  const { bytes, start, end } = text;
  if (end - start < prefix.length) return false;
  for (let index = 0; index < prefix.length; index++)
    if (bytes[start + index] !== prefix.charCodeAt(index)) return false;
  return true;
}

/** Media of requests as this dialect's sources: which types it takes, and where each kind of media goes. */
import {
  isSlice,
  textToString,
  unescapeBytes,
  type FilePart,
  type ImagePart,
  type Media,
  type Part,
  type SegmentWriter,
} from "@dragoman/core";
import { isUtf8 } from "node:buffer";

import { normalizeMime } from "../shared/data-url.ts";
import type { Encoding } from "./encoding.ts";
import { ANTHROPIC } from "./members.ts";

/** Vision documentation, supported image types (read 2026-11-30). */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const PDF = "application/pdf";

const mimeOf = (media: Media): string => {
  const mime = "mime" in media ? media.mime : undefined;
  return mime === undefined ? "" : normalizeMime(textToString(mime).split(";")[0] as string);
};

const writeUrl = (writer: SegmentWriter, media: Extract<Media, { from: "url" }>): void => {
  writer.glue('{"type":"url","url":').token(media.url);
};

const writeBase64 = (writer: SegmentWriter, mime: string, media: Extract<Media, { from: "base64" }>): void => {
  writer.glue(`{"type":"base64","media_type":"${mime}","data":`).token(media.data);
};

/** Own file ids go back to the account that made them; others mean nothing here. */
function writeFileReference(
  writer: SegmentWriter,
  media: Extract<Media, { from: "file-ref" }>,
  at: string,
  encoding: Encoding,
): void {
  if (media.dialect !== ANTHROPIC) {
    encoding.issues.reject("file_reference_foreign", at, "The file lives at another provider.");
    return;
  }
  writer.glue('{"type":"file","file_id":').token(media.id);
}

/** Writes an image's source. */
export function writeImageSource(writer: SegmentWriter, part: ImagePart, encoding: Encoding): void {
  const { issues, target } = encoding;
  const { input } = target.capabilities;
  const { media, at } = part;
  if (part.detail !== undefined && part.detail !== "auto") {
    issues.drop("image_detail_unsupported", at, "Images have no level of detail in this dialect.");
  }
  if (!input.image) issues.reject("image_input_unsupported", at, "The model takes no images.");
  switch (media.from) {
    case "base64": {
      const mime = mimeOf(media);
      if (!IMAGE_TYPES.has(mime))
        issues.reject("image_input_unsupported", at, "The image is not jpeg, png, gif or webp.");
      writeBase64(writer, mime, media);
      break;
    }
    case "url":
      if (!input.imageUrl) issues.reject("media_url_unsupported", at, "The deployment takes no image URLs.");
      writeUrl(writer, media);
      break;
    case "file-ref":
      writeFileReference(writer, media, at, encoding);
      break;
    case "text":
      issues.reject("image_input_unsupported", at, "The image has no data.");
      writer.glue("null");
      return;
  }
  closeSource(writer, part, encoding);
}

/** Writes a document's source. */
export function writeDocumentSource(writer: SegmentWriter, part: FilePart, encoding: Encoding): void {
  const { issues, target } = encoding;
  const { input } = target.capabilities;
  const { media, at } = part;
  switch (media.from) {
    case "text":
      writer.glue('{"type":"text","media_type":"text/plain","data":').token(media.text);
      break;
    case "url":
      if (!input.pdfUrl) issues.reject("media_url_unsupported", at, "The deployment takes no document URLs.");
      writeUrl(writer, media);
      break;
    case "file-ref":
      writeFileReference(writer, media, at, encoding);
      break;
    case "base64":
      writeInlineDocument(writer, media, at, encoding);
      break;
  }
  closeSource(writer, part, encoding);
}

/** Ends a source with what only this dialect has in it. */
function closeSource(writer: SegmentWriter, part: Part, encoding: Encoding): void {
  encoding.writeInner(writer, part.extensions, "source");
  writer.glue("}");
}

function writeInlineDocument(
  writer: SegmentWriter,
  media: Extract<Media, { from: "base64" }>,
  at: string,
  { issues, target }: Encoding,
): void {
  const mime = mimeOf(media);
  if (mime === PDF) {
    if (!target.capabilities.input.pdf)
      issues.reject("file_input_unsupported", at, "The model takes no PDF documents.");
    writeBase64(writer, PDF, media);
    return;
  }
  const text = mime.startsWith("text/") ? decodeBase64Text(media.data) : null;
  if (text === null) {
    issues.reject("file_input_unsupported", at, "The file is neither a PDF nor UTF-8 text.");
    return;
  }
  if (mime !== "text/plain") issues.adapt("media_adapted", at, "The file goes as plain text.");
  writer.glue('{"type":"text","media_type":"text/plain","data":').string(text);
}

function decodeBase64Text(data: Extract<Media, { from: "base64" }>["data"]): string | null {
  const encoded = isSlice(data) ? Buffer.from(unescapeBytes(data)).toString("latin1") : data;
  const bytes = Buffer.from(encoded, "base64");
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}

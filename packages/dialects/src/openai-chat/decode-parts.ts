// Content parts of messages: text, images, sound, files, refusals. Unknown kinds stay whole. References point into the client's body.
import { ABSENT } from "@dragoman/core";
import type { CacheBreakpoint, Extension, Media, NodeIndex, Part, Text } from "@dragoman/core";

import { normalizeMime, splitDataUrl } from "../shared/data-url.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import type { RequestReader } from "./request-reader.ts";

const MARKS: readonly string[] = ["type", "cache_control", "prompt_cache_breakpoint"];
const known = (...names: readonly string[]): ReadonlySet<string> => new Set([...MARKS, ...names]);

const TEXT_MEMBERS = known("text");
const IMAGE_MEMBERS = known("image_url");
const IMAGE_URL_MEMBERS: ReadonlySet<string> = new Set(["url", "detail"]);
const INPUT_AUDIO_MEMBERS: ReadonlySet<string> = new Set(["data", "format"]);
const INNER_FILE_MEMBERS: ReadonlySet<string> = new Set(["file_data", "file_id", "filename"]);
const AUDIO_MEMBERS = known("input_audio");
const FILE_MEMBERS = known("file");
const REFUSAL_MEMBERS = known("refusal");

const DETAILS = ["auto", "low", "high", "original"] as const;
const SOUND_TYPES: Readonly<Record<string, string>> = { wav: "audio/wav", mp3: "audio/mpeg" };

/** Times to live that clients name, in seconds. */
const TTL_SECONDS: Readonly<Record<string, number>> = { "5m": 300, "30m": 1_800, "1h": 3_600, "12h": 43_200 };

/** Decodes message content: a string, or a list of parts. Null and absent content has none. */
export function decodeContent(reader: RequestReader, content: NodeIndex, at: string): Part[] {
  const { document } = reader;
  if (!reader.has(content)) return [];
  if (document.isString(content)) return [{ type: "text", text: document.text(content), at }];
  const parts: Part[] = [];
  if (!document.isArray(content)) {
    reader.fail(`Message content must be a string or an array of parts, not ${reader.kindOf(content)}.`, at);
    return parts;
  }
  let index = 0;
  for (let node = document.firstElement(content); node !== ABSENT; node = document.nextElement(node)) {
    const part = decodePart(reader, node, `${at}/${index}`);
    if (part !== null) parts.push(part);
    index++;
  }
  return parts;
}

function decodePart(reader: RequestReader, node: NodeIndex, at: string): Part | null {
  const { document } = reader;
  if (document.isString(node)) return { type: "text", text: document.text(node), at };
  if (!document.isObject(node)) {
    reader.fail(`A content part must be an object, not ${reader.kindOf(node)}.`, at);
    return null;
  }
  const type = reader.string(document.member(node, "type"), `${at}/type`);
  switch (type) {
    case undefined:
      reader.fail("A content part must have a type.", `${at}/type`);
      return null;
    case "text":
      return decodeText(reader, node, at);
    case "refusal": {
      const text = needText(reader, node, "refusal", at);
      return text === undefined ? null : { type: "refusal", text, ...extras(reader, node, REFUSAL_MEMBERS, at), at };
    }
    case "image_url":
      return decodeImage(reader, node, at);
    case "input_audio":
      return decodeAudio(reader, node, at);
    case "file":
      return decodeFile(reader, node, at);
    default:
      return { type: "opaque", dialect: OPENAI_CHAT, blockType: type, raw: document.raw(node), at };
  }
}

function decodeText(reader: RequestReader, node: NodeIndex, at: string): Part | null {
  const text = needText(reader, node, "text", at);
  return text === undefined ? null : { type: "text", text, ...extras(reader, node, TEXT_MEMBERS, at), at };
}

function needText(reader: RequestReader, node: NodeIndex, name: string, at: string): Text | undefined {
  const member = reader.document.member(node, name);
  const text = reader.text(member, `${at}/${name}`);
  if (text === undefined) reader.fail(`A part of this type must have the member ${name}.`, `${at}/${name}`);
  return text;
}

/** An image is an object with a URL, or, as one vendor's clients write it, the URL itself. */
function decodeImage(reader: RequestReader, node: NodeIndex, at: string): Part | null {
  const { document } = reader;
  const image = document.member(node, "image_url");
  const isPlain = document.isString(image);
  if (!isPlain && !reader.isObject(image, `${at}/image_url`)) {
    reader.fail("An image part must have the member image_url.", `${at}/image_url`);
    return null;
  }
  const url = isPlain ? document.text(image) : needText(reader, image, "url", `${at}/image_url`);
  if (url === undefined) return null;
  const detail = isPlain ? undefined : reader.word(document.member(image, "detail"), `${at}/image_url/detail`, DETAILS);
  const inner = isPlain ? [] : nested(reader, image, IMAGE_URL_MEMBERS, `${at}/image_url`, "image_url");
  return {
    type: "image",
    media: mediaOf(url),
    ...(detail === undefined || detail === "auto" ? null : { detail }),
    ...extras(reader, node, IMAGE_MEMBERS, at, inner),
    at,
  };
}

/** A base64 data URL is split into its pieces; any other URL stays one. */
function mediaOf(url: Text): Media {
  const data = splitDataUrl(url);
  if (data === null) return { from: "url", url };
  return { from: "base64", ...(data.mime === "" ? null : { mime: data.mime }), data: data.data };
}

function decodeAudio(reader: RequestReader, node: NodeIndex, at: string): Part | null {
  const { document } = reader;
  const audio = document.member(node, "input_audio");
  if (!reader.isObject(audio, `${at}/input_audio`)) {
    reader.fail("An audio part must have the member input_audio.", `${at}/input_audio`);
    return null;
  }
  const data = needText(reader, audio, "data", `${at}/input_audio`);
  const format = reader.string(document.member(audio, "format"), `${at}/input_audio/format`);
  if (format === undefined) reader.fail("An audio part must name its format.", `${at}/input_audio/format`);
  if (data === undefined || format === undefined) return null;
  const mime = SOUND_TYPES[format] ?? `audio/${format}`;
  return {
    type: "audio",
    media: { from: "base64", mime: normalizeMime(mime), data },
    format,
    ...extras(
      reader,
      node,
      AUDIO_MEMBERS,
      at,
      nested(reader, audio, INPUT_AUDIO_MEMBERS, `${at}/input_audio`, "input_audio"),
    ),
    at,
  };
}

function decodeFile(reader: RequestReader, node: NodeIndex, at: string): Part | null {
  const { document } = reader;
  const file = document.member(node, "file");
  if (!reader.isObject(file, `${at}/file`)) {
    reader.fail("A file part must have the member file.", `${at}/file`);
    return null;
  }
  const data = reader.text(document.member(file, "file_data"), `${at}/file/file_data`);
  const id = reader.text(document.member(file, "file_id"), `${at}/file/file_id`);
  const filename = reader.text(document.member(file, "filename"), `${at}/file/filename`);
  if (data === undefined && id === undefined) {
    reader.fail("A file part must have file_data or file_id.", `${at}/file`);
    return null;
  }
  const media: Media = data === undefined ? { from: "file-ref", dialect: OPENAI_CHAT, id: id as Text } : mediaOf(data);
  return {
    type: "file",
    media,
    ...(filename === undefined ? null : { filename }),
    ...extras(reader, node, FILE_MEMBERS, at, nested(reader, file, INNER_FILE_MEMBERS, `${at}/file`, "file")),
    at,
  };
}

/** What a part may carry beside its content: a cache mark, and members that only this dialect has. */
function extras(
  reader: RequestReader,
  node: NodeIndex,
  members: ReadonlySet<string>,
  at: string,
  inner: readonly Extension[] = [],
): { readonly cacheBreakpoint?: CacheBreakpoint; readonly extensions?: readonly Extension[] } {
  if (reader.document.count(node) === 2 && inner.length === 0) return NO_EXTRAS;
  const cacheBreakpoint = decodeBreakpoint(reader, node, at);
  const inMark = cacheBreakpoint === null ? [] : markExtensions(reader, node, at);
  const extensions = [...inner, ...inMark, ...reader.unknownMembers(node, members, at)];
  return {
    ...(cacheBreakpoint === null ? null : { cacheBreakpoint }),
    ...(extensions.length === 0 ? null : { extensions }),
  };
}

const NO_EXTRAS = {};

const MARK_NAMES = ["prompt_cache_breakpoint", "cache_control"] as const;
const MARK_MEMBERS: ReadonlySet<string> = new Set(["mode", "type", "ttl"]);

/** A cache mark in either spelling: this dialect's own, or the one that clients of other vendors' models send. */
export function decodeBreakpoint(reader: RequestReader, node: NodeIndex, at: string): CacheBreakpoint | null {
  const { document } = reader;
  for (const name of MARK_NAMES) {
    const mark = document.member(node, name);
    if (!reader.isObject(mark, `${at}/${name}`)) continue;
    const ttl = reader.string(document.member(mark, "ttl"), `${at}/${name}/ttl`);
    const ttlSeconds = ttl === undefined ? undefined : TTL_SECONDS[ttl];
    if (ttl !== undefined && ttlSeconds === undefined)
      reader.fail(`This must be one of ${Object.keys(TTL_SECONDS).join(", ")}.`, `${at}/${name}/ttl`);
    return ttlSeconds === undefined ? {} : { ttlSeconds };
  }
  return null;
}

/** What only this dialect has inside a mark. */
function markExtensions(reader: RequestReader, node: NodeIndex, at: string): readonly Extension[] {
  const own = reader.document.member(node, MARK_NAMES[0]);
  const name = reader.has(own) ? MARK_NAMES[0] : MARK_NAMES[1];
  return nested(reader, reader.document.member(node, name), MARK_MEMBERS, `${at}/${name}`, MARK_NAMES[0]);
}

function nested(
  reader: RequestReader,
  object: NodeIndex,
  members: ReadonlySet<string>,
  at: string,
  path: string,
): readonly Extension[] {
  return reader
    .unknownMembers(object, members, at)
    .map((extension) => ({ ...extension, path: `${path}.${extension.path}` }));
}

// Data URLs (RFC 2397) as JSON string tokens: split and joined by slices, so that megabytes of base64 are never copied or decoded.
import { isSlice } from "@dragoman/core";
import type { ByteSlice, SegmentWriter, Text } from "@dragoman/core";

/** A base64 data URL in two pieces. `mime` is lower case; `data` references the source. */
export interface DataUrl {
  readonly mime: string;
  readonly data: Text;
}

/** Media types are short; a comma beyond this is not looked for. */
const MAX_HEAD_BYTES = 1_024;

const HEAD = /^data:([^;,]*)((?:;[^;,]*)*);base64,$/i;
const ALIASES: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg" };

/** Lower-cases a media type and replaces spellings that no provider registers. */
export function normalizeMime(mime: string): string {
  const lower = mime.trim().toLowerCase();
  return ALIASES[lower] ?? lower;
}

/** Whether a text starts like a data URL, base64 or not. */
export function isDataUrl(text: Text): boolean {
  return /^data:/i.test(startOf(text, 5));
}

/** Splits a base64 data URL; null for any other text, also for a data URL that is not base64. */
export function splitDataUrl(text: Text): DataUrl | null {
  if (!isDataUrl(text)) return null;
  if (!isSlice(text)) {
    const comma = text.indexOf(",");
    const head = comma === -1 || comma > MAX_HEAD_BYTES ? null : HEAD.exec(text.slice(0, comma + 1));
    return head === null ? null : { mime: normalizeMime(head[1] ?? ""), data: text.slice(comma + 1) };
  }
  const comma = text.bytes.subarray(text.start, Math.min(text.end, text.start + MAX_HEAD_BYTES)).indexOf(0x2c);
  if (comma === -1) return null;
  // A solidus may be escaped (RFC 8259 §7); no other escape occurs in a legal head.
  const source = startOf(text, comma + 1).replaceAll("\\/", "/");
  const head = HEAD.exec(source);
  if (head === null) return null;
  const data: ByteSlice = { bytes: text.bytes, start: text.start + comma + 1, end: text.end };
  return { mime: normalizeMime(head[1] ?? ""), data };
}

/** Writes a base64 data URL as one string token. */
export function writeDataUrl(writer: SegmentWriter, mime: string, data: Text): void {
  writer.glue('"data:').inside(mime).glue(";base64,").inside(data).glue('"');
}

function startOf(text: Text, length: number): string {
  if (!isSlice(text)) return text.slice(0, length);
  const { bytes, start, end } = text;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(length, end - start)).toString("latin1");
}

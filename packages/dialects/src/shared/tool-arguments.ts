// Tool-call arguments in their two forms: JSON text inside a JSON string, and a plain JSON value. Conversions keep the bytes: no number
// is parsed, no white space lost. A JavaScript string is always the decoded JSON text, whatever `encoded` says.
import { encodeString, escapeBytes, isSlice, scanRange, unescapeBytes } from "@dragoman/core";
import type { ArgumentText, ByteSlice, Document, Raw, SegmentWriter, Text } from "@dragoman/core";

/** Arguments as a value: the source text of one JSON object, or why they are none. */
export type ArgumentsValue = { readonly ok: true; readonly raw: ByteSlice } | { readonly ok: false };

const EMPTY_OBJECT: ByteSlice = { bytes: new Uint8Array([0x7b, 0x7d]), start: 0, end: 2 };

/** The UTF-8 bytes of the JSON text, without the escapes of a string around it. A view of the source where that needs no change. */
function argumentBytes(argument: ArgumentText): Uint8Array {
  const text: Text | Raw = argument.text;
  if (typeof text === "string") return Buffer.from(text, "utf8");
  if (!isSlice(text)) return Buffer.from(JSON.stringify(text.value) ?? "null", "utf8");
  return argument.encoded ? unescapeBytes(text) : text.bytes.subarray(text.start, text.end);
}

/** The JSON text as a JavaScript string, for messages and comparisons. */
export function argumentsToText(argument: ArgumentText): string {
  const bytes = argumentBytes(argument);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/**
 * Reads arguments as one JSON object and returns its bytes unchanged. Empty or white text stands for a call without arguments and
 * becomes `{}`; broken JSON and anything that is not an object is refused.
 */
export function argumentsAsValue(argument: ArgumentText): ArgumentsValue {
  const bytes = argumentBytes(argument);
  const start = skipWhite(bytes);
  if (start === bytes.length) return { ok: true, raw: EMPTY_OBJECT };
  const document = argumentDocument(bytes);
  if (document === null || !document.isObject(document.root)) return { ok: false };
  return { ok: true, raw: document.raw(document.root) };
}

/** Writes the arguments as a string token that holds their JSON text. */
export function writeArgumentsAsString(writer: SegmentWriter, argument: ArgumentText): void {
  const text = argument.text;
  if (typeof text === "string") writer.glue(encodeString(text));
  else if (isSlice(text)) writer.token(argument.encoded ? text : escapeBytes(text.bytes, text.start, text.end));
  else writer.glue(encodeString(JSON.stringify(text.value) ?? "null"));
}

function argumentDocument(bytes: Uint8Array): Document | null {
  const result = scanRange(bytes, 0, bytes.length, { duplicates: "last-wins" });
  return result.ok ? result.document : null;
}

function skipWhite(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && isWhite(bytes[at] as number)) at++;
  return at;
}

const isWhite = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

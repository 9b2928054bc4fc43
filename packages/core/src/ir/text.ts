/**
 * References to text and values inside a client's or an upstream's bytes. A reference keeps the whole buffer alive and is
 * valid as long as the owner of those bytes says so; whoever keeps it longer calls `retainText` or `retainRaw`.
 */
import { decodeText, type ByteSlice } from "../json/index.ts";

/** A JSON string's content: the bytes between the quotes in escaped form, or a decoded JavaScript string. */
export type Text = ByteSlice | string;

/** A complete JSON value: its source bytes, or a JavaScript value that was made by a decoder. */
export type Raw = ByteSlice | { readonly value: unknown };

/** A JSON number with its source spelling, or a number made by a decoder. */
export type Num = ByteSlice | number;

const latin1 = (slice: ByteSlice): string =>
  Buffer.from(slice.bytes.buffer, slice.bytes.byteOffset + slice.start, slice.end - slice.start).toString("latin1");

/** Whether a value is a reference into source bytes (and not a decoded value). */
export function isSlice(value: Text | Raw | Num): value is ByteSlice {
  return typeof value === "object" && "bytes" in value;
}

/** Decodes a text to a JavaScript string. Costs a copy; encoders write the reference instead. */
export function textToString(text: Text): string {
  return typeof text === "string" ? text : decodeText(text);
}

/** Decodes a value to JavaScript. Numbers become doubles: use only for small things that are interpreted. */
export function rawToValue(raw: Raw): unknown {
  if (!isSlice(raw)) return raw.value;
  return JSON.parse(
    Buffer.from(raw.bytes.buffer, raw.bytes.byteOffset + raw.start, raw.end - raw.start).toString("utf8"),
  );
}

/** Reads a number reference as a double, for comparisons only; the spelling goes upstream from the reference. */
export function numToNumber(num: Num): number {
  return typeof num === "number" ? num : Number(latin1(num));
}

/** Whether a text is the empty string. */
export function isEmptyText(text: Text): boolean {
  return typeof text === "string" ? text.length === 0 : text.end === text.start;
}

/** About how many bytes a text has: exact for references (escapes counted as written), characters for decoded strings. */
export function textLength(text: Text): number {
  return typeof text === "string" ? text.length : text.end - text.start;
}

/** Whether two texts decode to the same string. */
export function textEquals(left: Text, right: Text): boolean {
  return textToString(left) === textToString(right);
}

const copySlice = (slice: ByteSlice): ByteSlice => {
  // `slice` of a Buffer would be a view of the same memory.
  const bytes = new Uint8Array(slice.bytes.subarray(slice.start, slice.end));
  return { bytes, start: 0, end: bytes.length };
};

/** Copies a text out of a buffer that its owner is about to reuse. */
export function retainText(text: Text): Text {
  return typeof text === "string" ? text : copySlice(text);
}

/** Copies a value out of a buffer that its owner is about to reuse. */
export function retainRaw(raw: Raw): Raw {
  return isSlice(raw) ? copySlice(raw) : raw;
}

// JSON string tokens (RFC 8259 §7): quoting, unquoting, and the same between byte ranges without going through JS strings, for
// JSON carried inside JSON.

import type { ByteSlice, TextSlice } from "./tape.ts";

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const LETTER_U = 0x75;

/** Quotes a string as a JSON string token. A lone surrogate becomes its `\u` escape, so the result is always well-formed UTF-8. */
export function encodeString(value: string): string {
  return JSON.stringify(value);
}

/**
 * Decodes the inside of a valid string token. An escape naming a lone surrogate stays one in the result; whether that is
 * acceptable is the reader's decision (RFC 8259 §8.2).
 */
export function decodeText(text: TextSlice): string {
  const { bytes, start, end } = text;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  const characters = source.toString("utf8");
  if (!source.includes(BACKSLASH)) return characters;
  // The cast holds because a quoted token parses to a string.
  return JSON.parse(`"${characters}"`) as string;
}

/**
 * Decodes the inside of a valid string token into UTF-8 bytes. Without an escape the result is a view of the source and lives as
 * long as that; otherwise it is fresh memory. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD.
 */
export function unescapeBytes(text: TextSlice): Uint8Array {
  const { bytes, start, end } = text;
  const source = bytes.subarray(start, end);
  let escape = source.indexOf(BACKSLASH);
  if (escape === -1) return source;
  // Every escape is longer than what it stands for (6 bytes for at most 3, 12 for 4), so this is enough.
  const out = new Uint8Array(source.length);
  let read = 0;
  let write = 0;
  while (escape !== -1) {
    for (; read < escape; read++) out[write++] = source[read] as number;
    const point = escapePoint(source, escape);
    write = writeCodePoint(out, write, point >= 0xd800 && point <= 0xdfff ? 0xfffd : point);
    read = escape + escapedLength(source, escape, point);
    // Escapes cluster in JSON inside JSON; a look at the next byte saves the search.
    escape = source[read] === BACKSLASH ? read : source.indexOf(BACKSLASH, read);
  }
  out.set(source.subarray(read), write);
  return out.subarray(0, write + source.length - read);
}

/**
 * Escapes UTF-8 bytes so that they can stand between the quotes of a string token. When nothing needs an escape the result is the
 * given range itself; otherwise it is fresh memory. The bytes must be valid UTF-8.
 */
export function escapeBytes(bytes: Uint8Array, start: number, end: number): ByteSlice {
  let extra = 0;
  for (let i = start; i < end; i++) extra += EXTRA_BYTES[bytes[i] as number] as number;
  if (extra === 0) return { bytes, start, end };
  const out = new Uint8Array(end - start + extra);
  let write = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    const length = EXTRA_BYTES[byte] as number;
    if (length === 0) {
      out[write++] = byte;
    } else if (length === 1) {
      out[write++] = BACKSLASH;
      out[write++] = SHORT_ESCAPE[byte] as number;
    } else {
      // \u001f: only controls without a short form come here.
      out[write++] = BACKSLASH;
      out[write++] = LETTER_U;
      out[write++] = 0x30;
      out[write++] = 0x30;
      out[write++] = 0x30 + (byte >> 4);
      out[write++] = HEX_DIGITS[byte & 15] as number;
    }
  }
  return { bytes: out, start: 0, end: out.length };
}

/** The code point that the valid escape at `at` names, two escapes of a surrogate pair taken as one; a lone surrogate is itself. */
export function escapePoint(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1] as number;
  return kind === LETTER_U ? joinSurrogates(bytes, hexUnit(bytes, at + 2), at + 6) : (UNESCAPED[kind] as number);
}

/** Bytes of the escape (or pair of escapes) at `at` that names `point`. */
export function escapedLength(bytes: Uint8Array, at: number, point: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2;
  return point > 0xffff ? 12 : 6;
}

function hexUnit(bytes: Uint8Array, at: number): number {
  return (
    (hexDigit(bytes, at) << 12) |
    (hexDigit(bytes, at + 1) << 8) |
    (hexDigit(bytes, at + 2) << 4) |
    hexDigit(bytes, at + 3)
  );
}

/** The letters' low four bits are 1 to 6, so 9 more gives 10 to 15 in either case. */
function hexDigit(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  return byte < 0x3a ? byte - 0x30 : (byte & 15) + 9;
}

function joinSurrogates(source: Uint8Array, unit: number, next: number): number {
  if (unit < 0xd800 || unit > 0xdbff) return unit;
  const isFollowed = source[next] === BACKSLASH && source[next + 1] === LETTER_U;
  const low = isFollowed ? hexUnit(source, next + 2) : 0;
  if (low < 0xdc00 || low > 0xdfff) return unit;
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

/** Writes a code point in UTF-8, a surrogate in the three bytes it would take; gives the offset after it. */
export function writeCodePoint(out: Uint8Array, at: number, point: number): number {
  if (point < 0x80) {
    out[at] = point;
    return at + 1;
  }
  if (point < 0x800) {
    out[at] = 0xc0 | (point >> 6);
    out[at + 1] = 0x80 | (point & 0x3f);
    return at + 2;
  }
  if (point < 0x10000) {
    out[at] = 0xe0 | (point >> 12);
    out[at + 1] = 0x80 | ((point >> 6) & 0x3f);
    out[at + 2] = 0x80 | (point & 0x3f);
    return at + 3;
  }
  out[at] = 0xf0 | (point >> 18);
  out[at + 1] = 0x80 | ((point >> 12) & 0x3f);
  out[at + 2] = 0x80 | ((point >> 6) & 0x3f);
  out[at + 3] = 0x80 | (point & 0x3f);
  return at + 4;
}

/** RFC 8259 §7: the escapes of one letter, and what they stand for. */
const SHORT_FORMS: readonly (readonly [letter: number, byte: number])[] = [
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
];

const UNESCAPED: Uint8Array = new Uint8Array(256);
const SHORT_ESCAPE: Uint8Array = new Uint8Array(256);
const EXTRA_BYTES: Uint8Array = new Uint8Array(256).fill(5, 0, 0x20);
const HEX_DIGITS: Uint8Array = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

UNESCAPED[0x2f] = 0x2f;
for (const [letter, byte] of SHORT_FORMS) {
  UNESCAPED[letter] = byte;
  SHORT_ESCAPE[byte] = letter;
  EXTRA_BYTES[byte] = 1;
}

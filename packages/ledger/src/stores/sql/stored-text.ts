/**
 * Texts as databases can keep them. PostgreSQL refuses U+0000, and neither it nor SQLite has lone surrogates, but names come from
 * clients and every entry has to be kept. So these characters, and the one that marks them, are written as U+001A and four
 * hexadecimal digits; all other text is stored as it is.
 */
import { createHash } from "node:crypto";

const MARK = "\u001a";
/* eslint-disable no-control-regex -- control characters are what this is about */
const SUSPECT = /[\u0000\u001a\ud800-\udfff]/;
const ESCAPED = /[\u0000\u001a]|\p{Surrogate}/gu;
const MARKED = /\u001a([0-9a-f]{4})/g;
/* eslint-enable no-control-regex */

/** The text as it is stored: different texts are different there, too. */
export function storedText(text: string): string {
  return SUSPECT.test(text) ? text.replace(ESCAPED, escapeCharacter) : text;
}

/** The text that was stored. */
export function originalText(stored: string): string {
  return stored.includes(MARK)
    ? stored.replace(MARKED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : stored;
}

/** Longest text that is a name in an index as it is. PostgreSQL indexes up to 2,700 bytes, and clients choose some of the names. */
const MAX_INDEXED_LENGTH = 400;
const INDEXED_BEGINNING = 100;

/** Whether `indexedText` does not hold the whole text. */
export const isLong = (text: string): boolean => text.length > MAX_INDEXED_LENGTH;

/** The text as a name in an index: of a long one the beginning and the SHA-256. Different texts are different there, too. */
export function indexedText(text: string): string {
  if (!isLong(text)) return storedText(text);
  const digest = createHash("sha256").update(storedText(text)).digest("hex");
  return `${storedText(text.slice(0, INDEXED_BEGINNING))}${MARK}#${digest}`;
}

/** Texts between these two, compared byte by byte, are all of the indexed ones that begin with `beginning`, and maybe others. */
export function indexedRange(beginning: string): readonly [from: string, to: string] {
  // Not within a pair of surrogates, of which a cut one is stored otherwise than a whole one.
  const whole = beginning.slice(0, INDEXED_BEGINNING).replace(/[\ud800-\udbff]$/, "");
  return [storedText(whole), `${storedText(whole)}\u{10ffff}`];
}

const escapeCharacter = (character: string): string => MARK + character.charCodeAt(0).toString(16).padStart(4, "0");

// The grammar of single tokens (RFC 8259 §2, §3, §6, §7): each function says where a token ends or that there is none. Small and
// free of state, so that the engine inlines them into the parse loop.

import { JsonKind } from "./tape.ts";

const LETTER_U = 0x75;

const IS_SPACE: Uint8Array = classTable(" \t\n\r");
const IS_DIGIT: Uint8Array = classTable("0123456789");
const IS_HEX: Uint8Array = classTable("0123456789abcdefABCDEF");
const IS_SHORT_ESCAPE: Uint8Array = classTable('"\\/bfnrt');

function classTable(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Goes from `at` over bytes of a string that need no look, four at a time, and stops at the first quote, backslash or control
 * character, or earlier: at a byte that only looks like one, or where fewer than four bytes are left (`at` itself if need be).
 */
export function stopCandidate(words: Int32Array, wordEnd: number, base: number, at: number): number {
  let word = (base + at) >> 2;
  if (word >= wordEnd) return at;
  // With 0x02 flipped, quotes and bytes below 0x20 are the bytes below 0x21. A subtraction borrows out of a stop byte only, so the
  // lowest flag is exact unless it stems from a byte before `at`, whose own flag is masked off.
  let four = words[word] as number;
  let stops =
    (((four ^ 0x0202_0202) - 0x2121_2121) | ((four ^ 0x5c5c_5c5c) - 0x0101_0101)) &
    ~four &
    0x8080_8080 &
    (-1 << (((base + at) & 3) << 3));
  while (stops === 0 && ++word < wordEnd) {
    four = words[word] as number;
    stops = (((four ^ 0x0202_0202) - 0x2121_2121) | ((four ^ 0x5c5c_5c5c) - 0x0101_0101)) & ~four & 0x8080_8080;
  }
  const at0 = (word << 2) - base;
  return stops === 0 ? at0 : at0 + ((31 - Math.clz32(stops & -stops)) >> 3);
}

/** Offset of the first byte that is no white space (RFC 8259 §2). */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end && IS_SPACE[bytes[i] as number] === 1) i++;
  return i;
}

/** Bytes of the escape at `at`: 2, 6, or 0 when it is none of RFC 8259 §7. */
export function escapeLength(bytes: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end) return 0;
  const kind = bytes[at + 1] as number;
  if (IS_SHORT_ESCAPE[kind] === 1) return 2;
  if (kind !== LETTER_U || at + 6 > end) return 0;
  for (let i = at + 2; i < at + 6; i++) {
    if (IS_HEX[bytes[i] as number] === 0) return 0;
  }
  return 6;
}

/** Offset after the number at `at` (RFC 8259 §6), or the complement of the offset where it stops being one. */
export function numberEnd(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  if (bytes[i] === 0x2d) i++;
  if (i < end && bytes[i] === 0x30) i++;
  else {
    const digits = i;
    while (i < end && IS_DIGIT[bytes[i] as number] === 1) i++;
    if (i === digits) return ~i;
  }
  if (i < end && bytes[i] === 0x2e) {
    const digits = ++i;
    while (i < end && IS_DIGIT[bytes[i] as number] === 1) i++;
    if (i === digits) return ~i;
  }
  if (i < end && ((bytes[i] as number) | 0x20) === 0x65) {
    i++;
    if (i < end && (bytes[i] === 0x2b || bytes[i] === 0x2d)) i++;
    const digits = i;
    while (i < end && IS_DIGIT[bytes[i] as number] === 1) i++;
    if (i === digits) return ~i;
  }
  return i;
}

/** The kind of the literal name at `at` (RFC 8259 §3), or 0. */
export function literalKind(bytes: Uint8Array, at: number, end: number): number {
  if (at + 4 > end) return 0;
  const second = bytes[at + 1];
  const third = bytes[at + 2];
  const fourth = bytes[at + 3];
  switch (bytes[at]) {
    case 0x74:
      return second === 0x72 && third === 0x75 && fourth === 0x65 ? JsonKind.true : 0;
    case 0x6e:
      return second === 0x75 && third === 0x6c && fourth === 0x6c ? JsonKind.null : 0;
    case 0x66: {
      const isFalse = second === 0x61 && third === 0x6c && fourth === 0x73 && at + 5 <= end && bytes[at + 4] === 0x65;
      return isFalse ? JsonKind.false : 0;
    }
    default:
      return 0;
  }
}

// UTF-8 questions of the scanner. Only the error path asks where; the hot path asks `isUtf8` of node:buffer whether.

import { isUtf8 } from "node:buffer";

/** Whether the bytes from `start` to `end` are well-formed UTF-8. */
export function isUtf8Range(bytes: Uint8Array, start: number, end: number): boolean {
  return isUtf8(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
}

/** Offset of the first byte that begins no well-formed UTF-8 sequence (RFC 3629 §4), or -1. */
export function firstInvalidUtf8(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const length = sequenceLength(bytes, at, end);
    if (length === 0) return at;
    at += length;
  }
  return -1;
}

function sequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > end) return 0;
  const second = bytes[at + 1] ?? 0;
  if (second < lowestSecond(first) || second > highestSecond(first)) return 0;
  for (let i = 2; i < length; i++) {
    if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Overlong forms are cut off here (RFC 3629 §4: E0 A0..BF, F0 90..BF). */
function lowestSecond(first: number): number {
  if (first === 0xe0) return 0xa0;
  return first === 0xf0 ? 0x90 : 0x80;
}

/** Surrogates and values above U+10FFFF are cut off here (RFC 3629 §4: ED 80..9F, F4 80..8F). */
function highestSecond(first: number): number {
  if (first === 0xed) return 0x9f;
  return first === 0xf4 ? 0x8f : 0xbf;
}

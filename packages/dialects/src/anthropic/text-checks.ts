/** Questions about texts that are answered from the escaped bytes, without decoding them. */
import { isSlice, type Text } from "@dragoman/core";

const BLANK_ESCAPES = new Set([0x6e, 0x72, 0x74, 0x66]); // \n \r \t \f
const BACKSLASH = 0x5c;

const isBlankByte = (byte: number): boolean => byte === 0x20;

/** Whether a text is empty or only white space: upstreams refuse such text blocks. */
export function isBlankText(text: Text): boolean {
  if (!isSlice(text)) return text.trim() === "";
  const { bytes, start, end } = text;
  let at = start;
  while (at < end) {
    if (isBlankByte(bytes[at] as number)) at += 1;
    else if (bytes[at] === BACKSLASH && BLANK_ESCAPES.has(bytes[at + 1] as number)) at += 2;
    else return false;
  }
  return true;
}

/** Whether a text ends in white space. */
export function endsInWhiteSpace(text: Text): boolean {
  if (!isSlice(text)) return text.trimEnd() !== text;
  const { bytes, start, end } = text;
  if (end === start) return false;
  if (isBlankByte(bytes[end - 1] as number)) return true;
  if (end - start < 2 || !BLANK_ESCAPES.has(bytes[end - 1] as number)) return false;
  // An even run of backslashes is escaped backslashes before a letter.
  let backslashes = 0;
  for (let at = end - 2; at >= start && bytes[at] === BACKSLASH; at--) backslashes += 1;
  return backslashes % 2 === 1;
}

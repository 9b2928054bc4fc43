// Facts about the records of a chat stream that its observer and its decoder share.

/** Alternative answers that a request may ask for (`n` is 1..128). */
export const MAX_CHOICES = 128;

const DONE: readonly number[] = [0x5b, 0x44, 0x4f, 0x4e, 0x45, 0x5d];

/** Whether a record is the terminator `[DONE]`; white space around it is tolerated. */
export function isDoneRecord(bytes: Uint8Array, start: number, end: number): boolean {
  let from = start;
  let to = end;
  while (from < to && bytes[from] === 0x20) from++;
  while (to > from && (bytes[to - 1] as number) <= 0x20) to--;
  if (to - from !== DONE.length) return false;
  for (let index = 0; index < DONE.length; index++) if (bytes[from + index] !== DONE[index]) return false;
  return true;
}

/** Bytes that a decoder or an encoder may hold back per stream; more is a broken stream. */
export const MAX_PENDING_BYTES: number = 4 * 1024 * 1024;

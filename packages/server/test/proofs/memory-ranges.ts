// Which bytes of a source buffer a list of pieces consists of, told by the identity of the memory and not by its content.

/** A half-open range of a source. */
export interface MemoryRange {
  readonly start: number;
  readonly end: number;
}

/** The parts of `source`'s memory that the pieces show, joined where they touch, in order. */
export function rangesIn(source: Uint8Array, pieces: readonly Uint8Array[]): MemoryRange[] {
  const found = pieces
    .filter((piece) => piece.buffer === source.buffer && piece.byteLength > 0)
    .map((piece) => ({
      start: piece.byteOffset - source.byteOffset,
      end: piece.byteOffset - source.byteOffset + piece.byteLength,
    }))
    .toSorted((left, right) => left.start - right.start);
  const joined: MemoryRange[] = [];
  for (const range of found) {
    const last = joined.at(-1);
    if (last !== undefined && range.start <= last.end)
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else joined.push(range);
  }
  return joined;
}

/** Bytes of the pieces that do not lie in the source's memory. */
export function foreignBytes(source: Uint8Array, pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + (piece.buffer === source.buffer ? 0 : piece.byteLength), 0);
}

/** Whether one of the ranges holds all of `[start, end)`. */
export function covers(ranges: readonly MemoryRange[], start: number, end: number): boolean {
  return ranges.some((range) => range.start <= start && end <= range.end);
}

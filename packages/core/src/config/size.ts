/** Sizes of the configuration: a whole number of bytes, or one with a unit. `k` is 1000, `Ki` is 1024 (IEC 80000-13). */

/** Spelling of a size, as the schema states it. */
export const SIZE_PATTERN = "^[1-9][0-9]{0,11}(B|kB|KB|KiB|MB|MiB|GB|GiB)$";

/** Largest size: offsets into one body fit a signed 32-bit integer. */
export const MAX_SIZE_BYTES: number = 2 ** 30;

const UNIT_BYTES: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ["kB", 1000],
  ["KB", 1000],
  ["KiB", 2 ** 10],
  ["MB", 1_000_000],
  ["MiB", 2 ** 20],
  ["GB", 1_000_000_000],
  ["GiB", 2 ** 30],
]);

const READER = new RegExp(SIZE_PATTERN);

/** Bytes of a size; null when it is misspelt, not a positive integer, or larger than `MAX_SIZE_BYTES`. */
export function readSizeBytes(size: string | number): number | null {
  if (typeof size === "number") return Number.isInteger(size) && size > 0 && size <= MAX_SIZE_BYTES ? size : null;
  const unit = READER.exec(size)?.[1];
  if (unit === undefined) return null;
  const bytes = Number(size.slice(0, -unit.length)) * (UNIT_BYTES.get(unit) as number);
  return bytes <= MAX_SIZE_BYTES ? bytes : null;
}

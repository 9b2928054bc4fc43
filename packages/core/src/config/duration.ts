/** Durations of the configuration: a whole number and one unit. Bounded by what a Node timer can wait. */

/** Spelling of a duration, as the schema states it. */
export const DURATION_PATTERN = "^[1-9][0-9]{0,9}(ms|s|m|h|d)$";

/** Longest duration: beyond 2^31 − 1 ms a Node timer fires at once. */
export const MAX_DURATION_MS: number = 2 ** 31 - 1;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

const READER = new RegExp(DURATION_PATTERN);

/** Milliseconds of a duration; null when it is misspelt or longer than `MAX_DURATION_MS`. */
export function readDurationMs(text: string): number | null {
  const unit = READER.exec(text)?.[1];
  if (unit === undefined) return null;
  const milliseconds = Number(text.slice(0, -unit.length)) * (UNIT_MS.get(unit) as number);
  return milliseconds <= MAX_DURATION_MS ? milliseconds : null;
}

/** Days, moments and spans of time as the command line spells them. */

const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z)?$/;
const SPAN = /^(0|[1-9]\d{0,5})([smhd])?$/;
const MS_OF_UNIT: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** Milliseconds since 1970 of a day or a moment in UTC; null when there is no such day. */
export function readMoment(text: string): number | null {
  if (!MOMENT.test(text)) return null;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10)) ? ms : null;
}

/** Milliseconds of `0`, or of a whole number and a unit, e.g. `24h`; null when it is neither. */
export function readSpan(text: string): number | null {
  const [, count = "", unit] = SPAN.exec(text) ?? [];
  if (count === "0") return 0;
  return unit === undefined ? null : Number(count) * (MS_OF_UNIT.get(unit) as number);
}

/** Durations as header fields of vendors spell them: `6m0s`, `1.5s`, `120ms`. */

const DURATION = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;

/** Reads one, in milliseconds. */
export function readDurationMs(text: string): number | undefined {
  const match = DURATION.exec(text.trim());
  if (match === null || match[0] === "") return undefined;
  const [, hours, minutes, seconds, milliseconds] = match;
  return (
    Number(hours ?? 0) * 3_600_000 +
    Number(minutes ?? 0) * 60_000 +
    Number(seconds ?? 0) * 1000 +
    Number(milliseconds ?? 0)
  );
}

/** Writes one, rounded up to a millisecond; what lies in the past is `0s`. Below a second it is in milliseconds. */
export function formatDuration(ms: number): string {
  const total = Math.ceil(ms);
  if (!(total > 0)) return "0s";
  if (total < 1000) return `${total}ms`;
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor((total % 3_600_000) / 60_000);
  const seconds = `${(total % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Windows aligned to the UTC calendar. Weeks begin on Monday (ISO 8601). */

/** A unit of the calendar. */
export type CalendarUnit = "minute" | "hour" | "day" | "week" | "month";

/** Beginning and end of a window in milliseconds since 1970; the end belongs to the next one. */
export interface WindowBounds {
  readonly startMs: number;
  readonly endMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The window of a time. */
export function calendarWindow(unit: CalendarUnit, nowMs: number): WindowBounds {
  switch (unit) {
    case "minute":
      return evenWindow(nowMs, MINUTE_MS, 0);
    case "hour":
      return evenWindow(nowMs, HOUR_MS, 0);
    case "day":
      return evenWindow(nowMs, DAY_MS, 0);
    case "week":
      // 1970-01-01 was a Thursday: the first Monday is four days later.
      return evenWindow(nowMs, 7 * DAY_MS, 4 * DAY_MS);
    case "month": {
      const date = new Date(nowMs);
      const year = date.getUTCFullYear();
      const month = date.getUTCMonth();
      return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
    }
  }
}

function evenWindow(nowMs: number, lengthMs: number, offsetMs: number): WindowBounds {
  const startMs = Math.floor((nowMs - offsetMs) / lengthMs) * lengthMs + offsetMs;
  return { startMs, endMs: startMs + lengthMs };
}

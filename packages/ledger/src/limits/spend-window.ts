/**
 * What was spent in the current window of one limit. Invariants: `spent` is never negative and never forgets an amount before its
 * window has passed; a clock that goes back changes nothing. `roll` comes before `spent` is read or added to.
 */
import { calendarWindow, type CalendarUnit } from "./calendar.ts";
import type { WindowSpec } from "./limit-config.ts";

/** A window that adds up. */
export interface SpendWindow {
  readonly spent: number;
  /** Beginning of the stretch for which an alert is raised once. */
  readonly startMs: number;
  readonly endMs: number;
  /** Moves the window to a time. */
  roll(nowMs: number): void;
  /** Books an amount at the time of the last `roll`. */
  add(amount: number): void;
  /** Books an amount of an earlier time, unless that time has left the window. */
  addAt(amount: number, atMs: number): void;
  /** How long after `nowMs` at least `excess` of what was spent has left the window. */
  waitMs(nowMs: number, excess: number): number;
}

/** Makes an empty window. */
export function createWindow(spec: WindowSpec): SpendWindow {
  return spec.kind === "calendar" ? new CalendarWindow(spec.unit) : new SlidingWindow(spec.lengthMs);
}

/** Adds up to the next minute, hour, day, week or month. */
export class CalendarWindow implements SpendWindow {
  spent = 0;
  startMs = 0;
  endMs = 0;
  readonly #unit: CalendarUnit;

  constructor(unit: CalendarUnit) {
    this.#unit = unit;
  }

  roll(nowMs: number): void {
    if (nowMs < this.endMs) return;
    const { startMs, endMs } = calendarWindow(this.#unit, nowMs);
    this.startMs = startMs;
    this.endMs = endMs;
    this.spent = 0;
  }

  add(amount: number): void {
    this.spent = Math.min(this.spent + amount, Number.MAX_SAFE_INTEGER);
  }

  addAt(amount: number, atMs: number): void {
    if (atMs >= this.startMs) this.add(amount);
  }

  waitMs(nowMs: number): number {
    return Math.max(this.endMs - nowMs, 1);
  }
}

/** Parts of a sliding window. One more is kept, so that the part which the window's edge cuts still counts whole. */
const PARTS = 60;
const KEPT = PARTS + 1;

/** Adds up the last so many milliseconds, in sixty parts: an amount leaves at the latest one sixtieth of the window too late, never too early. */
export class SlidingWindow implements SpendWindow {
  spent = 0;
  startMs = 0;
  endMs = 0;
  readonly #lengthMs: number;
  readonly #partMs: number;
  readonly #parts = new Float64Array(KEPT);
  /** Number of the newest part, counted from 1970. */
  #newest = -1;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#partMs = lengthMs / PARTS;
  }

  roll(nowMs: number): void {
    const part = Math.floor(nowMs / this.#partMs);
    if (part <= this.#newest) return;
    if (nowMs >= this.endMs) {
      this.startMs = Math.floor(nowMs / this.#lengthMs) * this.#lengthMs;
      this.endMs = this.startMs + this.#lengthMs;
    }
    if (part - this.#newest >= KEPT) {
      this.#parts.fill(0);
      this.spent = 0;
    } else
      for (let passed = this.#newest + 1; passed <= part; passed += 1) {
        const slot = passed % KEPT;
        this.spent -= this.#parts[slot] as number;
        this.#parts[slot] = 0;
      }
    this.#newest = part;
  }

  add(amount: number): void {
    this.#addTo(this.#newest, amount);
  }

  addAt(amount: number, atMs: number): void {
    const part = Math.min(Math.floor(atMs / this.#partMs), this.#newest);
    if (part > this.#newest - KEPT) this.#addTo(part, amount);
  }

  waitMs(nowMs: number, excess: number): number {
    let freed = 0;
    let part = this.#newest - PARTS;
    for (; part < this.#newest; part += 1) {
      freed += this.#parts[((part % KEPT) + KEPT) % KEPT] as number;
      if (freed >= excess) break;
    }
    return Math.max(Math.ceil((part + KEPT) * this.#partMs - nowMs), 1);
  }

  #addTo(part: number, amount: number): void {
    // The sum stays an exact integer, so that taking parts away again ends at 0.
    const added = Math.min(amount, Number.MAX_SAFE_INTEGER - this.spent);
    const slot = part % KEPT;
    this.#parts[slot] = (this.#parts[slot] as number) + added;
    this.spent += added;
  }
}

// Many timed actions on one precise alarm: a binary heap by time. Actions never run early; ties run in the order they were added.
import type { Alarm, CreateAlarm } from "../clock/ticker.ts";

interface Entry {
  readonly atUs: number;
  readonly order: number;
  readonly action: () => void;
}

/** Runs actions at points of the monotonic clock. */
export class Agenda {
  readonly #heap: Entry[] = [];
  readonly #now: () => number;
  readonly #alarm: Alarm;
  #order = 0;
  #wakeAtUs = Number.POSITIVE_INFINITY;

  constructor(now: () => number, createAlarm: CreateAlarm) {
    this.#now = now;
    this.#alarm = createAlarm(() => this.#run());
  }

  /** Runs `action` once `atUs` is reached. */
  add(atUs: number, action: () => void): void {
    const entry = { atUs, order: this.#order, action };
    this.#order += 1;
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    this.#arm();
  }

  close(): void {
    this.#heap.length = 0;
    this.#alarm.close();
  }

  #run(): void {
    this.#wakeAtUs = Number.POSITIVE_INFINITY;
    for (let first = this.#heap[0]; first !== undefined && first.atUs <= this.#now(); first = this.#heap[0]) {
      this.#removeFirst();
      first.action();
    }
    this.#arm();
  }

  /** Replaces the alarm's deadline only by an earlier one: every replacement costs a wake-up of its thread. */
  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || first.atUs >= this.#wakeAtUs) return;
    this.#wakeAtUs = first.atUs;
    this.#alarm.wakeAt(first.atUs);
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfEarlier(at, parent)) return;
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = right < this.#heap.length && this.#isEarlier(right, left) ? right : left;
      if (child >= this.#heap.length || !this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  #isEarlier(left: number, right: number): boolean {
    const one = this.#heap[left];
    const other = this.#heap[right];
    if (one === undefined || other === undefined) return false;
    return one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order);
  }

  #swapIfEarlier(left: number, right: number): boolean {
    const one = this.#heap[left];
    const other = this.#heap[right];
    if (one === undefined || other === undefined || !this.#isEarlier(left, right)) return false;
    this.#heap[left] = other;
    this.#heap[right] = one;
    return true;
  }
}

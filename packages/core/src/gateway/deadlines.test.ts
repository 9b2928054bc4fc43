import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { Deadline, Deadlines, type DeadlineName } from "./deadlines.ts";
import type { Clock, Timer } from "./ports.ts";

/** A clock whose time moves only in `advance`, which fires what is due in order. Counts the timers it was asked for. */
class FakeClock implements Clock {
  scheduled = 0;
  readonly #timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }
  monotonicMs(): number {
    return this.#nowMs;
  }
  get pending(): number {
    return this.#timers.length;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    if (!Number.isInteger(delayMs) || delayMs < 0) throw new RangeError(`A timer cannot wait ${delayMs} ms.`);
    this.scheduled += 1;
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => this.#remove(timer) };
  }

  advance(byMs: number): void {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((left, right) => left.atMs - right.atMs)[0];
      if (due === undefined) break;
      this.#remove(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.callback();
    }
    this.#nowMs = endMs;
  }

  #remove(timer: { readonly atMs: number }): void {
    const index = this.#timers.findIndex((each) => each === timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }
}

interface Fixture {
  readonly clock: FakeClock;
  readonly deadlines: Deadlines;
  readonly due: (readonly [DeadlineName, number])[];
}

function makeFixture(onDue?: (name: DeadlineName, deadlines: Deadlines) => void): Fixture {
  const clock = new FakeClock();
  const due: (readonly [DeadlineName, number])[] = [];
  const deadlines: Deadlines = new Deadlines(clock, (name) => {
    due.push([name, clock.nowMs()]);
    onDue?.(name, deadlines);
  });
  return { clock, deadlines, due };
}

describe("Deadlines", () => {
  it("fires each deadline once, when it is due", () => {
    const { clock, deadlines, due } = makeFixture();
    deadlines.set(Deadline.total, 100);
    deadlines.set(Deadline.life, 10);
    clock.advance(9);
    expect(due).toEqual([]);
    clock.advance(1_000);
    expect(due).toEqual([
      [Deadline.life, 10],
      [Deadline.total, 100],
    ]);
    expect(deadlines.isSet(Deadline.life)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("takes no new timer to move a deadline later", () => {
    const { clock, deadlines, due } = makeFixture();
    deadlines.set(Deadline.life, 10);
    for (let step = 0; step < 1_000; step++) deadlines.set(Deadline.life, 10 + step);
    expect(clock.scheduled).toBe(1);
    clock.advance(1_008);
    expect(due).toEqual([]);
    clock.advance(1);
    expect(due).toEqual([[Deadline.life, 1_009]]);
    expect(clock.scheduled).toBe(2);
  });

  it("has one timer at most, also when a deadline moves nearer", () => {
    const { clock, deadlines, due } = makeFixture();
    deadlines.set(Deadline.total, 1_000);
    deadlines.set(Deadline.life, 500);
    deadlines.set(Deadline.life, 20);
    expect(clock.pending).toBe(1);
    clock.advance(20);
    expect(due).toEqual([[Deadline.life, 20]]);
  });

  it("never fires what was cleared, or set to infinity", () => {
    const { clock, deadlines, due } = makeFixture();
    deadlines.set(Deadline.life, 10);
    deadlines.set(Deadline.stall, 10);
    deadlines.clear(Deadline.life);
    deadlines.set(Deadline.stall, Number.POSITIVE_INFINITY);
    clock.advance(100);
    expect(due).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("may be set anew from its own call", () => {
    const { clock, deadlines, due } = makeFixture((name, all) => all.set(name, 15));
    deadlines.set(Deadline.keepAlive, 15);
    clock.advance(45);
    expect(due.map(([, atMs]) => atMs)).toEqual([15, 30, 45]);
    deadlines.stop();
  });

  it("is silent after stop, also for what is due in the same moment", () => {
    const { clock, deadlines, due } = makeFixture((_name, all) => all.stop());
    deadlines.set(Deadline.total, 10);
    deadlines.set(Deadline.life, 10);
    clock.advance(10);
    expect(due).toEqual([[Deadline.total, 10]]);
    deadlines.set(Deadline.stall, 1);
    expect(deadlines.isSet(Deadline.stall)).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("fires every deadline exactly when a table of due times says so (model)", () => {
    const name = fc.integer({ min: 0, max: 6 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant("set" as const), name, delayMs: fc.nat(60) }),
      fc.record({ kind: fc.constant("clear" as const), name, delayMs: fc.constant(0) }),
      fc.record({ kind: fc.constant("advance" as const), name: fc.constant(0), delayMs: fc.nat(40) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { clock, deadlines, due } = makeFixture();
        const table = new Map<number, number>();
        const expected: (readonly [number, number])[] = [];
        for (const { kind, name: which, delayMs } of steps) {
          if (kind === "set") {
            deadlines.set(which as DeadlineName, delayMs);
            table.set(which, clock.nowMs() + delayMs);
          } else if (kind === "clear") {
            deadlines.clear(which as DeadlineName);
            table.delete(which);
          } else {
            clock.advance(delayMs);
            for (const [each, atMs] of [...table].sort((left, right) => left[1] - right[1] || left[0] - right[0])) {
              if (atMs > clock.nowMs()) continue;
              expected.push([each, atMs]);
              table.delete(each);
            }
          }
          expect(clock.pending).toBeLessThanOrEqual(1);
        }
        expect(due).toEqual(expected);
        deadlines.stop();
        expect(clock.pending).toBe(0);
      }),
    );
  });

  it("does not fire early on a clock with a fraction", () => {
    let nowMs = 0.7;
    let fire: (() => void) | null = null;
    const clock: Clock = {
      nowMs: () => Math.floor(nowMs),
      monotonicMs: () => nowMs,
      schedule: (delayMs, callback) => {
        expect(delayMs).toBeGreaterThanOrEqual(1);
        fire = callback;
        return { cancel: () => undefined };
      },
    };
    const due: number[] = [];
    const deadlines = new Deadlines(clock, () => due.push(nowMs));
    deadlines.set(Deadline.life, 10);
    nowMs = 10.69;
    (fire as (() => void) | null)?.();
    expect(due).toEqual([]);
    nowMs = 10.7;
    (fire as (() => void) | null)?.();
    expect(due).toEqual([10.7]);
  });
});

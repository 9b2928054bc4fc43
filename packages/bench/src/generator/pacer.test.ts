// The open loop on virtual time, against scripted targets whose behaviour is known exactly.
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { decodeHistogram, loadHistograms } from "../histogram/histogram.ts";
import type { PercentilesUs } from "../contract/record.ts";
import type { Tally } from "./load-spec.ts";
import { MIN_WAKE_GAP_US, Pacer } from "./pacer.ts";
import { dueBetween, dueUs, requestIndex } from "./schedule.ts";
import { TallySheet } from "./tally-sheet.ts";
import { TestClock } from "./test-clock.ts";

beforeAll(loadHistograms);

const SECOND_US = 1_000_000;

interface Simulation {
  readonly rps: number;
  readonly seconds: number;
  /** When the answer to a request that arrives at `atUs` is complete. */
  readonly answerAt: (atUs: number) => number;
  readonly latenessUs?: (deadlineUs: number) => number;
}

function simulate({ rps, seconds, answerAt, latenessUs }: Simulation): { tally: Tally; latency: PercentilesUs } {
  const clock = new TestClock();
  if (latenessUs !== undefined) clock.latenessUs = latenessUs;
  const times = { startUs: 0, windowStartUs: 0, windowEndUs: seconds * SECOND_US };
  const sheet = new TallySheet(times);
  new Pacer({
    schedule: { startUs: 0, rps, worker: 0, workers: 1 },
    endUs: times.windowEndUs,
    now: clock.now,
    createAlarm: clock.createAlarm,
    send: (_, due, late) => {
      sheet.offer(due, late);
      const atUs = answerAt(clock.nowUs);
      clock.at(atUs, () => sheet.end(due, clock.nowUs, "succeeded", 200));
    },
    onFinished: () => undefined,
  });
  clock.run();
  const tally = sheet.close();
  const histogram = decodeHistogram(tally.latency);
  const latency = histogram.percentiles();
  histogram.destroy();
  return { tally, latency };
}

describe("open loop", () => {
  it("offers exactly the scheduled number and is never late on an exact clock", () => {
    const { tally } = simulate({ rps: 1000, seconds: 2, answerAt: (atUs) => atUs + 300 });
    expect(tally).toMatchObject({ offered: 2000, succeeded: 2000, lateSends: 0 });
    expect(tally.maxLateUs).toBeLessThanOrEqual(MIN_WAKE_GAP_US + 1);
  });

  it("shows the queue behind a stall of one second: no coordinated omission", () => {
    const stalled = (atUs: number): number => (atUs >= SECOND_US && atUs < 2 * SECOND_US ? 2 * SECOND_US : atUs) + 1000;
    const { tally, latency } = simulate({ rps: 100, seconds: 10, answerAt: stalled });
    // A tenth of all requests met the stall, evenly spread over its length.
    expect(tally.succeeded).toBe(1000);
    expect(latency.p50).toBeLessThan(1100);
    expect(latency.p99).toBeGreaterThan(850_000);
    expect(latency.p99).toBeLessThan(950_000);
    expect(latency.max).toBeGreaterThan(990_000);
  });

  it("measures a known delay of 5 ms within a tenth", () => {
    const direct = simulate({ rps: 500, seconds: 4, answerAt: (atUs) => atUs + 250 });
    const delayed = simulate({ rps: 500, seconds: 4, answerAt: (atUs) => atUs + 5250 });
    for (const percentile of ["p50", "p99", "p999"] as const) {
      const overheadUs = delayed.latency[percentile] - direct.latency[percentile];
      expect(overheadUs).toBeGreaterThan(4500);
      expect(overheadUs).toBeLessThan(5500);
    }
  });

  it("counts the backlog of a generator that slept, and charges the wait to the latency", () => {
    const slept = (deadlineUs: number): number =>
      deadlineUs >= SECOND_US && deadlineUs < SECOND_US + 10_000 ? 50_000 : 0;
    const { tally, latency } = simulate({ rps: 1000, seconds: 2, answerAt: (atUs) => atUs + 100, latenessUs: slept });
    expect(tally.offered).toBe(2000);
    expect(tally.lateSends).toBeGreaterThan(45);
    expect(tally.lateSends).toBeLessThan(65);
    expect(tally.maxLateUs).toBeGreaterThanOrEqual(50_000);
    expect(latency.max).toBeGreaterThan(49_000);
  });

  it("does not slow down for a target that never answers in time", () => {
    const { tally } = simulate({ rps: 2000, seconds: 1, answerAt: (atUs) => atUs + 60 * SECOND_US });
    expect(tally).toMatchObject({ offered: 2000, succeededInWindow: 0, lateSends: 0 });
  });
});

describe("schedule", () => {
  it("deals every request to exactly one worker, in order, without drift", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 50_000 }), (workers, rps) => {
        const last = 10_000 * workers;
        const indexes = Array.from({ length: workers }, (_, worker) =>
          requestIndex({ startUs: 0, rps, worker, workers }, 10_000),
        );
        expect(indexes).toEqual(Array.from({ length: workers }, (_, worker) => last + worker));
        expect(dueUs({ startUs: 7, rps, worker: 0, workers }, 10_000)).toBeCloseTo(7 + (last * SECOND_US) / rps, 3);
      }),
    );
  });

  it("counts what is due between two times like the sum of its parts", () => {
    const us = fc.integer({ min: 0, max: 20 * SECOND_US });
    fc.assert(
      fc.property(us, us, us, fc.integer({ min: 1, max: 20_000 }), (one, two, three, rps) => {
        const [from, middle, until] = [one, two, three].toSorted((left, right) => left - right) as [
          number,
          number,
          number,
        ];
        const schedule = { startUs: SECOND_US, rps, worker: 0, workers: 1 };
        expect(dueBetween(schedule, from, middle) + dueBetween(schedule, middle, until)).toBe(
          dueBetween(schedule, from, until),
        );
      }),
    );
  });
});

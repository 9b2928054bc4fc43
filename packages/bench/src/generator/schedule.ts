// When requests are due: evenly spaced at a fixed rate, dealt round-robin to the workers. Pure arithmetic on indexes, so that no
// rounding error accumulates over a run.

/** A fixed-rate schedule as one worker sees it. */
export interface Schedule {
  readonly startUs: number;
  readonly rps: number;
  readonly worker: number;
  readonly workers: number;
}

/** Index, over all workers, of the `turn`-th request of this worker. */
export function requestIndex(schedule: Schedule, turn: number): number {
  return turn * schedule.workers + schedule.worker;
}

/** Scheduled time of the `turn`-th request of this worker, µs on the monotonic clock. */
export function dueUs(schedule: Schedule, turn: number): number {
  return schedule.startUs + (requestIndex(schedule, turn) * 1_000_000) / schedule.rps;
}

/** How many requests all workers together have due in `[fromUs, untilUs)`. */
export function dueBetween(schedule: Schedule, fromUs: number, untilUs: number): number {
  const indexAt = (us: number): number => Math.max(0, Math.ceil(((us - schedule.startUs) * schedule.rps) / 1_000_000));
  return Math.max(0, indexAt(untilUs) - indexAt(fromUs));
}

// The clock of every measurement: CLOCK_MONOTONIC in µs, which all threads and processes of a host share.

/** Reads the monotonic clock in µs. The origin is arbitrary but the same for every process of the host. */
export function monotonicUs(): number {
  return performance.now() * 1000 + ORIGIN_US;
}

/** `performance.now()` counts from a moment of its own in each thread; this is the way back to the shared origin. */
const ORIGIN_US = readOriginUs();

function readOriginUs(): number {
  let best = Number.POSITIVE_INFINITY;
  let originUs = 0;
  // The tightest of a few bracketed readings, so that a preemption between the two clocks does not become a constant error.
  for (let attempt = 0; attempt < 16; attempt += 1) {
    const before = performance.now();
    const shared = Number(process.hrtime.bigint()) / 1000;
    const after = performance.now();
    if (after - before < best) {
      best = after - before;
      originUs = shared - ((before + after) / 2) * 1000;
    }
  }
  return originUs;
}

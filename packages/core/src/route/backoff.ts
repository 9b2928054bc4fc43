/** Pauses between attempts on one deployment: full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter", 2015). */

/** First pause bound and largest pause, in milliseconds. */
export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Pauses where nothing else is configured. */
export const DEFAULT_BACKOFF: BackoffLimits = { baseMs: 200, maxMs: 5_000 };

/**
 * Milliseconds to wait before attempt `retry` (1 = the first repetition). An upstream's own `retryAfterMs` is a lower bound.
 * `random` is uniform in [0, 1).
 */
export function backoffMs(
  retry: number,
  random: number,
  retryAfterMs: number | undefined,
  limits: BackoffLimits,
): number {
  const ceiling = Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(retry - 1, 30));
  return Math.max(Math.floor(random * ceiling), retryAfterMs ?? 0);
}

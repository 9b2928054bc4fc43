import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { backoffMs, DEFAULT_BACKOFF } from "./backoff.ts";

describe("backoffMs", () => {
  it.each([
    { retry: 1, random: 0.999, retryAfterMs: undefined, expected: 199 },
    { retry: 1, random: 0, retryAfterMs: undefined, expected: 0 },
    { retry: 2, random: 0.5, retryAfterMs: undefined, expected: 200 },
    { retry: 3, random: 0.5, retryAfterMs: undefined, expected: 400 },
    { retry: 6, random: 0.5, retryAfterMs: undefined, expected: 2_500 },
    { retry: 1_000, random: 0.5, retryAfterMs: undefined, expected: 2_500 },
    { retry: 1, random: 0.5, retryAfterMs: 3_000, expected: 3_000 },
    { retry: 1, random: 0.5, retryAfterMs: 50, expected: 100 },
    { retry: 1, random: 0, retryAfterMs: 0, expected: 0 },
  ])(
    "waits $expected ms before retry $retry at $random with retry-after $retryAfterMs",
    ({ retry, random, retryAfterMs, expected }) => {
      expect(backoffMs(retry, random, retryAfterMs, DEFAULT_BACKOFF)).toBe(expected);
    },
  );

  it("stays within its doubling, capped ceiling and never below what the upstream asks (property)", () => {
    const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        anyRandom,
        fc.option(fc.nat(60_000), { nil: undefined }),
        fc.nat(1_000),
        fc.nat(20_000),
        (retry, random, retryAfterMs, baseMs, maxMs) => {
          const waitMs = backoffMs(retry, random, retryAfterMs, { baseMs, maxMs });
          expect(Number.isInteger(waitMs)).toBe(true);
          expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
          expect(waitMs).toBeLessThanOrEqual(
            Math.max(retryAfterMs ?? 0, Math.min(maxMs, baseMs * 2 ** Math.min(retry - 1, 30))),
          );
        },
      ),
    );
  });
});

// Laws of what a client dialect tells of its caller's limits: well-formed fields, each once, that tell of no limit that is not there.
import type { ClientDialect, LimitDimension, LimitStanding } from "@dragoman/core";
import fc from "fast-check";

import { ensure, forAll, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";

const DIMENSIONS: readonly LimitDimension[] = ["requests", "tokens", "inputTokens", "outputTokens"];
const NOW_MS = 1_780_000_000_000;

const anyStanding: fc.Arbitrary<LimitStanding> = fc
  .record({
    dimension: fc.constantFrom(...DIMENSIONS),
    limit: fc.nat(Number.MAX_SAFE_INTEGER),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    waitMs: fc.integer({ min: -1000, max: 31 * 86_400_000 }),
  })
  .map(({ dimension, limit, share, waitMs }) => ({
    dimension,
    limit,
    remaining: Math.floor(limit * share),
    resetMs: NOW_MS + waitMs,
  }));

/** Laws of one client dialect's rate-limit headers. */
export function limitLaws(client: ClientDialect, options: LawOptions): readonly Law[] {
  return [
    forAll(
      `${client.id}: what limits leave is told in well-formed fields, each once`,
      fc.uniqueArray(anyStanding, { selector: ({ dimension }) => dimension }),
      options,
      (standings) => {
        const headers = client.encodeRateLimits(standings, NOW_MS);
        ensure(headers.length % 2 === 0, () => "a header has no value");
        const names = headers.filter((_, index) => index % 2 === 0);
        requireSame(new Set(names).size, names.length, "the number of different fields");
        for (const name of names) ensure(/^[a-z0-9-]+$/.test(name), () => `the name ${name} is not plain`);
        for (const value of headers.filter((_, index) => index % 2 === 1))
          ensure(/^[\x21-\x7e]+$/.test(value), () => `the value ${JSON.stringify(value)} is not plain`);
        if (standings.length === 0) requireSame(headers.length, 0, "the fields of a caller without limits");
        for (const { dimension, limit } of standings)
          if (dimension === "requests")
            ensure(headers.includes(String(limit)), () => "a limit of requests is not told");
      },
    ),
  ];
}

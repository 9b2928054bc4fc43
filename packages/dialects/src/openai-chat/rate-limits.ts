// What a caller's limits leave, in the header fields that this dialect's clients read. It has no fields for input and output apart.
import type { HeaderList, LimitStanding } from "@dragoman/core";

import { formatDuration } from "../shared/duration.ts";

/** Three fields for requests and three for tokens; nothing for what the vendor has no name for. */
export function encodeRateLimits(standings: readonly LimitStanding[], nowMs: number): HeaderList {
  const headers: string[] = [];
  for (const { dimension, limit, remaining, resetMs } of standings) {
    if (dimension !== "requests" && dimension !== "tokens") continue;
    headers.push(
      `x-ratelimit-limit-${dimension}`,
      String(limit),
      `x-ratelimit-remaining-${dimension}`,
      String(remaining),
      `x-ratelimit-reset-${dimension}`,
      formatDuration(resetMs - nowMs),
    );
  }
  return headers;
}

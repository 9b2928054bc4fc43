/** What a caller's limits leave, in the header fields that this dialect's clients read. */
import type { HeaderList, LimitDimension, LimitStanding } from "@dragoman/core";

const FIELDS: Readonly<Record<LimitDimension, string>> = {
  requests: "anthropic-ratelimit-requests",
  tokens: "anthropic-ratelimit-tokens",
  inputTokens: "anthropic-ratelimit-input-tokens",
  outputTokens: "anthropic-ratelimit-output-tokens",
};

/** Three fields for each counted thing. */
export function encodeRateLimits(standings: readonly LimitStanding[]): HeaderList {
  const headers: string[] = [];
  for (const { dimension, limit, remaining, resetMs } of standings) {
    const field = FIELDS[dimension];
    headers.push(`${field}-limit`, String(limit), `${field}-remaining`, String(remaining));
    headers.push(`${field}-reset`, formatMoment(resetMs));
  }
  return headers;
}

/** RFC 3339 in whole seconds, rounded up: whoever comes back then does not come too early. */
function formatMoment(ms: number): string {
  return `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, -5)}Z`;
}

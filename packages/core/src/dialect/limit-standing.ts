/** What a caller's limits leave, as dialects tell it to their clients. */

/** What is counted. Money is not told: it is nobody's unit on the wire. */
export type LimitDimension = "requests" | "tokens" | "inputTokens" | "outputTokens";

/** How much a caller may still take of one thing, by the tightest of its limits. */
export interface LimitStanding {
  readonly dimension: LimitDimension;
  readonly limit: number;
  /** What is neither spent nor held by running calls; 0 or more. */
  readonly remaining: number;
  /** When nothing of what was spent counts any more, milliseconds since 1970. */
  readonly resetMs: number;
}

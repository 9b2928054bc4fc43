/** Where limits stand, and what stands against a call: what accounts tell others. */
import type { Limit } from "./limit-config.ts";

/** Whose account it is. `each-key` is a key's account under the limits its owner sets for each of its keys. */
export type Scope = "key" | "owner" | "each-key" | "end-user" | "model" | "deployment" | "global";

/** A limit that has no room, and when it may have. */
export interface Blocked {
  readonly scope: Scope;
  readonly id: string;
  /** Null = the calls at once. */
  readonly limit: Limit | null;
  /** Null = the call is larger than the limit and will never fit. */
  readonly retryAfterMs: number | null;
  /** End of the limit's window. */
  readonly resetMs: number | null;
  /** False: whoever counts the limit for several processes may yet have room. */
  readonly isFinal: boolean;
}

/** A budget that is nearly or wholly used up. */
export interface LedgerAlert {
  /** `soft` = a share of `alertAt` was reached; `hard` = a call was refused. Each once per window. */
  readonly kind: "soft" | "hard";
  readonly scope: Scope;
  readonly id: string;
  readonly limit: Limit;
  readonly share: number;
  readonly spent: number;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
}

/** One limit's place in its account, for reports and headers. */
export interface Standing {
  readonly limit: Limit;
  readonly spent: number;
  readonly held: number;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
  /** When nothing of what was spent counts any more, milliseconds since 1970. */
  readonly resetMs: number;
}

/** Room may come back any moment when running calls hold it: the wait that clients are told. */
export const HELD_RETRY_MS = 1_000;

/** Whether a refusal takes longer to pass than another. One that nobody can change counts before one that somebody may. */
export function isTighter(one: Blocked, other: Blocked): boolean {
  if (one.isFinal !== other.isFinal) return one.isFinal;
  if (other.retryAfterMs === null) return false;
  return one.retryAfterMs === null || one.retryAfterMs > other.retryAfterMs;
}

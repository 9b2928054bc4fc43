/**
 * One limit of an account: what was spent in its window, and the lease where it is counted for several processes. In that case room is
 * what is leased and neither held nor spent; else it is what the limit leaves.
 */
import type { Amounts } from "../money/index.ts";
import type { Lease } from "./lease.ts";
import type { Dimension, Limit } from "./limit-config.ts";
import { createWindow, type SpendWindow } from "./spend-window.ts";
import { HELD_RETRY_MS, type Blocked, type LedgerAlert, type Scope, type Standing } from "./standing.ts";

/** Spent of one limit. */
export class LimitState {
  readonly limit: Limit;
  /** What this process spent. */
  readonly window: SpendWindow;
  /** Null = this process counts alone. */
  readonly lease: Lease | null;
  #nextAlert = 0;
  #hasRefused = false;
  /** Beginning of the window that the alerts above belong to. */
  #alertsFromMs = -1;

  constructor(limit: Limit, window: SpendWindow | null, lease: Lease | null) {
    this.limit = limit;
    this.window = window ?? createWindow(limit.window);
    this.lease = lease;
  }

  /** What may be held on top of `held`; negative when the limit is overdrawn. */
  room(held: number, nowMs: number): number {
    this.window.roll(nowMs);
    const { lease } = this;
    return lease === null || lease.isCut ? this.limit.amount - this.window.spent - held : lease.room(held, nowMs);
  }

  /** Why there is no room for `wanted`; null = there is. */
  findBlocked(scope: Scope, id: string, { wanted, held }: Want, nowMs: number): Blocked | null {
    const { limit, lease, window } = this;
    const missing = wanted - this.room(held, nowMs);
    if (missing <= 0) return null;
    if (lease === null || lease.isCut) {
      const retryAfterMs = waitFor(limit, window, { wanted, spentExcess: missing - held }, nowMs);
      return { scope, id, limit, retryAfterMs, resetMs: window.endMs, isFinal: true };
    }
    const endMs = lease.endMs;
    const isSpentUp = lease.isSpentUp(wanted, nowMs);
    const waitMs = isSpentUp && endMs !== null ? Math.max(endMs - nowMs, 1) : HELD_RETRY_MS;
    const isTooLarge = wanted > limit.amount;
    return {
      scope,
      id,
      limit,
      retryAfterMs: isTooLarge ? null : waitMs,
      resetMs: endMs ?? window.endMs,
      isFinal: isTooLarge || isSpentUp,
    };
  }

  /** Books what was spent, and reports shares of the limit that were reached by it. */
  book(amount: number, nowMs: number): void {
    this.window.roll(nowMs);
    this.window.add(amount);
    this.lease?.spend(amount, nowMs);
  }

  /** Books what was spent earlier: by another process, or before a restart. */
  bookAt(amount: number, atMs: number, nowMs: number): void {
    this.window.roll(nowMs);
    this.window.addAt(amount, atMs);
    this.lease?.spend(amount, atMs);
  }

  /** The shares of the limit that were reached since the last call. */
  *raiseSoft(scope: Scope, id: string, nowMs: number): IterableIterator<LedgerAlert> {
    this.#refreshAlerts();
    const { alertAt, amount } = this.limit;
    const spent = this.spent(nowMs);
    while (this.#nextAlert < alertAt.length && spent >= (alertAt[this.#nextAlert] as number) * amount) {
      const share = alertAt[this.#nextAlert] as number;
      this.#nextAlert += 1;
      yield this.#alert("soft", { scope, id, share, spent });
    }
  }

  /** The first refusal in this window; null = there was one. */
  raiseHard(scope: Scope, id: string, nowMs: number): LedgerAlert | null {
    this.#refreshAlerts();
    if (this.#hasRefused) return null;
    this.#hasRefused = true;
    return this.#alert("hard", { scope, id, share: 1, spent: this.spent(nowMs) });
  }

  /** Spent by all processes that share the limit, as far as this one knows. */
  spent(nowMs: number): number {
    return this.lease === null ? this.window.spent : Math.max(this.lease.spentByAll(nowMs), this.window.spent);
  }

  standing(held: number, nowMs: number): Standing {
    this.window.roll(nowMs);
    const { limit, lease, window } = this;
    return {
      limit,
      spent: this.spent(nowMs),
      held: held + (lease?.heldByOthers ?? 0),
      windowStartMs: window.startMs,
      windowEndMs: window.endMs,
      resetMs: resetOf(limit, window, nowMs),
    };
  }

  #refreshAlerts(): void {
    if (this.#alertsFromMs === this.window.startMs) return;
    this.#alertsFromMs = this.window.startMs;
    this.#nextAlert = 0;
    this.#hasRefused = false;
  }

  #alert(kind: LedgerAlert["kind"], parts: Pick<LedgerAlert, "scope" | "id" | "share" | "spent">): LedgerAlert {
    const { limit, window } = this;
    const { scope, id, share, spent } = parts;
    return { kind, scope, id, limit, share, spent, windowStartMs: window.startMs, windowEndMs: window.endMs };
  }
}

/** What a call wants of a limit, and what others hold of it. */
export interface Want {
  readonly wanted: number;
  readonly held: number;
}

/** The part of the amounts that a limit of this dimension counts. */
export function amountOf(amounts: Amounts, dimension: Dimension): number {
  switch (dimension) {
    case "requests":
      return amounts.requests;
    case "inputTokens":
      return amounts.inputTokens;
    case "outputTokens":
      return amounts.outputTokens;
    case "tokens":
      return amounts.inputTokens + amounts.outputTokens;
    case "nanoUsd":
      return amounts.nanoUsd;
  }
}

/** When room for `wanted` may come: never, with the running calls, or when enough of what was spent has passed. */
function waitFor(
  limit: Limit,
  window: SpendWindow,
  { wanted, spentExcess }: { readonly wanted: number; readonly spentExcess: number },
  nowMs: number,
): number | null {
  if (wanted > limit.amount) return null;
  return spentExcess <= 0 ? HELD_RETRY_MS : window.waitMs(nowMs, spentExcess);
}

function resetOf({ window: { kind } }: Limit, window: SpendWindow, nowMs: number): number {
  if (kind === "calendar") return window.endMs;
  return window.spent === 0 ? nowMs : nowMs + window.waitMs(nowMs, window.spent);
}

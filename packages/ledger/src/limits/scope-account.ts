/**
 * The account of one scope: a key, an owner, an end user, a model, a deployment or the whole gateway. Invariants: what is held is
 * kept once per dimension and not per limit, so a limit may come, change or go while calls run; what was held is released with the
 * same numbers; nothing goes negative.
 */
import { GatewayError } from "@dragoman/core";

import type { Amounts } from "../money/index.ts";
import type { Dimension, Limit, LimitSet } from "./limit-config.ts";
import { createWindow, type SpendWindow } from "./spend-window.ts";

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
const HELD_RETRY_MS = 1_000;

class LimitState {
  readonly limit: Limit;
  readonly window: SpendWindow;
  nextAlert = 0;
  hasRefused = false;
  /** Beginning of the window that the alerts above belong to. */
  alertsFromMs = -1;

  constructor(limit: Limit, window: SpendWindow) {
    this.limit = limit;
    this.window = window;
  }

  refreshAlerts(): void {
    if (this.alertsFromMs === this.window.startMs) return;
    this.alertsFromMs = this.window.startMs;
    this.nextAlert = 0;
    this.hasRefused = false;
  }
}

/** Spent, held and running calls of one scope. */
export class ScopeAccount {
  readonly scope: Scope;
  readonly id: string;
  #set: LimitSet;
  #states: readonly LimitState[];
  #heldInput = 0;
  #heldOutput = 0;
  #heldNanoUsd = 0;
  #running = 0;

  constructor(scope: Scope, id: string, set: LimitSet) {
    this.scope = scope;
    this.id = id;
    this.#set = set;
    this.#states = set.limits.map((limit) => new LimitState(limit, createWindow(limit.window)));
  }

  /** Takes over changed limits. What was spent stays where the counted thing and the window are the same. */
  adopt(set: LimitSet): void {
    if (set === this.#set) return;
    const former = this.#states;
    this.#set = set;
    this.#states = set.limits.map((limit) => {
      const same = former.find((state) => state.limit.dimension === limit.dimension && state.limit.per === limit.per);
      return new LimitState(limit, same?.window ?? createWindow(limit.window));
    });
  }

  get hasBudget(): boolean {
    for (const { limit } of this.#states) if (limit.dimension === "nanoUsd") return true;
    return false;
  }

  /** Nothing runs, and nothing spent is still within a window. */
  isIdle(nowMs: number): boolean {
    if (this.isHeld) return false;
    for (const { window } of this.#states) {
      window.roll(nowMs);
      if (window.spent > 0) return false;
    }
    return true;
  }

  get isHeld(): boolean {
    return this.#running > 0 || this.#heldInput > 0 || this.#heldOutput > 0 || this.#heldNanoUsd > 0;
  }

  get hasSlot(): boolean {
    return this.#set.parallel === null || this.#running < this.#set.parallel;
  }

  /** One more call runs. */
  takeSlot(): void {
    this.#running += 1;
  }

  returnSlot(): void {
    this.#running = this.#subtract(this.#running, 1);
  }

  /** Whether spent + held + `amounts` stays within every limit. */
  hasRoom(amounts: Amounts, nowMs: number): boolean {
    for (const state of this.#states) {
      state.window.roll(nowMs);
      const { dimension, amount } = state.limit;
      if (state.window.spent + this.#heldOf(dimension) + amountOf(amounts, dimension) > amount) return false;
    }
    return true;
  }

  /** The limit without room that takes longest to have it again, or null when all have room. */
  findBlocked(amounts: Amounts, nowMs: number): Blocked | null {
    let tightest: Blocked | null = null;
    for (const { limit, window } of this.#states) {
      window.roll(nowMs);
      const wanted = amountOf(amounts, limit.dimension);
      const held = this.#heldOf(limit.dimension);
      const excess = window.spent + held + wanted - limit.amount;
      if (excess <= 0) continue;
      const blocked = {
        scope: this.scope,
        id: this.id,
        limit,
        retryAfterMs: waitFor(limit, window, wanted, excess - held, nowMs),
        resetMs: window.endMs,
      };
      if (tightest === null || isTighter(blocked, tightest)) tightest = blocked;
    }
    return tightest;
  }

  /** A refusal for want of a slot. */
  slotBlocked(): Blocked {
    return { scope: this.scope, id: this.id, limit: null, retryAfterMs: HELD_RETRY_MS, resetMs: null };
  }

  hold(amounts: Amounts): void {
    this.#heldInput += amounts.inputTokens;
    this.#heldOutput += amounts.outputTokens;
    this.#heldNanoUsd += amounts.nanoUsd;
  }

  release(amounts: Amounts): void {
    this.#heldInput = this.#subtract(this.#heldInput, amounts.inputTokens);
    this.#heldOutput = this.#subtract(this.#heldOutput, amounts.outputTokens);
    this.#heldNanoUsd = this.#subtract(this.#heldNanoUsd, amounts.nanoUsd);
  }

  /** Books what was taken, and reports shares of budgets that were reached by it. */
  book(amounts: Amounts, nowMs: number, onAlert: ((alert: LedgerAlert) => void) | null): void {
    for (const state of this.#states) {
      const amount = amountOf(amounts, state.limit.dimension);
      if (amount === 0) continue;
      state.window.roll(nowMs);
      state.window.add(amount);
      if (onAlert !== null && state.limit.alertAt.length > 0) this.#raiseSoft(state, onAlert);
    }
  }

  /** Reports a refusal by one of this account's limits, once per window. */
  reportRefusal(limit: Limit, onAlert: (alert: LedgerAlert) => void): void {
    const state = this.#states.find((each) => each.limit === limit);
    if (state === undefined) return;
    state.refreshAlerts();
    if (state.hasRefused) return;
    state.hasRefused = true;
    onAlert(this.#alert("hard", state, 1));
  }

  standings(nowMs: number): Standing[] {
    return this.#states.map(({ limit, window }) => {
      window.roll(nowMs);
      return {
        limit,
        spent: window.spent,
        held: this.#heldOf(limit.dimension),
        windowStartMs: window.startMs,
        windowEndMs: window.endMs,
        resetMs: resetOf(limit, window, nowMs),
      };
    });
  }

  get running(): number {
    return this.#running;
  }

  #raiseSoft(state: LimitState, onAlert: (alert: LedgerAlert) => void): void {
    state.refreshAlerts();
    const { alertAt, amount } = state.limit;
    while (state.nextAlert < alertAt.length && state.window.spent >= (alertAt[state.nextAlert] as number) * amount) {
      const share = alertAt[state.nextAlert] as number;
      state.nextAlert += 1;
      onAlert(this.#alert("soft", state, share));
    }
  }

  #alert(kind: LedgerAlert["kind"], { limit, window }: LimitState, share: number): LedgerAlert {
    return {
      kind,
      scope: this.scope,
      id: this.id,
      limit,
      share,
      spent: window.spent,
      windowStartMs: window.startMs,
      windowEndMs: window.endMs,
    };
  }

  #heldOf(dimension: Dimension): number {
    switch (dimension) {
      case "requests":
        return 0;
      case "inputTokens":
        return this.#heldInput;
      case "outputTokens":
        return this.#heldOutput;
      case "tokens":
        return this.#heldInput + this.#heldOutput;
      case "nanoUsd":
        return this.#heldNanoUsd;
    }
  }

  #subtract(from: number, amount: number): number {
    if (amount > from)
      throw new GatewayError(
        "state_violation",
        `The account of a scope (${this.scope}) was asked to give back more than it holds.`,
      );
    return from - amount;
  }
}

/** The part of the amounts that a limit of this dimension counts. */
function amountOf(amounts: Amounts, dimension: Dimension): number {
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
function waitFor(limit: Limit, window: SpendWindow, wanted: number, spentExcess: number, nowMs: number): number | null {
  if (wanted > limit.amount) return null;
  return spentExcess <= 0 ? HELD_RETRY_MS : window.waitMs(nowMs, spentExcess);
}

function resetOf({ window: { kind } }: Limit, window: SpendWindow, nowMs: number): number {
  if (kind === "calendar") return window.endMs;
  return window.spent === 0 ? nowMs : nowMs + window.waitMs(nowMs, window.spent);
}

/** Whether a refusal takes longer to pass than another. */
export function isTighter(one: Blocked, other: Blocked): boolean {
  if (other.retryAfterMs === null) return false;
  return one.retryAfterMs === null || one.retryAfterMs > other.retryAfterMs;
}

/**
 * The account of one scope: a key, an owner, an end user, a model, a deployment or the whole gateway. Invariants: what is held is
 * kept once per dimension and not per limit, so a limit may come, change or go while calls run; what was held is released with the
 * same numbers; nothing goes negative.
 */
import { GatewayError } from "@dragoman/core";

import type { Amounts } from "../money/index.ts";
import { nameLimit, type Lease, type LeaseLink } from "./lease.ts";
import type { Dimension, Limit, LimitSet } from "./limit-config.ts";
import { amountOf, LimitState } from "./limit-state.ts";
import { HELD_RETRY_MS, isTighter, type Blocked, type LedgerAlert, type Scope, type Standing } from "./standing.ts";

/** What is missing for a call in one lease. */
export interface Need {
  readonly lease: Lease;
  /** All that the call wants of it. */
  readonly amount: number;
  /** Null = a slot. */
  readonly limit: Limit | null;
}

/** Spent, held and running calls of one scope. */
export class ScopeAccount {
  readonly scope: Scope;
  readonly id: string;
  readonly #link: LeaseLink | null;
  #set: LimitSet;
  #states: readonly LimitState[];
  #slots: Lease | null = null;
  #heldInput = 0;
  #heldOutput = 0;
  #heldNanoUsd = 0;
  #running = 0;

  /** `link`: who counts the limits for several processes; null = this process counts alone. */
  constructor(scope: Scope, id: string, set: LimitSet, link: LeaseLink | null) {
    this.scope = scope;
    this.id = id;
    this.#link = link;
    this.#set = set;
    this.#states = set.limits.map((limit) => new LimitState(limit, null, this.#openLease(limit)));
    this.#adoptSlots();
  }

  /** Takes over changed limits. What was spent stays where the counted thing and the window are the same. */
  adopt(set: LimitSet): void {
    if (set === this.#set) return;
    const former = new Set(this.#states);
    this.#set = set;
    this.#states = set.limits.map((limit) => {
      for (const state of former) {
        if (state.limit.dimension !== limit.dimension || state.limit.per !== limit.per) continue;
        former.delete(state);
        if (state.lease !== null) state.lease.amount = limit.amount;
        return new LimitState(limit, state.window, state.lease);
      }
      return new LimitState(limit, null, this.#openLease(limit));
    });
    for (const { lease } of former) lease?.retire();
    this.#adoptSlots();
  }

  /** The account is given up; nothing is held in it. */
  retire(): void {
    for (const { lease } of this.#states) lease?.retire();
    this.#slots?.retire();
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

  hasSlot(nowMs: number): boolean {
    const { parallel } = this.#set;
    if (parallel === null) return true;
    const slots = this.#slots;
    return slots === null || slots.isCut ? this.#running < parallel : slots.room(this.#running, nowMs) >= 1;
  }

  /** One more call runs. */
  takeSlot(): void {
    this.#running += 1;
    this.#slots?.use(1);
  }

  returnSlot(): void {
    this.#running = this.#subtract(this.#running, 1);
    this.#slots?.free();
  }

  /** Whether spent + held + `amounts` stays within every limit. */
  hasRoom(amounts: Amounts, nowMs: number): boolean {
    for (const state of this.#states) {
      const { dimension } = state.limit;
      if (state.room(this.#heldOf(dimension), nowMs) < amountOf(amounts, dimension)) return false;
    }
    return true;
  }

  /** The limit without room that takes longest to have it again, or null when all have room. */
  findBlocked(amounts: Amounts, nowMs: number): Blocked | null {
    let tightest: Blocked | null = null;
    for (const state of this.#states) {
      const { dimension } = state.limit;
      const want = { wanted: amountOf(amounts, dimension), held: this.#heldOf(dimension) };
      const blocked = state.findBlocked(this.scope, this.id, want, nowMs);
      if (blocked !== null && (tightest === null || isTighter(blocked, tightest))) tightest = blocked;
    }
    return tightest;
  }

  /** A refusal for want of a slot. */
  slotBlocked(): Blocked {
    const { scope, id } = this;
    const isFinal = this.#slots === null || this.#slots.isCut;
    return { scope, id, limit: null, retryAfterMs: HELD_RETRY_MS, resetMs: null, isFinal };
  }

  /** Adds the leases that lack what a call wants; `amounts` null = nothing but a slot. */
  addNeeds(needs: Need[], { amounts, slot }: { amounts: Amounts | null; slot: boolean }, nowMs: number): void {
    if (amounts !== null)
      for (const { limit, lease } of this.#states) {
        const amount = amountOf(amounts, limit.dimension);
        if (lease !== null && lease.room(this.#heldOf(limit.dimension), nowMs) < amount)
          needs.push({ lease, amount, limit });
      }
    if (slot && this.#slots !== null && !this.hasSlot(nowMs))
      needs.push({ lease: this.#slots, amount: 1, limit: null });
  }

  hold(amounts: Amounts): void {
    this.#heldInput += amounts.inputTokens;
    this.#heldOutput += amounts.outputTokens;
    this.#heldNanoUsd += amounts.nanoUsd;
    if (this.#link !== null)
      for (const { lease, limit } of this.#states)
        lease?.use(limit.dimension === "requests" ? 0 : amountOf(amounts, limit.dimension));
  }

  release(amounts: Amounts): void {
    this.#heldInput = this.#subtract(this.#heldInput, amounts.inputTokens);
    this.#heldOutput = this.#subtract(this.#heldOutput, amounts.outputTokens);
    this.#heldNanoUsd = this.#subtract(this.#heldNanoUsd, amounts.nanoUsd);
    if (this.#link !== null) for (const { lease } of this.#states) lease?.free();
  }

  /** Books what was taken, and reports shares of budgets that were reached by it. */
  book(amounts: Amounts, nowMs: number, onAlert: ((alert: LedgerAlert) => void) | null): void {
    for (const state of this.#states) {
      const amount = amountOf(amounts, state.limit.dimension);
      if (amount === 0) continue;
      state.book(amount, nowMs);
      if (onAlert !== null && state.limit.alertAt.length > 0)
        for (const alert of state.raiseSoft(this.scope, this.id, nowMs)) onAlert(alert);
    }
  }

  /** Books what was spent of a limit before this process began. */
  restore(limit: Limit, { amount, atMs }: { readonly amount: number; readonly atMs: number }, nowMs: number): void {
    this.#states.find((each) => each.limit === limit)?.bookAt(amount, atMs, nowMs);
  }

  /** Reports a refusal by one of this account's limits, once per window. */
  reportRefusal(limit: Limit, nowMs: number, onAlert: (alert: LedgerAlert) => void): void {
    const alert = this.#states.find((each) => each.limit === limit)?.raiseHard(this.scope, this.id, nowMs);
    if (alert !== null && alert !== undefined) onAlert(alert);
  }

  standings(nowMs: number): Standing[] {
    return this.#states.map((state) => state.standing(this.#heldOf(state.limit.dimension), nowMs));
  }

  get running(): number {
    return this.#running;
  }

  #openLease({ dimension, per, window, amount }: Limit): Lease | null {
    const { scope, id } = this;
    const limit = { name: nameLimit(scope, id, dimension, per), scope, id, dimension, window };
    return this.#link?.openLease(limit, amount, () => this.#heldOf(dimension)) ?? null;
  }

  #adoptSlots(): void {
    const { parallel } = this.#set;
    const slots = this.#slots;
    if (parallel === null) {
      slots?.retire();
      this.#slots = null;
    } else if (slots !== null) slots.amount = parallel;
    else if (this.#link !== null) {
      const { scope, id } = this;
      const limit = {
        name: nameLimit(scope, id, "parallel", ""),
        scope,
        id,
        dimension: "parallel" as const,
        window: null,
      };
      this.#slots = this.#link.openLease(limit, parallel, () => this.#running);
    }
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

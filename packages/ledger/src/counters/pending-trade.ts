/**
 * A trade of one holder, while its asks are being answered. Invariants: an ask is granted in all of its pools or in none, and once; what
 * is not granted in the end is refused.
 */
import { isTighter, type Blocked, type Need } from "../limits/index.ts";
import type { Ask, AskAnswer, Trade, TradeReply } from "./counter-source.ts";
import type { LeaseStep } from "./flight.ts";
import type { LimitPool } from "./limit-pool.ts";

/** One trade. */
export class PendingTrade {
  readonly holder: string;
  readonly #trade: Trade;
  readonly #pools: readonly LimitPool[];
  readonly #isGranted: boolean[];
  /** The holder sent another one: this one is over. */
  isDropped = false;

  /** `pools`: one for each of the trade's reports. */
  constructor(holder: string, trade: Trade, pools: readonly LimitPool[]) {
    this.holder = holder;
    this.#trade = trade;
    this.#pools = pools;
    this.#isGranted = trade.asks.map(() => false);
  }

  get isWhole(): boolean {
    return !this.#isGranted.includes(false);
  }

  /** Grants the asks that find room, in their order. */
  grant(nowMs: number): void {
    for (const [index, ask] of this.#trade.asks.entries())
      if (this.#isGranted[index] === false) this.#isGranted[index] = this.#take(ask, nowMs);
  }

  /** Pools without room for asks that the reserve of other holders could help. */
  shortPools(nowMs: number): ReadonlySet<LimitPool> {
    const found = new Set<LimitPool>();
    for (const [index, ask] of this.#trade.asks.entries()) {
      if (this.#isGranted[index] === true) continue;
      const short = ask.filter(([at, amount]) => !this.#pool(at).hasRoom(amount, nowMs));
      if (short.some(([at, amount]) => !this.#pool(at).mayBeRecalled(this.holder, amount, nowMs))) continue;
      for (const [at] of short) found.add(this.#pool(at));
    }
    return found;
  }

  /** What is not granted yet, as steps that wait for the pools' own leases. */
  steps(): readonly LeaseStep[] {
    return [...this.#trade.asks.entries()]
      .filter(([index]) => this.#isGranted[index] === false)
      .map(([index, ask]) => ({
        tryNow: (nowMs) => this.#tryOne(index, ask, nowMs),
        needs: (nowMs) => {
          const needs: Need[] = [];
          for (const [at, amount] of ask) this.#pool(at).addNeed(needs, amount, nowMs);
          return needs;
        },
      }));
  }

  /** The answer: whatever is not granted by now is refused. Grants reserve where nothing was. */
  answer(nowMs: number): TradeReply {
    const refusing = new Set<LimitPool>();
    const answers = this.#trade.asks.map((ask, index): AskAnswer => {
      if (this.#isGranted[index] === true) return null;
      for (const [at] of ask) refusing.add(this.#pool(at));
      return ask.map(([at, amount]) => this.#pool(at).findBlocked(amount, nowMs)?.retryAfterMs ?? 0);
    });
    const grants = this.#trade.reports.map(({ spare }, at) => {
      const pool = this.#pool(at);
      const wanted = refusing.has(pool) ? 0 : spare;
      return pool.answer(pool.grantSpare(this.holder, wanted, nowMs), nowMs);
    });
    return { nowMs, grants, answers };
  }

  #tryOne(index: number, ask: Ask, nowMs: number): Blocked | null {
    if (this.isDropped || this.#isGranted[index] === true) return null;
    this.#isGranted[index] = this.#take(ask, nowMs);
    if (this.#isGranted[index]) return null;
    let tightest: Blocked | null = null;
    for (const [at, amount] of ask) {
      const blocked = this.#pool(at).findBlocked(amount, nowMs);
      if (blocked !== null && (tightest === null || isTighter(blocked, tightest))) tightest = blocked;
    }
    return tightest;
  }

  #take(ask: Ask, nowMs: number): boolean {
    for (const [at, amount] of ask) if (!this.#pool(at).hasRoom(amount, nowMs)) return false;
    for (const [at, amount] of ask) this.#pool(at).grant(this.holder, amount);
    return true;
  }

  #pool(at: number): LimitPool {
    return this.#pools[at] as LimitPool;
  }
}

/**
 * The primary's side of leases: many holders, one pool a limit. Before it refuses, it calls the reserve of other holders back, and asks
 * the source that it leases from itself, if there is one. Invariants: a trade is answered once, unless its holder sends another before;
 * what a holder that is gone had leased stays out until its account is settled, and comes back once.
 */
import type { Clock, Timer } from "@dragoman/core";

import type { CountedLimit } from "../limits/index.ts";
import type { Trade, TradeReply } from "./counter-source.ts";
import type { DatedSpend } from "./dated-spend.ts";
import type { LeaseHolder } from "./lease-holder.ts";
import { LimitPool } from "./limit-pool.ts";
import { PendingTrade } from "./pending-trade.ts";

/** Parts and settings of a bank. */
export interface LeaseBankOptions {
  readonly clock: Pick<Clock, "nowMs" | "schedule">;
  /** How long holders have to give reserve back. Default 100. */
  readonly recallMs?: number;
  /** Where the bank leases from itself; null (default) = it counts alone. */
  readonly upstream?: LeaseHolder | null;
}

/** Calls reserve back: the holder answers with `returned`, soon. */
export type RecallReserve = (round: number, names: readonly string[]) => void;

/** What comes back of one limit. */
export interface ReturnedReserve {
  readonly name: string;
  readonly amount: number;
}

/** Answers a trade; null = the bank's own source is out of reach. */
export type AnswerTrade = (reply: TradeReply | null) => void;

interface Holder {
  readonly recall: RecallReserve;
  seq: number;
  dealing: Dealing | null;
  isGone: boolean;
}

/** A trade that is being answered. */
interface Dealing {
  readonly trade: PendingTrade;
  readonly answer: AnswerTrade;
  /** What is still to be tried for asks that find no room. */
  readonly remedies: ("recall" | "upstream")[];
  /** Holders that have yet to give back what `round` asked them for. */
  readonly awaited: Set<string>;
  round: number;
  timer: Timer | null;
}

const DEFAULT_RECALL_MS = 100;
/** Pools that nothing counts in any more are looked for when there are twice as many as after the last look, and so many at least. */
const SWEEP_AT = 1_024;

/** All shared limits. */
export class LeaseBank {
  readonly #clock: LeaseBankOptions["clock"];
  readonly #recallMs: number;
  readonly #upstream: LeaseHolder | null;
  readonly #pools = new Map<string, LimitPool>();
  readonly #holders = new Map<string, Holder>();
  #sweepAt = SWEEP_AT;
  #rounds = 0;

  constructor(options: LeaseBankOptions) {
    this.#clock = options.clock;
    this.#recallMs = options.recallMs ?? DEFAULT_RECALL_MS;
    this.#upstream = options.upstream ?? null;
  }

  /** A holder comes. Its name is never used again. */
  join(holder: string, recall: RecallReserve): void {
    this.#holders.set(holder, { recall, seq: 0, dealing: null, isGone: false });
  }

  /** `answer` is called once, at once or later; never when another trade of the holder comes first. */
  trade(holder: string, trade: Trade, answer: AnswerTrade): void {
    const known = this.#holders.get(holder);
    if (known === undefined || known.isGone || trade.seq <= known.seq) return;
    known.seq = trade.seq;
    drop(known);
    const nowMs = this.#clock.nowMs();
    const pools = trade.reports.map((report) => {
      const pool = this.#open(report.limit, report.amount);
      pool.tell(holder, report, nowMs);
      return pool;
    });
    const dealing: Dealing = {
      trade: new PendingTrade(holder, trade, pools),
      answer,
      remedies: this.#upstream === null ? ["recall"] : ["upstream", "recall", "upstream"],
      awaited: new Set(),
      round: 0,
      timer: null,
    };
    known.dealing = dealing;
    this.#proceed(known, dealing);
  }

  /** A holder has given reserve back. */
  returned(holder: string, round: number, returns: readonly ReturnedReserve[]): void {
    for (const { name, amount } of returns) this.#pools.get(name)?.giveBack(holder, amount);
    this.#arrived(holder, round);
  }

  /** A holder is gone. Its calls at once are over; what else it has leased stays out until `settle`. */
  leave(holder: string): void {
    const known = this.#holders.get(holder);
    if (known === undefined || known.isGone) return;
    known.isGone = true;
    drop(known);
    const nowMs = this.#clock.nowMs();
    for (const pool of this.#pools.values()) if (pool.limit.window === null) pool.settle(holder, [], nowMs);
    this.#arrived(holder, null);
  }

  /**
   * The account of a holder that is gone: everything that it spent, as its own lines tell it. What it had leased and not spent is free
   * again. A second call does nothing.
   */
  settle(holder: string, spends: readonly DatedSpend[]): void {
    this.leave(holder);
    if (!this.#holders.delete(holder)) return;
    const nowMs = this.#clock.nowMs();
    const byAccount = groupByAccount(spends);
    for (const pool of this.#pools.values()) pool.settle(holder, byAccount.get(accountOf(pool.limit)) ?? [], nowMs);
  }

  /** Books what was spent of a limit before the bank began. */
  restore(limit: CountedLimit, amount: number, spend: { readonly amount: number; readonly atMs: number }): void {
    this.#open(limit, amount).restore(spend.amount, spend.atMs, this.#clock.nowMs());
  }

  /** What was spent and leased of a limit, by all holders; null = nothing that still counts. */
  standing(name: string): { readonly spent: number; readonly leased: number } | null {
    const grant = this.#pools.get(name)?.answer(0, this.#clock.nowMs());
    return grant === undefined ? null : { spent: grant.spent, leased: grant.leases };
  }

  #open(limit: CountedLimit, amount: number): LimitPool {
    const known = this.#pools.get(limit.name);
    if (known !== undefined) return known;
    if (this.#pools.size >= this.#sweepAt) this.#sweep();
    const pool = new LimitPool(limit, amount, this.#upstream);
    this.#pools.set(limit.name, pool);
    return pool;
  }

  #sweep(): void {
    const nowMs = this.#clock.nowMs();
    for (const [name, pool] of this.#pools)
      if (pool.isIdle(nowMs)) {
        pool.retire();
        this.#pools.delete(name);
      }
    this.#sweepAt = Math.max(2 * this.#pools.size, SWEEP_AT);
  }

  /** Grants what can be granted, and tries the next remedy for the rest. */
  #proceed(holder: Holder, dealing: Dealing): void {
    const nowMs = this.#clock.nowMs();
    dealing.trade.grant(nowMs);
    const remedy = dealing.trade.isWhole ? undefined : dealing.remedies.shift();
    if (remedy === undefined) {
      holder.dealing = null;
      dealing.answer(dealing.trade.answer(nowMs));
    } else if (remedy === "recall") this.#recall(holder, dealing, nowMs);
    else if (this.#upstream !== null) void this.#askUpstream(holder, dealing, this.#upstream);
  }

  #recall(holder: Holder, dealing: Dealing, nowMs: number): void {
    const wanted = [...dealing.trade.shortPools(nowMs)];
    const calls: (() => void)[] = [];
    dealing.round = this.#rounds += 1;
    for (const [id, other] of this.#holders) {
      if (other.isGone || other === holder) continue;
      const names = wanted.filter((pool) => pool.hasLease(id)).map(({ limit }) => limit.name);
      if (names.length === 0) continue;
      dealing.awaited.add(id);
      calls.push(() => other.recall(dealing.round, names));
    }
    if (calls.length === 0) {
      this.#proceed(holder, dealing);
      return;
    }
    dealing.timer = this.#clock.schedule(this.#recallMs, () => this.#endRound(holder, dealing));
    // A holder may answer before the call returns, so all are awaited before any is called.
    for (const call of calls) call();
  }

  /** What a holder was asked for is here, or will never come. */
  #arrived(from: string, round: number | null): void {
    for (const holder of this.#holders.values()) {
      const { dealing } = holder;
      if (dealing === null || (round !== null && dealing.round !== round)) continue;
      if (dealing.awaited.delete(from) && dealing.awaited.size === 0) this.#endRound(holder, dealing);
    }
  }

  #endRound(holder: Holder, dealing: Dealing): void {
    if (holder.dealing !== dealing) return;
    dealing.timer?.cancel();
    dealing.timer = null;
    dealing.awaited.clear();
    this.#proceed(holder, dealing);
  }

  async #askUpstream(holder: Holder, dealing: Dealing, upstream: LeaseHolder): Promise<void> {
    const outcomes = await Promise.all(dealing.trade.steps().map(async (step) => upstream.ask(step)));
    if (holder.dealing !== dealing) return;
    if (outcomes.some(({ kind }) => kind === "down")) {
      holder.dealing = null;
      dealing.answer(null);
    } else this.#proceed(holder, dealing);
  }
}

function drop(holder: Holder): void {
  const { dealing } = holder;
  holder.dealing = null;
  if (dealing === null) return;
  dealing.timer?.cancel();
  dealing.trade.isDropped = true;
}

const accountOf = ({ scope, id }: Pick<DatedSpend, "scope" | "id">): string => `${scope}\n${id}`;

function groupByAccount(spends: readonly DatedSpend[]): ReadonlyMap<string, readonly DatedSpend[]> {
  const groups = new Map<string, DatedSpend[]>();
  for (const spend of spends) {
    const group = groups.get(accountOf(spend));
    if (group === undefined) groups.set(accountOf(spend), [spend]);
    else group.push(spend);
  }
  return groups;
}

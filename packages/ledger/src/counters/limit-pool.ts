/**
 * One limit that several holders share: what was spent of it, and what each of them has leased. Invariants: leases are granted from
 * what the limit leaves beside what was spent and what is leased already; what a holder tells replaces what it told before.
 */
import {
  amountOf,
  HELD_RETRY_MS,
  LimitState,
  type Blocked,
  type CountedLimit,
  type LeaseGrant,
  type LeaseLink,
  type LeaseReport,
  type Limit,
  type Need,
} from "../limits/index.ts";
import type { DatedSpend } from "./dated-spend.ts";

interface HolderRecord {
  epoch: number;
  lease: number;
  /** What was told of under this epoch, and ever. */
  spent: number;
  total: number;
  /** Everything that was spent before this had been told. */
  readonly sinceMs: number;
  toldMs: number;
}

/** A reserve is granted only while the limit leaves so many times as much. */
const RESERVE_SHARE = 8;

/** A record of a holder that has no lease and tells nothing is forgotten after this: by then all it spent has been told. */
const FORGET_MS = 600_000;

/** One shared limit. */
export class LimitPool {
  readonly limit: CountedLimit;
  readonly #records = new Map<string, HolderRecord>();
  #leases = 0;
  #state: LimitState;

  /** `link`: who counts the limit for this pool and others; null = the pool counts alone. */
  constructor(limit: CountedLimit, amount: number, link: LeaseLink | null) {
    this.limit = limit;
    this.#state = new LimitState(
      limitOf(limit, amount),
      null,
      link?.openLease(limit, amount, () => this.#leases) ?? null,
    );
  }

  /** Takes over what a holder tells. */
  tell(holder: string, report: LeaseReport, nowMs: number): void {
    this.#adopt(report.amount);
    const record = this.#recordOf(holder, report, nowMs);
    record.toldMs = nowMs;
    if (report.epoch < record.epoch) return;
    if (report.epoch > record.epoch) {
      record.epoch = report.epoch;
      record.spent = report.heard;
    }
    const untold = Math.max(report.spent - record.spent, 0);
    record.spent += untold;
    record.total += untold;
    this.#setLease(record, report.lease);
    const recent = Math.min(untold, report.recent);
    this.#spend(recent, report.recentAtMs, nowMs);
    this.#spend(untold - recent, report.earlierAtMs, nowMs);
  }

  hasRoom(amount: number, nowMs: number): boolean {
    return this.#state.room(this.#leases, nowMs) >= amount;
  }

  grant(holder: string, amount: number): void {
    const record = this.#records.get(holder);
    if (record !== undefined) this.#setLease(record, record.lease + amount);
  }

  /** A holder gives reserve back. */
  giveBack(holder: string, amount: number): void {
    const record = this.#records.get(holder);
    if (record !== undefined) this.#setLease(record, Math.max(record.lease - amount, 0));
  }

  /** Grants reserve, if the limit leaves plenty. */
  grantSpare(holder: string, wanted: number, nowMs: number): number {
    if (wanted === 0) return 0;
    const plenty = Math.floor(this.#state.room(this.#leases, nowMs) / RESERVE_SHARE);
    const spare = Math.min(wanted, plenty);
    // Less than a call takes would lie idle.
    if (spare < wanted / RESERVE_SHARE) return 0;
    this.grant(holder, spare);
    return spare;
  }

  /** Why there is no room; null = there is. */
  findBlocked(amount: number, nowMs: number): Blocked | null {
    const { scope, id } = this.limit;
    const blocked = this.#state.findBlocked(scope, id, { wanted: amount, held: this.#leases }, nowMs);
    return blocked === null || blocked.retryAfterMs !== null ? blocked : { ...blocked, retryAfterMs: HELD_RETRY_MS };
  }

  /** Whether the reserve of others could make room. */
  mayBeRecalled(holder: string, amount: number, nowMs: number): boolean {
    const own = this.#records.get(holder)?.lease ?? 0;
    return this.#state.room(own, nowMs) >= amount || this.#state.lease?.isCut === false;
  }

  hasLease(holder: string): boolean {
    return (this.#records.get(holder)?.lease ?? 0) > 0;
  }

  /** What the pool lacks for an ask, to be asked for in turn. */
  addNeed(needs: Need[], amount: number, nowMs: number): void {
    const { lease } = this.#state;
    if (lease !== null && !this.hasRoom(amount, nowMs)) needs.push({ lease, amount, limit: null });
  }

  answer(spare: number, nowMs: number): LeaseGrant {
    const { window } = this.#state;
    window.roll(nowMs);
    const isTimed = this.limit.window !== null;
    return {
      spare,
      spent: this.#state.spent(nowMs),
      leases: this.#leases + (this.#state.lease?.heldByOthers ?? 0),
      startMs: isTimed ? window.startMs : 0,
      endMs: isTimed ? (this.#state.lease?.endMs ?? window.endMs) : 0,
    };
  }

  /** A holder is gone: what it had leased is free, but for what it spent of it, by what is known now. */
  settle(holder: string, spends: readonly DatedSpend[], nowMs: number): void {
    const record = this.#records.get(holder);
    if (record === undefined) return;
    this.#setLease(record, 0);
    this.#records.delete(holder);
    const { dimension } = this.limit;
    if (dimension === "parallel") return;
    const since = spends.filter(({ atMs }) => atMs >= record.sinceMs);
    const total = since.reduce((sum, { amounts }) => sum + amountOf(amounts, dimension), 0);
    let untold = Math.max(total - record.total, 0);
    for (const { atMs, amounts } of since.toSorted((one, other) => other.atMs - one.atMs)) {
      const amount = Math.min(amountOf(amounts, dimension), untold);
      untold -= amount;
      this.#spend(amount, atMs, nowMs);
    }
  }

  /** Books what was spent before the pool began. */
  restore(amount: number, atMs: number, nowMs: number): void {
    this.#spend(amount, atMs, nowMs);
  }

  /** Nothing in it counts any more. */
  isIdle(nowMs: number): boolean {
    const { window, lease } = this.#state;
    window.roll(nowMs);
    for (const [holder, record] of this.#records)
      if (record.lease === 0 && nowMs - record.toldMs > FORGET_MS) this.#records.delete(holder);
    return this.#records.size === 0 && window.spent === 0 && lease?.isOpen !== true;
  }

  retire(): void {
    this.#state.lease?.retire();
  }

  #recordOf(holder: string, { epoch, heard }: LeaseReport, nowMs: number): HolderRecord {
    const known = this.#records.get(holder);
    if (known !== undefined) return known;
    const record = { epoch, lease: 0, spent: heard, total: 0, sinceMs: nowMs, toldMs: nowMs };
    this.#records.set(holder, record);
    return record;
  }

  #setLease(record: HolderRecord, lease: number): void {
    const more = lease - record.lease;
    record.lease = lease;
    this.#leases += more;
    if (more > 0) this.#state.lease?.use(more);
    else if (more < 0) this.#state.lease?.free();
  }

  #spend(amount: number, atMs: number, nowMs: number): void {
    if (amount > 0 && this.limit.window !== null) this.#state.bookAt(amount, atMs, nowMs);
  }

  #adopt(amount: number): void {
    const { limit, window, lease } = this.#state;
    if (limit.amount === amount) return;
    if (lease !== null) lease.amount = amount;
    this.#state = new LimitState(limitOf(this.limit, amount), window, lease);
  }
}

/** Calls at once are a limit of which nothing is ever spent. */
function limitOf({ dimension, window }: CountedLimit, amount: number): Limit {
  return {
    dimension: dimension === "parallel" ? "requests" : dimension,
    amount,
    per: "",
    window: window ?? { kind: "calendar", unit: "minute" },
    alertAt: [],
  };
}

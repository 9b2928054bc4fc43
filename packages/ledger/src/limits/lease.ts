/**
 * What this process may take of one limit that is counted elsewhere for several processes: its lease. Invariants: a lease covers what
 * running calls hold and a reserve for the next ones; what is told replaces what was told before, so that neither a lost message nor a
 * lost answer loses anything or counts it twice; spending that was not heard of stays within the lease that was told.
 */
import { calendarWindow } from "./calendar.ts";
import type { Dimension, WindowSpec } from "./limit-config.ts";
import type { Scope } from "./standing.ts";

/** A limit, as processes name it to each other. */
export interface CountedLimit {
  /** Unique among all limits of all accounts. */
  readonly name: string;
  readonly scope: Scope;
  readonly id: string;
  /** `parallel`: calls at once, which nothing is spent of. */
  readonly dimension: Dimension | "parallel";
  /** Null = none, for calls at once. */
  readonly window: WindowSpec | null;
}

/** What a holder tells of one lease. */
export interface LeaseReport {
  readonly limit: CountedLimit;
  readonly amount: number;
  /** A later lease of the same limit forgets what an earlier one told. */
  readonly epoch: number;
  /** What is held and kept in reserve; takes the place of what was told before. */
  readonly lease: number;
  /** All that was spent under this lease, and how much of it is known to be heard. */
  readonly spent: number;
  readonly heard: number;
  /** How much of what was spent last belongs to the newest window, when the newest of it was spent, and the newest of what came before. */
  readonly recent: number;
  readonly recentAtMs: number;
  readonly earlierAtMs: number;
  /** What it would like to have on top, in reserve. */
  readonly spare: number;
}

/** What a source answers to a report. Times are of the source's clock. */
export interface LeaseGrant {
  /** In reserve, on top of what was asked for. */
  readonly spare: number;
  /** Within the window, by all holders. */
  readonly spent: number;
  /** Leases of all holders, this one's included. */
  readonly leases: number;
  /** 0 where there is no window. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The way to whoever counts. */
export interface LeaseLink {
  /** The source is out of reach, and this process counts on its own until it is back. */
  readonly isCut: boolean;
  /** Grows with every call. */
  nextEpoch(): number;
  openLease(limit: CountedLimit, amount: number, heldNow: () => number): Lease;
  /** Something is to be told, soon. */
  touch(lease: Lease): void;
}

/** Cumulative sums are begun anew beyond this, far from where a double loses whole numbers. */
const MAX_SPENT = 2 ** 50;

/** The name of a limit of an account. Neither a dimension nor a window's name has a line feed. */
export function nameLimit(scope: Scope, id: string, dimension: CountedLimit["dimension"], per: string): string {
  return `${scope}\n${id}\n${dimension}\n${per}`;
}

/** One lease. */
export class Lease {
  readonly limit: CountedLimit;
  amount: number;
  epoch: number;
  /** Kept by the link: something is to be told. */
  isTouched = false;
  readonly #link: LeaseLink;
  #heldNow: () => number;
  /** For what is held and for the reserve. Below what is held when a call cost more than it held. */
  #lease = 0;
  /** The lease is void from then on: whoever counts takes this process for lost. */
  #voidAtMs = Number.POSITIVE_INFINITY;
  #spent = 0;
  #heard = 0;
  #recent = 0;
  #recentAtMs = 0;
  #earlierAtMs = 0;
  /** End of the calendar window that `recent` belongs to. */
  #turnMs = 0;
  /** Taken since the last report: how much reserve is worth keeping. */
  #used = 0;
  #isRetired = false;
  #told: { readonly grant: LeaseGrant; readonly others: number; readonly endMs: number } | null = null;

  constructor(link: LeaseLink, limit: CountedLimit, amount: number, heldNow: () => number, epoch: number) {
    this.#link = link;
    this.limit = limit;
    this.amount = amount;
    this.#heldNow = heldNow;
    this.epoch = epoch;
  }

  get isCut(): boolean {
    return this.#link.isCut;
  }

  /** What is leased and not held. */
  room(held: number, nowMs: number): number {
    return nowMs < this.#voidAtMs ? this.#lease - held : Math.min(this.#lease - held, 0);
  }

  /** Something is held now: as much reserve may be wanted again. */
  use(amount: number): void {
    this.#used += amount;
    this.#link.touch(this);
  }

  /** Something is no longer held. */
  free(): void {
    this.#link.touch(this);
  }

  /** Something was spent, and is not held any more. */
  spend(amount: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#lease -= amount;
    this.#spent += amount;
    this.#used += amount;
    this.#recent += amount;
    this.#recentAtMs = nowMs;
    this.#link.touch(this);
  }

  /** Nobody will use it again: what it has is given back. */
  retire(): void {
    this.#isRetired = true;
    this.#link.touch(this);
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** The limit is back before everything was told. */
  revive(amount: number, heldNow: () => number): void {
    this.#isRetired = false;
    this.#heldNow = heldNow;
    this.amount = amount;
  }

  /** Something is spent and not known to be heard of, or leased. */
  get isOpen(): boolean {
    return this.#lease !== 0 || this.#spent !== this.#heard;
  }

  /** Asking for so much is in vain until the calendar's window ends, by what was heard last. */
  isSpentUp(wanted: number, nowMs: number): boolean {
    const told = this.#told;
    if (told === null || this.limit.window?.kind !== "calendar" || nowMs >= told.endMs) return false;
    return told.grant.spent + wanted > this.amount;
  }

  /** Something is leased that nothing needs now. */
  hasReserve(nowMs: number): boolean {
    return this.room(this.#heldNow(), nowMs) > 0;
  }

  /** Gives the reserve back, for somebody who has none. */
  recall(nowMs: number): number {
    const reserve = Math.max(this.room(this.#heldNow(), nowMs), 0);
    this.#lease -= reserve;
    return reserve;
  }

  /** What is to be told. `asks`: the reserve goes back, because whoever asks is better served from all that there is. */
  report({ asks, spare }: { readonly asks: boolean; readonly spare: number }, nowMs: number): LeaseReport {
    this.#turn(nowMs);
    this.#restart();
    const held = this.#heldNow();
    const reserve = asks || this.#isRetired ? 0 : Math.min(Math.max(this.room(held, nowMs), 0), 2 * this.#used);
    this.#used = 0;
    this.#lease = this.#isRetired ? 0 : held + reserve;
    return {
      limit: this.limit,
      amount: this.amount,
      epoch: this.epoch,
      lease: this.#lease,
      spent: this.#spent,
      heard: this.#heard,
      recent: this.#recent,
      recentAtMs: this.#recentAtMs,
      earlierAtMs: this.#earlierAtMs,
      spare,
    };
  }

  /** The report was heard. `sentMs` and `voidAtMs` are of this process's clock, `sourceMs` is of the source's. */
  hear(
    report: LeaseReport,
    grant: LeaseGrant,
    { granted, sentMs, sourceMs, voidAtMs }: { granted: number; sentMs: number; sourceMs: number; voidAtMs: number },
  ): void {
    if (report.epoch !== this.epoch) return;
    this.#lease += granted + grant.spare;
    this.#voidAtMs = voidAtMs;
    this.#heard = report.spent;
    // Sent before the source looked at its clock, so the window ends here never later than there.
    const endMs = grant.endMs === 0 ? 0 : sentMs + grant.endMs - sourceMs;
    this.#told = { grant, others: Math.max(grant.leases - report.lease - granted - grant.spare, 0), endMs };
  }

  /** Spent by all processes, as far as this one knows. */
  spentByAll(nowMs: number): number {
    const told = this.#told;
    const untold = this.#spent - this.#heard;
    if (told === null) return untold;
    if (this.limit.window?.kind !== "calendar" || nowMs < told.endMs) return told.grant.spent + untold;
    return nowMs < this.#turnMs ? this.#recent : 0;
  }

  /** Leased to other processes, as far as this one knows. */
  get heldByOthers(): number {
    return this.#told?.others ?? 0;
  }

  /** End of the window by this process's clock; null = not told, or there is none. */
  get endMs(): number | null {
    return this.#told === null || this.#told.endMs === 0 ? null : this.#told.endMs;
  }

  /** Spending of two windows is told apart. */
  #turn(nowMs: number): void {
    const { window } = this.limit;
    if (window?.kind !== "calendar" || nowMs < this.#turnMs) return;
    this.#turnMs = calendarWindow(window.unit, nowMs).endMs;
    if (this.#recent > 0) this.#earlierAtMs = this.#recentAtMs;
    this.#recent = 0;
  }

  #restart(): void {
    if (this.#spent < MAX_SPENT || this.#spent !== this.#heard) return;
    this.#spent = 0;
    this.#heard = 0;
    this.epoch = this.#link.nextEpoch();
  }
}

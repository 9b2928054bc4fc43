/**
 * The holder's side of leases. Calls that find no room wait here, in their order; everything they lack goes to the source in one trade
 * at a time. States: up ⇄ down. Invariants: a waiting call is answered once, within two waits; what could not be told stays to be told.
 */
import type { Clock, Logger, Timer } from "@dragoman/core";

import { Lease, type CountedLimit, type LeaseLink } from "../limits/index.ts";
import type { AskAnswer, CounterSource, TradeReply } from "./counter-source.ts";
import {
  grantedBy,
  loadFlight,
  refusedBy,
  type Flight,
  type LeaseOutcome,
  type LeaseStep,
  type Served,
  type Waiter,
} from "./flight.ts";

/** Parts and settings of a holder. */
export interface LeaseHolderOptions {
  readonly source: CounterSource;
  readonly clock: Pick<Clock, "nowMs" | "schedule">;
  /** While the source is out of reach: count alone, or let nothing in beyond what is leased. */
  readonly onDown: "open" | "closed";
  /** How long the source has for an answer. Default 250. */
  readonly waitMs?: number;
  /** How soon what was spent is told and an idle reserve goes back. Default 100. */
  readonly flushMs?: number;
  readonly logger?: Pick<Logger, "info" | "warn">;
}

const DEFAULT_WAIT_MS = 250;
const DEFAULT_FLUSH_MS = 100;
/** How often a source that is out of reach is tried. */
const PROBE_MS = 1_000;
/** Bounds of one trade. */
const MAX_ASKS = 256;
const MAX_REPORTS = 1_024;
/** A step whose grant others have used up asks again, so often. */
const MAX_ROUNDS = 3;
const TAKEN: LeaseOutcome = { kind: "taken" };
const DOWN: LeaseOutcome = { kind: "down" };

/** Leases of one process. */
export class LeaseHolder implements LeaseLink {
  readonly #source: CounterSource;
  readonly #clock: LeaseHolderOptions["clock"];
  readonly #isOpenWhenDown: boolean;
  readonly #waitMs: number;
  readonly #flushMs: number;
  readonly #logger: LeaseHolderOptions["logger"] | null;
  /** Leases under which something is leased, spent or asked for, by name. */
  readonly #live = new Map<string, Lease>();
  /** Leases of which something is to be told. */
  readonly #touched = new Set<Lease>();
  readonly #waiters: Waiter[] = [];
  #flight: Flight | null = null;
  #flushTimer: Timer | null = null;
  #renewTimer: Timer | null = null;
  #isFlushDue = false;
  #isDown = false;
  #isClosed = false;
  #seq = 0;
  #onQuiet: (() => void) | null = null;

  constructor(options: LeaseHolderOptions) {
    this.#source = options.source;
    this.#clock = options.clock;
    this.#isOpenWhenDown = options.onDown === "open";
    this.#waitMs = options.waitMs ?? DEFAULT_WAIT_MS;
    this.#flushMs = options.flushMs ?? DEFAULT_FLUSH_MS;
    this.#logger = options.logger ?? null;
    this.#source.onRecall = (names) => this.#recall(names);
    this.#scheduleRenewal();
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  get isCut(): boolean {
    return this.#isDown && this.#isOpenWhenDown;
  }

  nextEpoch(): number {
    return (this.#seq += 1);
  }

  openLease(limit: CountedLimit, amount: number, heldNow: () => number): Lease {
    const former = this.#live.get(limit.name);
    if (former?.isRetired !== true) return new Lease(this, limit, amount, heldNow, this.nextEpoch());
    former.revive(amount, heldNow);
    return former;
  }

  touch(lease: Lease): void {
    if (lease.isTouched) return;
    lease.isTouched = true;
    this.#touched.add(lease);
    this.#live.set(lease.limit.name, lease);
    if (this.#flushTimer === null && !this.#isDown && !this.#isClosed) this.#scheduleFlush(this.#flushMs);
  }

  /** Waits for leases until the step is taken or refused. */
  ask(step: LeaseStep): Promise<LeaseOutcome> {
    if (this.#isDown || this.#isClosed) return Promise.resolve(this.#tryAlone(step));
    return new Promise((resolve) => {
      this.#waiters.push({ step, resolve, rounds: 0 });
      this.#pump();
    });
  }

  /** Tells everything, gives everything back and lets the source go. Calls that run have ended before. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#flushTimer?.cancel();
    this.#renewTimer?.cancel();
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(DOWN);
    for (const lease of this.#live.values()) lease.retire();
    while (!this.#isDown && (this.#flight !== null || this.#touched.size > 0)) {
      this.#isFlushDue = true;
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
        this.#pump();
      });
    }
    await this.#source.close();
  }

  #pump(): void {
    if (this.#flight !== null) return;
    const nowMs = this.#clock.nowMs();
    const flight = this.#prepare(nowMs);
    if (flight === null) return;
    this.#flight = flight;
    flight.timer = this.#clock.schedule(this.#waitMs, () =>
      this.#fail(flight, new Error(`no answer within ${this.#waitMs} ms`)),
    );
    this.#source.trade(flight.trade).then(
      (reply) => this.#land(flight, reply),
      (error: unknown) => this.#fail(flight, error),
    );
  }

  /** The next trade; null = there is nothing to tell or ask. */
  #prepare(nowMs: number): Flight | null {
    const served: Served[] = [];
    for (const waiter of this.#waiters.splice(0, MAX_ASKS)) {
      const blocked = waiter.step.tryNow(nowMs);
      if (blocked === null) waiter.resolve(TAKEN);
      else if (blocked.isFinal) waiter.resolve({ kind: "blocked", blocked });
      else served.push({ waiter, needs: waiter.step.needs(nowMs) });
    }
    const told = this.#isFlushDue ? [...this.#touched].slice(0, MAX_REPORTS) : [];
    // A source that was out of reach is asked for a sign of life, if for nothing else.
    if (served.length === 0 && told.length === 0 && !this.#isDown) {
      this.#isFlushDue = false;
      return null;
    }
    this.#seq += 1;
    const flight = loadFlight(this.#seq, { served, told }, nowMs);
    for (const lease of flight.leases) {
      lease.isTouched = false;
      this.#touched.delete(lease);
      this.#live.set(lease.limit.name, lease);
    }
    this.#isFlushDue &&= this.#touched.size > 0;
    return flight;
  }

  #land(flight: Flight, reply: TradeReply): void {
    if (this.#flight !== flight) return;
    this.#flight = null;
    flight.timer?.cancel();
    if (this.#isDown) {
      this.#isDown = false;
      this.#logger?.info({}, "Limits are counted together again.");
    }
    this.#hear(flight, reply);
    const refused = flight.served.filter((_, index) => reply.answers[index] !== null);
    // What was granted is taken by whom it was granted to, before anybody else tries.
    const again = flight.served.filter((each, index) => reply.answers[index] === null && !this.#serve(each, null));
    for (const each of refused) this.#serve(each, reply.answers[flight.served.indexOf(each)] ?? null);
    this.#waiters.unshift(...again.map(({ waiter }) => waiter));
    this.#settleDown();
  }

  /** False: the step has to ask again. */
  #serve({ waiter, needs }: Served, answer: AskAnswer): boolean {
    const blocked = waiter.step.tryNow(this.#clock.nowMs());
    waiter.rounds += 1;
    if (blocked === null) waiter.resolve(TAKEN);
    else if (answer === null && !blocked.isFinal && waiter.rounds < MAX_ROUNDS) return false;
    else waiter.resolve({ kind: "blocked", blocked: refusedBy(needs, answer) ?? blocked });
    return true;
  }

  #hear(flight: Flight, reply: TradeReply): void {
    const { trade, leases } = flight;
    const granted = grantedBy(flight, reply);
    const { leaseMs } = this.#source;
    const voidAtMs = leaseMs === null ? Number.POSITIVE_INFINITY : trade.sentMs + leaseMs;
    for (const [index, lease] of leases.entries()) {
      const report = trade.reports[index];
      const grant = reply.grants[index];
      if (report === undefined || grant === undefined) continue;
      const heard = { granted: granted[index] ?? 0, sentMs: trade.sentMs, sourceMs: reply.nowMs, voidAtMs };
      lease.hear(report, grant, heard);
      if (!lease.isOpen && !lease.isTouched) this.#live.delete(lease.limit.name);
      else if (lease.hasReserve(this.#clock.nowMs())) this.touch(lease);
    }
  }

  #fail(flight: Flight, error: unknown): void {
    if (this.#flight !== flight) return;
    this.#flight = null;
    flight.timer?.cancel();
    if (!this.#isDown) {
      this.#isDown = true;
      const effect = this.#isOpenWhenDown
        ? "Each process counts on its own."
        : "Calls beyond what is leased are refused.";
      this.#logger?.warn({ err: error }, `Limits cannot be counted together. ${effect}`);
    }
    for (const { waiter } of flight.served) waiter.resolve(this.#tryAlone(waiter.step));
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(this.#tryAlone(waiter.step));
    this.#flushTimer?.cancel();
    if (!this.#isClosed) this.#scheduleFlush(PROBE_MS);
    this.#settleDown();
  }

  /** What a step gets without the source. */
  #tryAlone(step: LeaseStep): LeaseOutcome {
    const blocked = step.tryNow(this.#clock.nowMs());
    if (blocked === null) return TAKEN;
    return blocked.isFinal ? { kind: "blocked", blocked } : DOWN;
  }

  #settleDown(): void {
    if (this.#touched.size > 0 && this.#flushTimer === null && !this.#isDown && !this.#isClosed)
      this.#scheduleFlush(this.#flushMs);
    if (this.#waiters.length > 0 || (this.#isFlushDue && !this.#isDown)) this.#pump();
    const onQuiet = this.#onQuiet;
    if (this.#flight !== null || onQuiet === null) return;
    this.#onQuiet = null;
    onQuiet();
  }

  #recall(names: readonly string[]): readonly number[] {
    const nowMs = this.#clock.nowMs();
    return names.map((name) => this.#live.get(name)?.recall(nowMs) ?? 0);
  }

  #scheduleFlush(delayMs: number): void {
    this.#flushTimer = this.#clock.schedule(delayMs, () => {
      this.#flushTimer = null;
      if (this.#isDown) for (const lease of this.#live.values()) this.touch(lease);
      this.#isFlushDue = true;
      this.#pump();
    });
  }

  /** A lease that nobody tells of for long is taken for lost, so those of calls that run for long are told again. */
  #scheduleRenewal(): void {
    const { leaseMs } = this.#source;
    if (leaseMs === null) return;
    this.#renewTimer = this.#clock.schedule(leaseMs / 3, () => {
      for (const lease of this.#live.values()) this.touch(lease);
      this.#scheduleRenewal();
    });
  }
}

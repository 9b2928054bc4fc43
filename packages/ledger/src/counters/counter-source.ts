/**
 * Who counts limits for several holders: a primary for its workers, or a server for several machines. Invariants of every source: what
 * all holders have leased and what was spent stays within a limit at every grant, unless a holder tells that more was spent than it
 * had; an ask is granted in all of its limits or in none; telling the same twice changes nothing.
 */
import type { LeaseGrant, LeaseReport } from "../limits/index.ts";

/** What one call lacks: pairs of a report's index and the amount on top of the lease that it tells. */
export type Ask = readonly (readonly [index: number, amount: number])[];

/** What a holder tells and asks in one message. */
export interface Trade {
  /** Grows with every trade of a holder. An older one than the last changes nothing. */
  readonly seq: number;
  /** The holder's clock, which the times of its reports are of. */
  readonly sentMs: number;
  /** Of each limit at most one. */
  readonly reports: readonly LeaseReport[];
  readonly asks: readonly Ask[];
}

/** The answer to an ask: null = granted, else of each of its limits how long it takes to have room; 0 = it has. */
export type AskAnswer = readonly number[] | null;

/** What a source answers. */
export interface TradeReply {
  /** The source's clock. */
  readonly nowMs: number;
  /** One for each report. */
  readonly grants: readonly LeaseGrant[];
  /** One for each ask. */
  readonly answers: readonly AskAnswer[];
}

/** A source as one holder has it. One trade at a time. */
export interface CounterSource {
  /** Rejects when the source is out of reach; what was told may then be heard or not. */
  trade(trade: Trade): Promise<TradeReply>;
  /** How long a lease lasts that is not told of again; null = as long as the connection. */
  readonly leaseMs: number | null;
  /** Set by the holder: gives the reserve of limits back, by name, for others who have none. Answers how much of each. */
  onRecall: ((names: readonly string[]) => readonly number[]) | null;
  close(): Promise<void>;
}

/** Limits that several processes share: leases of one process, the bank of a primary, and the ways between them. */
export type { Ask, AskAnswer, CounterSource, Trade, TradeReply } from "./counter-source.ts";
export { spendsOfEntry, spendsOfHold } from "./dated-spend.ts";
export type { DatedSpend } from "./dated-spend.ts";
export type { LeaseOutcome, LeaseStep } from "./flight.ts";
export { LeaseBank } from "./lease-bank.ts";
export type { AnswerTrade, LeaseBankOptions, RecallReserve, ReturnedReserve } from "./lease-bank.ts";
export { createLeaseClient, serveLeases } from "./lease-channel.ts";
export type { LeaseChannel } from "./lease-channel.ts";
export { LeaseHolder } from "./lease-holder.ts";
export type { LeaseHolderOptions } from "./lease-holder.ts";

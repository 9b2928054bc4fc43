/** Limits, their windows, the accounts they are held against, and leases of limits that are counted elsewhere. */
export { endUserAccountId } from "./account-id.ts";
export { calendarWindow } from "./calendar.ts";
export { AccountBook } from "./account-book.ts";
export { Lease, nameLimit } from "./lease.ts";
export type { CountedLimit, LeaseGrant, LeaseLink, LeaseReport } from "./lease.ts";
export { compileLimits, describeLimit, NO_LIMITS } from "./limit-config.ts";
export type { LimitConfig } from "@dragoman/core";
export type { Dimension, Limit, LimitReading, LimitSet, WindowSpec } from "./limit-config.ts";
export { amountOf, LimitState } from "./limit-state.ts";
export { ScopeAccount } from "./scope-account.ts";
export type { Need } from "./scope-account.ts";
export { HELD_RETRY_MS, isTighter } from "./standing.ts";
export type { Blocked, LedgerAlert, Scope, Standing } from "./standing.ts";

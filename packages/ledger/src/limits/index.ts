/** Limits, their windows and the accounts they are held against. */
export { AccountBook } from "./account-book.ts";
export { compileLimits, describeLimit, NO_LIMITS } from "./limit-config.ts";
export type { LimitConfig } from "@dragoman/core";
export type { Dimension, Limit, LimitReading, LimitSet, WindowSpec } from "./limit-config.ts";
export { isTighter, ScopeAccount } from "./scope-account.ts";
export type { Blocked, LedgerAlert, Scope, Standing } from "./scope-account.ts";

/// <reference types="node" preserve="true" />
/** @dragoman/ledger: prices, costs, limits, budgets, reservations, and one entry for every upstream call. */
export { addNanoUsd, formatUsd, MAX_NANO_USD, NANO_PER_USD, nanoUsdOf } from "./money/index.ts";
export type { NanoUsd, Rate } from "./money/index.ts";
export { BUILT_IN_PRICES, compilePrice, compilePrices, PriceBook } from "./prices/index.ts";
export type {
  Price,
  PriceBookOptions,
  PriceRates,
  PriceReading,
  PriceRow,
  PriceTier,
  RateCard,
} from "./prices/index.ts";
export { costOfUsage, worstCost } from "./cost/index.ts";
export { LARGEST_OUTPUT_TOKENS } from "./estimate/index.ts";
export type { HoldMode, LearnedOutputOptions, UsageSource } from "./estimate/index.ts";
export { compileLimits, describeLimit, NO_LIMITS } from "./limits/index.ts";
export type {
  Blocked,
  CountedLimit,
  Dimension,
  Lease,
  LeaseGrant,
  LeaseLink,
  LeaseReport,
  LedgerAlert,
  Limit,
  LimitConfig,
  LimitReading,
  LimitSet,
  Need,
  Scope,
  Standing,
  WindowSpec,
} from "./limits/index.ts";
export {
  createLeaseClient,
  LeaseBank,
  LeaseHolder,
  serveLeases,
  spendsOfEntry,
  spendsOfHold,
} from "./counters/index.ts";
export type {
  AnswerTrade,
  Ask,
  AskAnswer,
  CounterSource,
  DatedSpend,
  LeaseBankOptions,
  LeaseChannel,
  LeaseHolderOptions,
  LeaseOutcome,
  LeaseStep,
  RecallReserve,
  ReturnedReserve,
  Trade,
  TradeReply,
} from "./counters/index.ts";
export { createLedgerAdmission, createLimitDirectory, restoreBank } from "./admission/index.ts";
export type {
  LedgerAdmission,
  LedgerAdmissionOptions,
  LimitDirectory,
  LimitsConfig,
  RestorableBank,
  RestoreOptions,
} from "./admission/index.ts";
export { exportCsv, exportNdjson, planReprice, SpendTable } from "./entries/index.ts";
export type {
  EntrySink,
  EntryUsage,
  LedgerEntry,
  LedgerRecorder,
  RecordedHold,
  SpendGroup,
  SpendQuery,
  SpendRow,
} from "./entries/index.ts";
export type { KeyChange, KeyDirectory, KeyRefusal, KeySecret, KeyStore, StoredKey, StoredOwner } from "./keys/index.ts";
export { MemoryLedgerStore } from "./stores/index.ts";
export type {
  Consumption,
  ConsumptionQuery,
  EntryQuery,
  IngestBatch,
  JournalProgress,
  LedgerStore,
} from "./stores/index.ts";

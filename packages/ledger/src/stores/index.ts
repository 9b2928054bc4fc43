/** Where entries, keys and owners are kept: the contract, and the store that needs neither file nor server. */
export type {
  Consumption,
  ConsumptionQuery,
  EntryQuery,
  IngestBatch,
  JournalProgress,
  LedgerStore,
} from "./ledger-store.ts";
export { MemoryLedgerStore } from "./memory/memory-ledger-store.ts";

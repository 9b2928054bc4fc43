/** Entries, where they go, and what they add up to. */
export { exportCsv, exportNdjson } from "./export-entries.ts";
export type { EntrySink, EntryUsage, LedgerEntry } from "./ledger-entry.ts";
export { MemoryEntryStore } from "./memory-entry-store.ts";
export type { LedgerRecorder, RecordedHold } from "./recorder.ts";
export { planReprice } from "./plan-reprice.ts";
export { SpendTable } from "./spend.ts";
export type { SpendGroup, SpendQuery, SpendRow } from "./spend.ts";

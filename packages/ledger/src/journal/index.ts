/// <reference types="node" preserve="true" />
/** @dragoman/ledger/journal: lines that outlive their process, and the way from them into a store. */
export { openDataFolder } from "../stores/journal/data-folder.ts";
export type { DataFolder, DataFolderOptions } from "../stores/journal/data-folder.ts";
export { openJournal } from "../stores/journal/open-journal.ts";
export type { Journal, JournalDurability, JournalOptions, JournalStatus } from "../stores/journal/journal.ts";
export type { FullPolicy } from "../stores/journal/disk-guard.ts";
export type { IngestLag } from "../stores/journal/ingest-loop.ts";
export type { GrowingFile, JournalFiles, ReadableFile } from "../stores/journal/journal-files.ts";
export type { DroppedLines } from "../stores/journal/journal-writer.ts";
export { readProcesses } from "../stores/journal/process-stamp.ts";
export type { Processes, ProcessStamp, ProcessTable } from "../stores/journal/process-stamp.ts";
export type { RecoveryReport } from "../stores/journal/recovery.ts";
export type { TurnEnd } from "../stores/journal/turn-end.ts";

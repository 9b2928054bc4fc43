/** `@dragoman/ledger/sqlite`: entries, keys and owners in one file. */
export { openSqliteStore } from "../stores/sqlite/sqlite-store.ts";
export type { SqliteStoreOptions } from "../stores/sqlite/sqlite-store.ts";

/** `@dragoman/ledger/postgres`: entries, keys and owners in a database that several gateways share. */
export { openPostgresStore } from "../stores/postgres/open-postgres-store.ts";
export type { PostgresSource, PostgresStoreOptions } from "../stores/postgres/open-postgres-store.ts";
export type { PostgresClient, PostgresPool, PostgresQuery } from "../stores/postgres/postgres-pool.ts";

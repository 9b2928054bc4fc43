/** Opens a PostgreSQL store over a pool of its own or of the application. */
import type { LedgerStore } from "../ledger-store.ts";
import type { Migration } from "../sql/migrations.ts";
import { storeFailure, storeRefusal } from "../store-failure.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { migratePostgres } from "./postgres-migrations.ts";
import { PostgresConnections, type PostgresPool } from "./postgres-pool.ts";
import { POSTGRES_MIGRATIONS } from "./postgres-schema.ts";
import { PostgresStore } from "./postgres-store.ts";

/** Where the database is: an address, or a pool that the application has already and ends itself. */
export type PostgresSource =
  | {
      /** `postgres://user:password@host/database`. It is in no message of an error. */
      readonly connectionString: string;
      /** Default 4. */
      readonly maxConnections?: number;
      /** The longest a connection may take. Default 5,000. */
      readonly connectTimeoutMs?: number;
      readonly pool?: undefined;
    }
  | { readonly pool: PostgresPool };

/** How a PostgreSQL store is opened. */
export type PostgresStoreOptions = PostgresSource & {
  /** All tables are in this schema, which is created where it is missing. Default `dragoman`. */
  readonly schema?: string;
  /** The longest a statement may take, a few hundred rows or a sum over all entries. Default 30,000. */
  readonly statementTimeoutMs?: number;
};

/**
 * Opens a store in PostgreSQL 12 or later and brings its schema up to date. Rejects with `ledger_store_failed` when the server cannot
 * be reached, when the package `pg` is missing, or when the schema was written by a version that this one cannot read.
 */
export function openPostgresStore(options: PostgresStoreOptions): Promise<LedgerStore> {
  return openPostgresWith(options, POSTGRES_MIGRATIONS);
}

/** The same with other steps of the schema. */
export async function openPostgresWith(
  options: PostgresStoreOptions,
  migrations: readonly Migration[],
): Promise<LedgerStore> {
  const { schema = "dragoman", statementTimeoutMs = 30_000 } = options;
  const dialect = postgresDialect(schema);
  const isOwn = options.pool === undefined;
  const pool = options.pool ?? (await createPool(options, statementTimeoutMs));
  // The server's own limit comes first, and leaves the connection whole.
  const connections = new PostgresConnections({ pool, isOwn, timeoutMs: statementTimeoutMs + 1_000 });
  try {
    await migratePostgres(connections, schema, migrations);
    return new PostgresStore(connections, dialect);
  } catch (error) {
    await connections.close();
    throw error;
  }
}

/** A gateway that hangs between two statements holds its locks no longer than this. */
const IDLE_TRANSACTION_MS = 60_000;

async function createPool(
  {
    connectionString,
    maxConnections = 4,
    connectTimeoutMs = 5_000,
  }: Extract<PostgresSource, { connectionString: string }>,
  statementTimeoutMs: number,
): Promise<PostgresPool> {
  const pg = await loadDriver();
  try {
    return new pg.Pool({
      connectionString,
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      application_name: "dragoman",
      keepAlive: true,
      // Idle connections keep no process from ending.
      allowExitOnIdle: true,
    });
  } catch (error) {
    throw storeFailure("PostgreSQL", "read its address", error);
  }
}

interface PostgresDriver {
  readonly Pool: new (options: object) => PostgresPool;
}

async function loadDriver(): Promise<PostgresDriver> {
  try {
    return ((await import("pg")) as unknown as { readonly default: PostgresDriver }).default;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      throw storeRefusal("The PostgreSQL store needs a driver: install it beside Dragoman with `npm install pg`.");
    throw storeFailure("PostgreSQL", "load its driver", error);
  }
}

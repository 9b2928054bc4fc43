/** Brings the schema of a PostgreSQL database up to date, while others may do the same. */
import { pendingMigrations, type AppliedMigration, type Migration } from "../sql/migrations.ts";
import { storeRefusal } from "../store-failure.ts";
import type { PostgresConnections, PostgresRun } from "./postgres-pool.ts";

/** First half of the advisory lock, `drgm`; the second is the schema's name. */
const LOCK = 0x6472676d;

const ACTION = "bring its schema up to date";

/** Applies what is missing, each step in a transaction of its own. */
export async function migratePostgres(
  connections: PostgresConnections,
  schema: string,
  known: readonly Migration[],
): Promise<void> {
  const applied = await connections.transaction(ACTION, "read", async (run) => {
    await requireUtf8(run);
    return readApplied(run, schema);
  });
  if (pendingMigrations("PostgreSQL", known, applied).length === 0) return;
  while (!(await connections.transaction(ACTION, "migrate", (run) => applyNext(run, schema, known))));
}

/** Whether nothing is left to apply. */
async function applyNext(run: PostgresRun, schema: string, known: readonly Migration[]): Promise<boolean> {
  await run("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK, schema]);
  // Looked up again under the lock: another process may have been faster.
  const [next] = pendingMigrations("PostgreSQL", known, await readApplied(run, schema));
  if (next === undefined) return true;
  const { version, title, isCompatible, statements } = next;
  await createSchema(run, schema);
  await run(`SET LOCAL search_path TO "${schema}"`);
  await run(
    "CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, title text NOT NULL, is_compatible bigint NOT NULL)",
  );
  for (const statement of statements) await run(statement);
  const insert = "INSERT INTO migrations (version, title, is_compatible) VALUES ($1, $2, $3)";
  await run(insert, [version, title, isCompatible ? 1 : 0]);
  return false;
}

/** `IF NOT EXISTS` would ask for the right to create schemas also where it exists. */
async function createSchema(run: PostgresRun, schema: string): Promise<void> {
  const found = await run("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (found.length === 0) await run(`CREATE SCHEMA "${schema}"`);
}

async function readApplied(run: PostgresRun, schema: string): Promise<AppliedMigration[]> {
  // Not `to_regclass`: it answers from a cache that may be older than the wait for the lock.
  const found = await run(
    "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = $2",
    [schema, "migrations"],
  );
  if (found.length === 0) return [];
  const rows = await run(`SELECT version, is_compatible FROM "${schema}".migrations`);
  return rows.map((row) => ({ version: row["version"] as number, isCompatible: row["is_compatible"] === 1 }));
}

async function requireUtf8(run: PostgresRun): Promise<void> {
  const [setting] = await run("SELECT current_setting('server_encoding') AS encoding");
  if (setting?.["encoding"] !== "UTF8")
    throw storeRefusal(`The PostgreSQL store needs a database in UTF8, not in ${String(setting?.["encoding"])}.`);
}

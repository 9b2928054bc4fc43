/**
 * Connections to PostgreSQL: the part of `pg` that a store needs, and a guard around it. Invariants: no error of a connection ends the
 * process; a connection on which something failed is never used again; every call ends in bounded time.
 */
import { isGatewayError } from "@dragoman/core";

import { storeFailure, storeRefusal } from "../store-failure.ts";
import type { SqlRow, SqlValue } from "../sql/entry-columns.ts";

/** A statement as `pg` takes it. */
export interface PostgresQuery {
  readonly text: string;
  readonly values?: unknown[];
  readonly types?: { getTypeParser(oid: number): (text: string) => unknown };
}

/** A connection that was taken from a pool. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  release(destroy?: boolean): void;
}

/** A pool of the package `pg`, version 8 or later. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** A parameter; an array is a column of many rows. */
export type PostgresValue = SqlValue | readonly SqlValue[];

/** Runs one statement of a transaction. */
export type PostgresRun = (text: string, values?: readonly PostgresValue[]) => Promise<SqlRow[]>;

/** How the pool is used. */
export interface PostgresUse {
  readonly pool: PostgresPool;
  /** Whether the pool ends with the store. */
  readonly isOwn: boolean;
  /** The longest a statement may take. */
  readonly timeoutMs: number;
}

/** Two that wait for each other, and a transaction that came too late: what was undone may simply be done again. */
const RETRYABLE = new Set(["40P01", "40001"]);
const MAX_TRIES = 4;

/** The longest a step of the schema may take, and the wait for another process that takes it. */
const MIGRATION_TIMEOUT_MS = 600_000;

/** How a transaction begins. What the database has for a default does not matter: who waited for a lock has to see what came before. */
const BEGINNINGS = {
  write: "BEGIN ISOLATION LEVEL READ COMMITTED",
  /** All statements see the same moment. */
  read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  migrate: "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0",
} as const;

/** A pool with its guard. */
export class PostgresConnections {
  readonly #use: PostgresUse;
  #isClosed = false;

  constructor(use: PostgresUse) {
    this.#use = use;
    use.pool.on("error", ignoreIdleError);
  }

  /** One statement, which is its own transaction. */
  query(action: string, text: string, values: readonly PostgresValue[] = []): Promise<SqlRow[]> {
    return this.#guard(action, async () => this.#withClient(this.#use.timeoutMs, (run) => run(text, values)));
  }

  /** Several statements, all or none. `work` may run more than once. */
  transaction<Value>(
    action: string,
    kind: keyof typeof BEGINNINGS,
    work: (run: PostgresRun) => Promise<Value>,
  ): Promise<Value> {
    const timeoutMs = kind === "migrate" ? MIGRATION_TIMEOUT_MS : this.#use.timeoutMs;
    return this.#guard(action, () =>
      this.#withClient(timeoutMs, async (run) => {
        await run(BEGINNINGS[kind]);
        try {
          const value = await work(run);
          await run("COMMIT");
          return value;
        } catch (error) {
          // What the driver threw ends the connection and the transaction with it; ours says nothing about the connection.
          if (isGatewayError(error)) await run("ROLLBACK");
          throw error;
        }
      }),
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#use.isOwn) await this.#use.pool.end();
    this.#use.pool.removeListener("error", ignoreIdleError);
  }

  async #guard<Value>(action: string, work: () => Promise<Value>): Promise<Value> {
    for (let tries = 1; ; tries += 1) {
      if (this.#isClosed) throw storeRefusal(`The PostgreSQL store is closed and cannot ${action}.`);
      try {
        return await work();
      } catch (error) {
        if (tries === MAX_TRIES || !isRetryable(error)) throw storeFailure("PostgreSQL", action, error);
      }
    }
  }

  async #withClient<Value>(timeoutMs: number, work: (run: PostgresRun) => Promise<Value>): Promise<Value> {
    const client = await this.#use.pool.connect();
    client.on("error", ignoreTakenError);
    let isBroken = false;
    try {
      return await work(async (text, values = []) => {
        const query = { text, values: [...values], types: TYPES, query_timeout: timeoutMs };
        return (await client.query(query)).rows as SqlRow[];
      });
    } catch (error) {
      isBroken = !isGatewayError(error);
      throw error;
    } finally {
      client.removeListener("error", ignoreTakenError);
      client.release(isBroken);
    }
  }
}

/** The pool drops a connection that ends while nobody uses it, and the next statement gets another one. */
function ignoreIdleError(): void {}

/** The statement that runs on the connection fails with it; without a listener the event would end the process. */
function ignoreTakenError(): void {}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && "code" in error && RETRYABLE.has(error.code as string);
}

/** OIDs of int8, int2 and int4 (PostgreSQL, pg_type.dat): whole numbers below 2^53 are stored. The rest stays text, JSON too. */
const INTEGER_OIDS = new Set([20, 21, 23]);

const TYPES: NonNullable<PostgresQuery["types"]> = {
  getTypeParser: (oid) => (INTEGER_OIDS.has(oid) ? Number : asText),
};

const asText = (text: string): string => text;

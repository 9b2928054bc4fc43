/** What SQLite and PostgreSQL spell differently, as far as the shared statements need it. */
import type { SqlValue } from "./entry-columns.ts";

/** One database's spelling. */
export interface SqlDialect {
  /** A table's whole name. */
  table(name: string): string;
  /** The place of a statement's parameter, counted from 1. */
  parameter(position: number): string;
  /** A sum of whole numbers as text that `readSum` reads, exact however large; of no rows it is 0. */
  exactSum(expression: string): string;
  readSum(text: string): bigint;
  /** A comparison of a text column that an index on names of any length serves. */
  equalsText(column: string, parameter: string): string;
}

/** A statement and its parameters. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Collects parameters while a statement is written. */
export class SqlParameters {
  readonly values: SqlValue[] = [];
  readonly #dialect: SqlDialect;

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
  }

  /** The place of this value. */
  add(value: SqlValue): string {
    this.values.push(value);
    return this.#dialect.parameter(this.values.length);
  }
}

/** `WHERE` with all conditions, or nothing. */
export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}

/** Attempts that ended from a time on. Times are whole milliseconds, so a bound between two of them means the later. */
export const endedFrom = (sinceMs: number, parameters: SqlParameters): string =>
  `ended_ms >= ${parameters.add(timeBound(sinceMs))}`;

/** Attempts that ended before a time. */
export const endedBefore = (untilMs: number, parameters: SqlParameters): string =>
  `ended_ms < ${parameters.add(timeBound(untilMs))}`;

function timeBound(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

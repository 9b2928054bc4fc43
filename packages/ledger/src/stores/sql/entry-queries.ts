/** Reads entries page by page, oldest end first, so that any number of them passes through bounded memory. */
import type { EntryQuery } from "../ledger-store.ts";
import { ENTRY_COLUMN_NAMES } from "./entry-columns.ts";
import { endedBefore, endedFrom, SqlParameters, whereAll, type SqlDialect, type SqlStatement } from "./sql-dialect.ts";
import { storedText } from "./stored-text.ts";

/** Entries read at once. */
export const PAGE_SIZE = 500;

/** The last entry of a page: the next one begins after it. */
export interface PageEnd {
  readonly endedMs: number;
  /** The row's number, which tells apart what ended in one millisecond. */
  readonly seq: number;
}

const FILTERS = [
  ["key", "key_id"],
  ["owner", "owner"],
  ["model", "model"],
  ["requestId", "request_id"],
] as const;

/** One page of a query: the columns of entries, and `seq`. */
export function selectEntries(
  dialect: SqlDialect,
  query: EntryQuery,
  after: PageEnd | null,
  pageSize: number,
): SqlStatement {
  const parameters = new SqlParameters(dialect);
  const conditions: string[] = [];
  if (after !== null)
    conditions.push(`(ended_ms, seq) > (${parameters.add(after.endedMs)}, ${parameters.add(after.seq)})`);
  else if (query.sinceMs !== undefined) conditions.push(endedFrom(query.sinceMs, parameters));
  if (query.untilMs !== undefined) conditions.push(endedBefore(query.untilMs, parameters));
  for (const [name, column] of FILTERS) {
    const value = query[name];
    if (value !== undefined) conditions.push(dialect.equalsText(column, parameters.add(storedText(value))));
  }
  const text =
    `SELECT seq, ${ENTRY_COLUMN_NAMES} FROM ${dialect.table("entries")} ${whereAll(conditions)} ` +
    `ORDER BY ended_ms, seq LIMIT ${parameters.add(pageSize)}`;
  return { text, values: parameters.values };
}

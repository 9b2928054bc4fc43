/** Reads entries page by page, oldest end first, so that any number of them passes through bounded memory. */
import type { LedgerEntry } from "../../entries/index.ts";
import type { EntryQuery } from "../ledger-store.ts";
import { ENTRY_COLUMN_NAMES, entryOfRow, type SqlRow } from "./entry-columns.ts";
import { endedBefore, endedFrom, SqlParameters, whereAll, type SqlDialect, type SqlStatement } from "./sql-dialect.ts";
import { indexedRange, storedText } from "./stored-text.ts";

/** Entries read at once. */
const PAGE_SIZE = 500;

/** The last entry of a page: the next one begins after it. */
interface PageEnd {
  readonly endedMs: number;
  /** The row's number, which tells apart what ended in one millisecond. */
  readonly seq: number;
}

const FILTERS = [
  ["key", "key_id"],
  ["owner", "owner"],
  ["model", "model"],
] as const;

/** All entries of a query. `read` runs a statement and gives back all of its rows. */
export async function* readEntries(
  dialect: SqlDialect,
  query: EntryQuery,
  read: (statement: SqlStatement) => Promise<readonly SqlRow[]>,
): AsyncGenerator<LedgerEntry, void> {
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let after: PageEnd | null = null;
  while (left > 0) {
    const size = Math.min(left, PAGE_SIZE);
    const rows = await read(selectPage(dialect, query, after, size));
    for (const row of rows) yield entryOfRow(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return;
    after = { endedMs: last["ended_ms"] as number, seq: last["seq"] as number };
    left -= rows.length;
  }
}

function selectPage(dialect: SqlDialect, query: EntryQuery, after: PageEnd | null, pageSize: number): SqlStatement {
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
  if (query.requestId !== undefined) conditions.push(requestIs(query.requestId, parameters));
  const text =
    `SELECT seq, ${ENTRY_COLUMN_NAMES} FROM ${dialect.table("entries")} ${whereAll(conditions)} ` +
    `ORDER BY ended_ms, seq LIMIT ${parameters.add(pageSize)}`;
  return { text, values: parameters.values };
}

/** Ids begin with their request's, so requests need no index of their own. */
function requestIs(requestId: string, parameters: SqlParameters): string {
  const [from, to] = indexedRange(`${requestId}/`);
  const request = parameters.add(storedText(requestId));
  return `id >= ${parameters.add(from)} AND id < ${parameters.add(to)} AND request_id = ${request}`;
}

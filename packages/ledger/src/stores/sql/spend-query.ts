/** Sums entries in the database, with the meaning that `SpendTable` gives them. */
import type { SpendGroup, SpendQuery, SpendRow } from "../../entries/index.ts";
import type { SqlRow } from "./entry-columns.ts";
import { endedBefore, endedFrom, SqlParameters, whereAll, type SqlDialect, type SqlStatement } from "./sql-dialect.ts";
import { originalText, storedText } from "./stored-text.ts";

const DAY_MS = 86_400_000;

const COLUMNS: Readonly<Record<Exclude<SpendGroup, "day">, string>> = {
  key: "key_id",
  owner: "owner",
  endUser: "end_user",
  model: "model",
  deployment: "deployment",
};

/** One row per group, in the order in which groups first came. */
export function selectSpend(dialect: SqlDialect, query: SpendQuery): SqlStatement {
  const parameters = new SqlParameters(dialect);
  const conditions: string[] = [];
  if (query.sinceMs !== undefined) conditions.push(endedFrom(query.sinceMs, parameters));
  if (query.untilMs !== undefined) conditions.push(endedBefore(query.untilMs, parameters));
  for (const [group, value] of Object.entries(query.where ?? {}) as [SpendGroup, string | null][])
    conditions.push(group === "day" ? dayIs(value, parameters) : nameIs(dialect, COLUMNS[group], value, parameters));
  const groups = query.by.map((group, index) => `${expressionOf(group)} AS group_${index}`);
  const text =
    `SELECT ${[...groups, ...sums(dialect)].join(", ")} FROM ${dialect.table("entries")} ${whereAll(conditions)} ` +
    (query.by.length === 0
      ? "HAVING COUNT(*) > 0"
      : `GROUP BY ${query.by.map(expressionOf).join(", ")} ORDER BY MIN(seq)`);
  return { text, values: parameters.values };
}

/** What a row of `selectSpend` says. */
export function spendOfRow(dialect: SqlDialect, { by }: SpendQuery, row: SqlRow): SpendRow {
  const sumOf = (name: string): bigint => dialect.readSum(row[name] as string);
  return {
    group: Object.fromEntries(by.map((group, index) => [group, groupValue(group, row[`group_${index}`])])),
    entries: row["entries"] as number,
    inputTokens: Number(sumOf("input_tokens")),
    outputTokens: Number(sumOf("output_tokens")),
    costNanoUsd: sumOf("cost_nano_usd"),
    unpriced: row["unpriced"] as number,
  };
}

const sums = (dialect: SqlDialect): string[] => [
  "COUNT(*) FILTER (WHERE adjusts IS NULL) AS entries",
  "COUNT(*) FILTER (WHERE cost_nano_usd IS NULL) AS unpriced",
  ...["input_tokens", "output_tokens", "cost_nano_usd"].map((column) => `${dialect.exactSum(column)} AS ${column}`),
];

const expressionOf = (group: SpendGroup): string => (group === "day" ? `(ended_ms / ${DAY_MS})` : COLUMNS[group]);

function groupValue(group: SpendGroup, value: unknown): string | null {
  if (group === "day") return new Date((value as number) * DAY_MS).toISOString().slice(0, 10);
  return value === null ? null : originalText(value as string);
}

function nameIs(dialect: SqlDialect, column: string, value: string | null, parameters: SqlParameters): string {
  return value === null ? `${column} IS NULL` : dialect.equalsText(column, parameters.add(storedText(value)));
}

/** What is no day, no entry ended on. */
function dayIs(day: string | null, parameters: SqlParameters): string {
  const startMs = day !== null && /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN;
  if (Number.isNaN(startMs)) return "1 = 0";
  return `ended_ms >= ${parameters.add(startMs)} AND ended_ms < ${parameters.add(startMs + DAY_MS)}`;
}

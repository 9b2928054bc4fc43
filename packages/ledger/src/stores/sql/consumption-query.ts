/** Sums what accounts have taken in the database, with the meaning that `ConsumptionTable` gives it. */
import { GatewayError } from "@dragoman/core";

import { MAX_TOKENS } from "../../money/index.ts";
import { accountIdOf, type AccountNames } from "../account-id.ts";
import { accountAmount } from "../consumption-table.ts";
import type { Consumption, ConsumptionQuery } from "../ledger-store.ts";
import type { SqlRow } from "./entry-columns.ts";
import { endedBefore, endedFrom, SqlParameters, type SqlDialect, type SqlStatement } from "./sql-dialect.ts";
import { originalText } from "./stored-text.ts";

interface ScopeColumns {
  /** What makes an account of its own, and which of its names that is. */
  readonly groups: readonly (readonly [keyof AccountNames, string])[];
  /** What an entry without does not count for any account. */
  readonly needs: string | null;
}

const SCOPES: Readonly<Record<ConsumptionQuery["scope"], ScopeColumns>> = {
  global: { groups: [], needs: null },
  key: { groups: [["key", "key_id"]], needs: null },
  owner: { groups: [["owner", "owner"]], needs: "owner" },
  "end-user": {
    groups: [
      ["owner", "owner"],
      ["endUser", "end_user"],
      // Of an owner's end users the key does not matter.
      ["key", "CASE WHEN owner IS NULL THEN key_id END"],
    ],
    needs: "end_user",
  },
  model: { groups: [["model", "model"]], needs: null },
  deployment: { groups: [["deployment", "deployment"]], needs: null },
};

const NO_NAMES: AccountNames = { key: "", owner: null, endUser: null, model: "", deployment: "" };

/** One row per account and part. */
export function selectConsumption(dialect: SqlDialect, query: ConsumptionQuery): SqlStatement {
  const parameters = new SqlParameters(dialect);
  const { groups, needs } = SCOPES[query.scope];
  const isCounted = query.scope === "deployment" ? "" : " AND attempt = 1";
  const part = query.partMs === null ? [] : [`(ended_ms / ${wholePart(query.partMs)})`];
  const charged = (column: string): string =>
    dialect.exactSum(`CASE WHEN ${column} > ${MAX_TOKENS} THEN ${MAX_TOKENS} ELSE ${column} END`);
  const columns = [
    ...groups.map(([, expression], index) => `${expression} AS group_${index}`),
    ...part.map((expression) => `${expression} AS part`),
    `COUNT(*) FILTER (WHERE adjusts IS NULL${isCounted}) AS requests`,
    `${charged("input_tokens")} AS input_tokens`,
    `${charged("output_tokens")} AS output_tokens`,
    `${dialect.exactSum("cost_nano_usd")} AS cost_nano_usd`,
  ];
  const by = [...groups.map(([, expression]) => expression), ...part];
  const text =
    `SELECT ${columns.join(", ")} FROM ${dialect.table("entries")} WHERE ${endedFrom(query.sinceMs, parameters)} ` +
    (query.untilMs === undefined ? "" : `AND ${endedBefore(query.untilMs, parameters)} `) +
    (needs === null ? "" : `AND ${needs} IS NOT NULL `) +
    (by.length === 0 ? "HAVING COUNT(*) > 0" : `GROUP BY ${by.join(", ")} ORDER BY MIN(seq)`);
  return { text, values: parameters.values };
}

/** What a row of `selectConsumption` says. */
export function consumptionOfRow(dialect: SqlDialect, query: ConsumptionQuery, row: SqlRow): Consumption {
  const names = SCOPES[query.scope].groups.map(([name], index) => [name, nameOf(row[`group_${index}`])]);
  const sumOf = (name: string): bigint => dialect.readSum(row[name] as string);
  return {
    id: accountIdOf({ ...NO_NAMES, ...Object.fromEntries(names) }, query.scope) ?? "",
    partStartMs: query.partMs === null ? query.sinceMs : (row["part"] as number) * query.partMs,
    requests: row["requests"] as number,
    inputTokens: Number(sumOf("input_tokens")),
    outputTokens: Number(sumOf("output_tokens")),
    nanoUsd: accountAmount(sumOf("cost_nano_usd")),
  };
}

const nameOf = (value: unknown): string | null => (typeof value === "string" ? originalText(value) : null);

/** Goes into the statement's text, so that grouping and selection are one expression. */
function wholePart(partMs: number): number {
  if (Number.isSafeInteger(partMs) && partMs > 0) return partMs;
  throw new GatewayError("state_violation", "Parts of a consumption are whole milliseconds above 0.");
}

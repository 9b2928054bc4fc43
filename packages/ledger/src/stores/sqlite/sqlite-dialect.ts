/** How SQLite spells what the shared statements need. */
import type { SqlDialect } from "../sql/sql-dialect.ts";

/** Sums overflow at 2^63, so halves are summed apart; `>>` of a negative number rounds down, as the lower half expects. */
const HALF = 0x1_0000_0000n;

/** SQLite. */
export const SQLITE_DIALECT: SqlDialect = {
  table: (name) => name,
  parameter: (position) => `?${position}`,
  exactSum: (expression) =>
    `COALESCE(SUM((${expression}) >> 32), 0) || ':' || COALESCE(SUM((${expression}) & 4294967295), 0)`,
  readSum: (text) => {
    const [high = "0", low = "0"] = text.split(":");
    return BigInt(high) * HALF + BigInt(low);
  },
  equalsText: (column, parameter) => `${column} = ${parameter}`,
};

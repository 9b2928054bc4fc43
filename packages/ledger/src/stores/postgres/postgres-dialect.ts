/** How PostgreSQL spells what the shared statements need. */
import { storeRefusal } from "../store-failure.ts";
import type { SqlDialect } from "../sql/sql-dialect.ts";

/** Characters of a name that are indexed: an index row of PostgreSQL ends at about 2,700 bytes. */
const INDEXED_CHARACTERS = 200;

/** The indexed beginning of a column. The schema's indexes are on this very expression. */
export const beginningOf = (column: string): string => `left(${column}, ${INDEXED_CHARACTERS})`;

/** PostgreSQL, with all tables in one schema. */
export function postgresDialect(schema: string): SqlDialect {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw storeRefusal(
      `The name of a PostgreSQL schema is lower-case letters, digits and _, not ${JSON.stringify(schema)}.`,
    );
  return {
    table: (name) => `"${schema}".${name}`,
    parameter: (position) => `$${position}`,
    // A sum of bigint is numeric, which has no bound.
    exactSum: (expression) => `COALESCE(SUM(${expression}), 0)::text`,
    readSum: BigInt,
    equalsText: (column, parameter) =>
      `${beginningOf(column)} = ${beginningOf(`${parameter}::text`)} AND ${column} = ${parameter}`,
  };
}

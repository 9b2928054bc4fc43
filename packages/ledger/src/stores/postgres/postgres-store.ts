/**
 * A store in PostgreSQL, for several gateways at once. A batch of entries and the place they were read from are one statement, so
 * they are kept together or not at all, and whoever is not sure may send them again.
 */
import type { LedgerEntry, SpendQuery, SpendRow } from "../../entries/index.ts";
import { KeyDesk, type KeyStore } from "../../keys/index.ts";
import type { Consumption, ConsumptionQuery, EntryQuery, IngestBatch, LedgerStore } from "../ledger-store.ts";
import { consumptionOfRow, selectConsumption } from "../sql/consumption-query.ts";
import { ENTRY_COLUMN_NAMES, ENTRY_COLUMNS, type ColumnKind } from "../sql/entry-columns.ts";
import { readEntries } from "../sql/entry-queries.ts";
import { selectSpend, spendOfRow } from "../sql/spend-query.ts";
import type { SqlDialect } from "../sql/sql-dialect.ts";
import { originalText, storedText } from "../sql/stored-text.ts";
import { requireWholeNumbers } from "../whole-numbers.ts";
import type { PostgresConnections, PostgresValue } from "./postgres-pool.ts";
import { PostgresKeyBackend } from "./postgres-key-backend.ts";

const TYPE_NAMES: Readonly<Record<ColumnKind, string>> = { text: "text[]", integer: "bigint[]", json: "json[]" };

/** A store whose schema is up to date. */
export class PostgresStore implements LedgerStore {
  readonly keys: KeyStore;
  readonly #connections: PostgresConnections;
  readonly #dialect: SqlDialect;
  readonly #insertEntries: string;
  readonly #insertAll: string;

  constructor(connections: PostgresConnections, dialect: SqlDialect) {
    this.#connections = connections;
    this.#dialect = dialect;
    this.keys = new KeyDesk(new PostgresKeyBackend(connections, dialect));
    this.#insertEntries = insertEntries(dialect);
    this.#insertAll = `WITH booked AS (${this.#insertEntries}) ${putProgress(dialect, ENTRY_COLUMNS.length + 1)}`;
  }

  async ingest({ entries, progress }: IngestBatch): Promise<void> {
    for (const entry of entries) requireWholeNumbers(entry);
    const columns: PostgresValue[] = ENTRY_COLUMNS.map((column) => entries.map((entry) => column.read(entry)));
    if (progress === null) await this.#connections.query("ingest entries", this.#insertEntries, columns);
    else {
      columns.push(storedText(progress.file), progress.offset);
      await this.#connections.query("ingest entries", this.#insertAll, columns);
    }
  }

  async progress(): Promise<ReadonlyMap<string, number>> {
    const text = `SELECT file, position FROM ${this.#dialect.table("journal_progress")}`;
    const rows = await this.#connections.query("read the progress of journals", text);
    return new Map(rows.map((row) => [originalText(row["file"] as string), row["position"] as number]));
  }

  async forgetProgress(files: readonly string[]): Promise<void> {
    const text = `DELETE FROM ${this.#dialect.table("journal_progress")} WHERE file = ANY($1::text[])`;
    await this.#connections.query("forget the progress of journals", text, [files.map(storedText)]);
  }

  entries(query: EntryQuery): AsyncIterable<LedgerEntry> {
    return readEntries(this.#dialect, query, ({ text, values }) =>
      this.#connections.query("read entries", text, values),
    );
  }

  async spend(query: SpendQuery): Promise<readonly SpendRow[]> {
    const { text, values } = selectSpend(this.#dialect, query);
    const rows = await this.#connections.query("sum entries", text, values);
    return rows.map((row) => spendOfRow(this.#dialect, query, row));
  }

  async consumption(query: ConsumptionQuery): Promise<readonly Consumption[]> {
    const { text, values } = selectConsumption(this.#dialect, query);
    const rows = await this.#connections.query("sum what accounts have taken", text, values);
    return rows.map((row) => consumptionOfRow(this.#dialect, query, row));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

/** One parameter per column: an array with the value of every row. */
function insertEntries(dialect: SqlDialect): string {
  const arrays = ENTRY_COLUMNS.map(({ kind }, index) => `${dialect.parameter(index + 1)}::${TYPE_NAMES[kind]}`);
  return (
    `INSERT INTO ${dialect.table("entries")} (${ENTRY_COLUMN_NAMES}) SELECT * FROM unnest(${arrays.join(", ")}) ` +
    "ON CONFLICT (id) DO NOTHING"
  );
}

function putProgress(dialect: SqlDialect, position: number): string {
  return (
    `INSERT INTO ${dialect.table("journal_progress")} AS kept (file, position) ` +
    `VALUES (${dialect.parameter(position)}, ${dialect.parameter(position + 1)}) ` +
    "ON CONFLICT (file) DO UPDATE SET position = GREATEST(kept.position, excluded.position)"
  );
}

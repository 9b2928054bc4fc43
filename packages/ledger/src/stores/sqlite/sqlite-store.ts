/**
 * A store in one SQLite file, for one machine. Statements are synchronous and short; a batch of entries and the place they were read
 * from are one transaction.
 */
import type { LedgerEntry, SpendQuery, SpendRow } from "../../entries/index.ts";
import { KeyDesk, type KeyStore } from "../../keys/index.ts";
import type { Consumption, ConsumptionQuery, EntryQuery, IngestBatch, LedgerStore } from "../ledger-store.ts";
import { consumptionOfRow, selectConsumption } from "../sql/consumption-query.ts";
import { ENTRY_COLUMN_NAMES, ENTRY_COLUMNS } from "../sql/entry-columns.ts";
import { readEntries } from "../sql/entry-queries.ts";
import type { Migration } from "../sql/migrations.ts";
import { selectSpend, spendOfRow } from "../sql/spend-query.ts";
import { originalText, storedText } from "../sql/stored-text.ts";
import { storeFailure, storeRefusal } from "../store-failure.ts";
import { requireWholeNumbers } from "../whole-numbers.ts";
import { SQLITE_DIALECT } from "./sqlite-dialect.ts";
import { findSqliteDriver, readRows, type SqliteDatabase, type SqliteDriverName } from "./sqlite-driver.ts";
import { inTransaction, openSqliteFile } from "./sqlite-file.ts";
import { SqliteKeyBackend, type SqliteWork } from "./sqlite-key-backend.ts";
import { SQLITE_MIGRATIONS } from "./sqlite-schema.ts";

/** How a SQLite store is opened. */
export interface SqliteStoreOptions {
  /** Its path. File and folder are created for their owner alone. */
  readonly file: string;
  /**
   * `normal` (default) = what was ingested survives the death of the process; `full` = it survives power loss, for an fsync per
   * batch.
   */
  readonly synchronous?: "normal" | "full";
  /** Default: Node's own where it has one, else `libsql`. */
  readonly driver?: SqliteDriverName;
}

/**
 * Opens or creates a store in a SQLite file, and brings its schema up to date. Rejects with `ledger_store_failed` when there is no
 * driver, when the file belongs to another program, or when it was written by a version that this one cannot read.
 */
export function openSqliteStore(options: SqliteStoreOptions): Promise<LedgerStore> {
  return openSqliteWith(options, SQLITE_MIGRATIONS);
}

/** The same with other steps of the schema. */
export async function openSqliteWith(
  { file, synchronous = "normal", driver }: SqliteStoreOptions,
  migrations: readonly Migration[],
): Promise<LedgerStore> {
  try {
    return new SqliteStore(openSqliteFile(await findSqliteDriver(driver), { file, synchronous, migrations }));
  } catch (error) {
    throw storeFailure("SQLite", `open ${file}`, error);
  }
}

const INSERT_ENTRY = `INSERT INTO entries (${ENTRY_COLUMN_NAMES}) VALUES (${ENTRY_COLUMNS.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING`;

const PUT_PROGRESS =
  "INSERT INTO journal_progress (file, position) VALUES (?1, ?2) " +
  "ON CONFLICT (file) DO UPDATE SET position = MAX(position, excluded.position)";

class SqliteStore implements LedgerStore {
  readonly keys: KeyStore;
  #database: SqliteDatabase | null;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    const run: SqliteWork = (action, work) => this.#run(action, work);
    const transact: SqliteWork = (action, work) => run(action, (opened) => inTransaction(opened, () => work(opened)));
    this.keys = new KeyDesk(new SqliteKeyBackend(run, transact));
  }

  async ingest({ entries, progress }: IngestBatch): Promise<void> {
    for (const entry of entries) requireWholeNumbers(entry);
    return this.#run("ingest entries", (database) =>
      inTransaction(database, () => {
        const insert = database.prepare(INSERT_ENTRY);
        for (const entry of entries) insert.run(...ENTRY_COLUMNS.map((column) => column.read(entry)));
        if (progress !== null) database.prepare(PUT_PROGRESS).run(storedText(progress.file), progress.offset);
      }),
    );
  }

  progress(): Promise<ReadonlyMap<string, number>> {
    return this.#run("read the progress of journals", (database) => {
      const rows = readRows(database, "SELECT file, position FROM journal_progress");
      return new Map(rows.map((row) => [originalText(row["file"] as string), row["position"] as number]));
    });
  }

  forgetProgress(files: readonly string[]): Promise<void> {
    return this.#run("forget the progress of journals", (database) =>
      inTransaction(database, () => {
        const forget = database.prepare("DELETE FROM journal_progress WHERE file = ?1");
        for (const file of files) forget.run(storedText(file));
      }),
    );
  }

  entries(query: EntryQuery): AsyncIterable<LedgerEntry> {
    return readEntries(SQLITE_DIALECT, query, ({ text, values }) =>
      this.#run("read entries", (database) => readRows(database, text, values)),
    );
  }

  spend(query: SpendQuery): Promise<readonly SpendRow[]> {
    return this.#run("sum entries", (database) => {
      const { text, values } = selectSpend(SQLITE_DIALECT, query);
      return readRows(database, text, values).map((row) => spendOfRow(SQLITE_DIALECT, query, row));
    });
  }

  consumption(query: ConsumptionQuery): Promise<readonly Consumption[]> {
    return this.#run("sum what accounts have taken", (database) => {
      const { text, values } = selectConsumption(SQLITE_DIALECT, query);
      return readRows(database, text, values).map((row) => consumptionOfRow(SQLITE_DIALECT, query, row));
    });
  }

  async close(): Promise<void> {
    const database = this.#database;
    this.#database = null;
    database?.close();
  }

  async #run<Value>(action: string, work: (database: SqliteDatabase) => Value): Promise<Value> {
    if (this.#database === null) throw storeRefusal(`The SQLite store is closed and cannot ${action}.`);
    try {
      return work(this.#database);
    } catch (error) {
      throw storeFailure("SQLite", action, error);
    }
  }
}

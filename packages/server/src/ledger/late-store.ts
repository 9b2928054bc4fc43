/**
 * A store that may not be there yet: opened on first need, and tried again by every later call until it can be. Callers see one store
 * that fails for a while, as it may at any other time. Calls that come together share one try.
 */
import { GatewayError } from "@dragoman/core";
import type {
  Consumption,
  ConsumptionQuery,
  EntryQuery,
  IngestBatch,
  KeyStore,
  LedgerEntry,
  LedgerStore,
  SpendQuery,
  SpendRow,
} from "@dragoman/ledger";

/** A store over one that is opened late. */
export class LateStore implements LedgerStore {
  readonly keys: KeyStore;
  readonly #open: () => Promise<LedgerStore>;
  #opening: Promise<LedgerStore> | null = null;
  #isClosed = false;

  constructor(open: () => Promise<LedgerStore>) {
    this.#open = open;
    this.keys = {
      revision: async () => (await this.#store()).keys.revision(),
      load: async () => (await this.#store()).keys.load(),
      create: async (key) => (await this.#store()).keys.create(key),
      revoke: async (key, atMs) => (await this.#store()).keys.revoke(key, atMs),
      rotate: async (key, hash, graceUntilMs) => (await this.#store()).keys.rotate(key, hash, graceUntilMs),
      update: async (key, change) => (await this.#store()).keys.update(key, change),
      putOwner: async (owner) => (await this.#store()).keys.putOwner(owner),
      removeOwner: async (id) => (await this.#store()).keys.removeOwner(id),
    };
  }

  /** Tries to open it now. */
  async ready(): Promise<void> {
    await this.#store();
  }

  async ingest(batch: IngestBatch): Promise<void> {
    await (await this.#store()).ingest(batch);
  }

  async progress(): Promise<ReadonlyMap<string, number>> {
    return (await this.#store()).progress();
  }

  async forgetProgress(files: readonly string[]): Promise<void> {
    await (await this.#store()).forgetProgress(files);
  }

  async *entries(query: EntryQuery): AsyncGenerator<LedgerEntry> {
    yield* (await this.#store()).entries(query);
  }

  async spend(query: SpendQuery): Promise<readonly SpendRow[]> {
    return (await this.#store()).spend(query);
  }

  async consumption(query: ConsumptionQuery): Promise<readonly Consumption[]> {
    return (await this.#store()).consumption(query);
  }

  /** Closes what was opened. A try that is under way is waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const opening = this.#opening;
    if (opening === null) return;
    const opened = await opening.catch(() => null);
    await opened?.close();
  }

  #store(): Promise<LedgerStore> {
    if (this.#isClosed)
      return Promise.reject(new GatewayError("ledger_store_failed", "The store of the ledger is closed."));
    this.#opening ??= this.#try();
    return this.#opening;
  }

  async #try(): Promise<LedgerStore> {
    try {
      return await this.#open();
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }
}

/** The one implementation of key stores: what they differ in is how a request is looked up, decided and written in one transaction. */
import type { KeyRequest, KeyUpdate } from "./key-changes.ts";
import type { KeyChange, KeyDirectory, KeyStore, StoredKey, StoredOwner } from "./stored-key.ts";

/** What a kind of store does for keys. */
export interface KeyBackend {
  revision(): Promise<number>;
  load(): Promise<KeyDirectory>;
  /** Looks up, decides, writes and raises the revision in one transaction. */
  change(request: KeyRequest): Promise<KeyChange>;
  putOwner(owner: StoredOwner): Promise<void>;
  removeOwner(id: string): Promise<boolean>;
}

/** Keys and owners of a store. */
export class KeyDesk implements KeyStore {
  readonly #backend: KeyBackend;

  constructor(backend: KeyBackend) {
    this.#backend = backend;
  }

  revision(): Promise<number> {
    return this.#backend.revision();
  }

  load(): Promise<KeyDirectory> {
    return this.#backend.load();
  }

  create(key: StoredKey): Promise<KeyChange> {
    return this.#backend.change({ kind: "create", key });
  }

  revoke(key: string, atMs: number): Promise<KeyChange> {
    return this.#backend.change({ kind: "revoke", key, atMs });
  }

  rotate(key: string, hash: string, graceUntilMs: number): Promise<KeyChange> {
    return this.#backend.change({ kind: "rotate", key, hash, graceUntilMs });
  }

  update(key: string, change: KeyUpdate): Promise<KeyChange> {
    return this.#backend.change({ kind: "update", key, change });
  }

  putOwner(owner: StoredOwner): Promise<void> {
    return this.#backend.putOwner(owner);
  }

  removeOwner(id: string): Promise<boolean> {
    return this.#backend.removeOwner(id);
  }
}

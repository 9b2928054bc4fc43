/** Keys and owners in memory. */
import {
  decideKeyChange,
  questionOf,
  type KeyBackend,
  type KeyChange,
  type KeyDirectory,
  type KeyFacts,
  type KeyQuestion,
  type KeyRequest,
  type StoredKey,
  type StoredOwner,
} from "../../keys/index.ts";

/** Keeps keys and owners as long as the process lives. */
export class MemoryKeyBackend implements KeyBackend {
  readonly #keys = new Map<string, StoredKey>();
  readonly #owners = new Map<string, StoredOwner>();
  readonly #requireOpen: () => void;
  #revision = 0;

  /** `requireOpen` throws once the store is closed. */
  constructor(requireOpen: () => void) {
    this.#requireOpen = requireOpen;
  }

  async revision(): Promise<number> {
    this.#requireOpen();
    return this.#revision;
  }

  async load(): Promise<KeyDirectory> {
    this.#requireOpen();
    return { revision: this.#revision, keys: [...this.#keys.values()], owners: [...this.#owners.values()] };
  }

  async change(request: KeyRequest): Promise<KeyChange> {
    this.#requireOpen();
    const { answer, write } = decideKeyChange(request, this.#lookUp(questionOf(request)));
    if (write !== null) {
      this.#keys.set(write.id, write);
      this.#revision += 1;
    }
    return answer;
  }

  async putOwner(owner: StoredOwner): Promise<void> {
    this.#requireOpen();
    this.#owners.set(owner.id, owner);
    this.#revision += 1;
  }

  async removeOwner(id: string): Promise<boolean> {
    this.#requireOpen();
    const isRemoved = this.#owners.delete(id);
    if (isRemoved) this.#revision += 1;
    return isRemoved;
  }

  #lookUp({ identity, name, hashes }: KeyQuestion): KeyFacts {
    const keys = [...this.#keys.values()];
    const living = keys.filter(({ revokedMs }) => revokedMs === null);
    return {
      named: keys.filter((key) => key.id === identity || key.name === identity),
      nameHolder: living.find((key) => key.name === name)?.id ?? null,
      hashHolder: living.find(({ secrets }) => secrets.some(({ hash }) => hashes.includes(hash)))?.id ?? null,
    };
  }
}

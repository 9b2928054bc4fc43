/**
 * The keys of a store, in memory: authentication waits for nobody. States: empty → known, and known ever after; while the store cannot
 * be reached the last known keys hold. Whether anything changed is asked every few seconds.
 */
import type { Clock, Logger, Principal, Timer } from "@dragoman/core";
import type { KeyDirectory, KeyStore, StoredKey } from "@dragoman/ledger";

/** What stored keys need from outside. */
export interface StoredKeysOptions {
  readonly store: Pick<KeyStore, "revision" | "load">;
  readonly clock: Pick<Clock, "schedule">;
  readonly logger: Logger;
  /** Between two questions whether anything changed. Default 2 s: so long a revoked key may go on. */
  readonly pollMs?: number;
  /** Called with all keys and owners whenever they changed, the first time too. Must not throw. */
  readonly onChange?: (directory: KeyDirectory) => void;
}

/** A secret's key, and until when it is its. */
interface Holder {
  readonly principal: Principal;
  /** Null = for ever. */
  readonly untilMs: number | null;
}

const DEFAULT_POLL_MS = 2_000;

/** Keeps the keys of one store. */
export class StoredKeys {
  readonly #options: StoredKeysOptions;
  #holders: ReadonlyMap<string, Holder> = new Map();
  #revision: number | null = null;
  #timer: Timer | null = null;
  #isDown = false;
  #isStopped = false;
  #refreshing: Promise<void> | null = null;

  constructor(options: StoredKeysOptions) {
    this.#options = options;
  }

  /** Reads the keys and goes on asking. Resolves also when the store cannot be reached: then there are none until it can. */
  async start(): Promise<void> {
    await this.refresh();
    this.#plan();
  }

  /** Asks no more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Whether the store answered the last question. */
  get isUp(): boolean {
    return !this.#isDown;
  }

  /** Asks now whether anything changed. Calls that come together share one question. Never rejects. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#ask().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Whose key has this hash; null when it is nobody's at this moment. */
  find(hash: string, nowMs: number): Principal | null {
    const holder = this.#holders.get(hash);
    if (holder === undefined || (holder.untilMs !== null && nowMs >= holder.untilMs)) return null;
    return holder.principal;
  }

  /** Every hash that a key has now or had in its grace. */
  get hashes(): Iterable<string> {
    return this.#holders.keys();
  }

  #plan(): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.schedule(this.#options.pollMs ?? DEFAULT_POLL_MS, () => {
      void this.refresh().then(() => this.#plan());
    });
  }

  async #ask(): Promise<void> {
    const { store, onChange } = this.#options;
    try {
      if ((await store.revision()) !== this.#revision) {
        const directory = await store.load();
        if (this.#isStopped) return;
        this.#holders = holdersOf(directory.keys);
        this.#revision = directory.revision;
        onChange?.(directory);
      }
      this.#report(false, null);
    } catch (error) {
      this.#report(true, error);
    }
  }

  /** Once when the store goes down, once when it is back. */
  #report(isDown: boolean, error: unknown): void {
    if (isDown === this.#isDown || this.#isStopped) return;
    this.#isDown = isDown;
    const { logger } = this.#options;
    const keys = this.#holders.size;
    if (isDown)
      logger.error({ keys, error: String(error) }, "the store of keys cannot be read; the last known keys hold");
    else logger.info({ keys }, "the store of keys can be read again");
  }
}

function holdersOf(keys: readonly StoredKey[]): ReadonlyMap<string, Holder> {
  const holders = new Map<string, Holder>();
  for (const key of keys) {
    if (key.revokedMs !== null) continue;
    const { id, owner, tags, models, debug, trusted } = key;
    const principal: Principal = Object.freeze({ id, owner, tags, models, debug, isTrusted: trusted });
    for (const { hash, untilMs } of key.secrets)
      holders.set(hash, Object.freeze({ principal, untilMs: earlier(key.expiresMs, untilMs) }));
  }
  return holders;
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : Math.min(one, other);

// Idle connections per origin, most recently used first, so that a shrinking load lets the oldest run out. Each has its own
// deadline; one sweep timer serves the whole pool, runs only while something is idle, and never keeps the process alive.

/** An idle connection as the pool sees it. */
export interface IdleConnection {
  readonly poolKey: string;
  /** Monotonic time from which it may not be used any more. */
  readonly idleUntilMs: number;
  /** False from the moment its socket is being destroyed. */
  readonly isUsable: boolean;
  /** Destroys the socket. */
  discard(): void;
}

/** Where the pool keeps what is idle. */
export class IdlePool<T extends IdleConnection> {
  readonly #byOrigin: Map<string, T[]> = new Map();
  readonly #maxPerOrigin: number;
  readonly #sweepEveryMs: number;
  #sweepTimer: NodeJS.Timeout | null = null;
  #size = 0;

  constructor(maxPerOrigin: number, sweepEveryMs: number) {
    this.#maxPerOrigin = maxPerOrigin;
    this.#sweepEveryMs = sweepEveryMs;
  }

  get size(): number {
    return this.#size;
  }

  /** The most recently used connection that is still within its deadline, or null. */
  take(poolKey: string, nowMs: number): T | null {
    const idle = this.#byOrigin.get(poolKey);
    for (let connection = idle?.pop(); connection !== undefined; connection = idle?.pop()) {
      this.#size -= 1;
      if (connection.idleUntilMs > nowMs && connection.isUsable) return connection;
      connection.discard();
    }
    return null;
  }

  /** False when there is no room; the connection is then the caller's to destroy. */
  park(connection: T): boolean {
    let idle = this.#byOrigin.get(connection.poolKey);
    if (idle === undefined) {
      idle = [];
      this.#byOrigin.set(connection.poolKey, idle);
    }
    if (idle.length >= this.#maxPerOrigin) return false;
    idle.push(connection);
    this.#size += 1;
    this.#sweepTimer ??= setTimeout(sweep, this.#sweepEveryMs, this).unref();
    return true;
  }

  /** Forgets a connection that died while idle. */
  remove(connection: T): void {
    const idle = this.#byOrigin.get(connection.poolKey);
    const index = idle?.indexOf(connection) ?? -1;
    if (idle === undefined || index < 0) return;
    idle.splice(index, 1);
    this.#size -= 1;
  }

  /** Destroys what is past its deadline. */
  sweep(nowMs: number): void {
    this.#sweepTimer = null;
    for (const [poolKey, idle] of this.#byOrigin) {
      const kept = idle.filter((connection) => connection.idleUntilMs > nowMs);
      if (kept.length === 0) this.#byOrigin.delete(poolKey);
      else this.#byOrigin.set(poolKey, kept);
      this.#size -= idle.length - kept.length;
      for (const connection of idle) if (connection.idleUntilMs <= nowMs) connection.discard();
    }
    if (this.#size > 0) this.#sweepTimer = setTimeout(sweep, this.#sweepEveryMs, this).unref();
  }

  /** Destroys everything. */
  clear(): void {
    if (this.#sweepTimer !== null) clearTimeout(this.#sweepTimer);
    this.sweep(Number.POSITIVE_INFINITY);
  }
}

function sweep<T extends IdleConnection>(pool: IdlePool<T>): void {
  pool.sweep(performance.now());
}

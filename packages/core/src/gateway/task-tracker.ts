/**
 * Everything the gateway still has to do, so that shutdown can wait for it and nothing fails unseen. A task that throws is
 * reported once; it never becomes an unhandled rejection.
 */

/** Receives the error of a task that should not have thrown. */
export type TaskFailure = (error: unknown, name: string) => void;

export class TaskTracker {
  readonly #onFailure: TaskFailure;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(onFailure: TaskFailure) {
    this.#onFailure = onFailure;
  }

  /** Tasks that have not ended. */
  get size(): number {
    return this.#running;
  }

  /** Registers a task that was started. */
  add(name: string, task: Promise<void>): void {
    this.#running += 1;
    void this.#watch(name, task);
  }

  /** Registers work that ends with a call instead of a promise; the returned function ends it once, further calls do nothing. */
  begin(): () => void {
    this.#running += 1;
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      this.#end();
    };
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  async #watch(name: string, task: Promise<void>): Promise<void> {
    try {
      await task;
    } catch (error) {
      this.#onFailure(error, name);
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

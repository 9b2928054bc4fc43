/**
 * The moment between the first content and the commit, in which hooks decide. Without hooks there is none. With them the reader of
 * the answer may still be in the middle of a read: what it does then waits here, in order, until they have decided.
 */
import type { NeutralError } from "../ir/index.ts";

export class CommitApproval {
  #waiting: (() => void)[] | null = null;

  /** Hooks are deciding. */
  get isPending(): boolean {
    return this.#waiting !== null;
  }

  /** Keeps an action until the hooks have decided; false when none is deciding, and the caller goes on by itself. */
  defer(action: () => void): boolean {
    if (this.#waiting === null) return false;
    this.#waiting.push(action);
    return true;
  }

  /** Waits for the decision and hands it over, with what was deferred meanwhile. */
  async decide(
    approval: Promise<NeutralError | null>,
    onDecided: (error: NeutralError | null, deferred: readonly (() => void)[]) => void,
  ): Promise<void> {
    const waiting: (() => void)[] = [];
    this.#waiting = waiting;
    const error = await approval;
    this.#waiting = null;
    onDecided(error, waiting);
  }
}

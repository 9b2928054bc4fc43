/**
 * Schemas change forward only, step by step, each step in a transaction of its own and written down in the table `migrations`.
 * Invariant: a step that is published never changes.
 */
import { storeRefusal } from "../store-failure.ts";

/** One step from a schema to the next. */
export interface Migration {
  /** From 1, without gaps. */
  readonly version: number;
  /** What it brings, in a few words. */
  readonly title: string;
  /**
   * Whether a Dragoman that does not know this step may go on using a store that has it: everything that is there stays, and what is
   * new is filled in by itself.
   */
  readonly isCompatible: boolean;
  readonly statements: readonly string[];
}

/** A step that a store has. */
export interface AppliedMigration {
  readonly version: number;
  readonly isCompatible: boolean;
}

/** The steps that a store still needs, in order. Throws `ledger_store_failed` when it has steps that this version cannot live with. */
export function pendingMigrations(
  store: string,
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const newest = known.at(-1)?.version ?? 0;
  const strange = applied.filter(({ version, isCompatible }) => version > newest && !isCompatible);
  if (strange.length > 0) {
    const version = Math.max(...applied.map((each) => each.version));
    throw storeRefusal(
      `The ${store} store has schema ${version}, this version of Dragoman knows schemas up to ${newest}. Use a newer version.`,
    );
  }
  return known.filter(({ version }) => applied.every((each) => each.version !== version));
}

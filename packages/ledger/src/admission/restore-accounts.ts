/**
 * What accounts spent before this process began, from the entries that a store keeps. Requests that were held and never became an
 * attempt have no entry and are not counted again; what a sliding window counts is dated by parts of it, up to one part too late.
 */
import {
  calendarWindow,
  nameLimit,
  type CountedLimit,
  type Limit,
  type LimitSet,
  type Scope,
} from "../limits/index.ts";
import type { Consumption, ConsumptionQuery, LedgerStore } from "../stores/index.ts";
import type { LimitDirectory } from "./limit-directory.ts";

/** Where accounts are restored from. */
export interface RestoreOptions {
  readonly store: Pick<LedgerStore, "consumption">;
  readonly limits: LimitDirectory;
  /** Owner of a key; null = it has none, or there is no such key. */
  readonly ownerOf: (key: string) => string | null;
  readonly nowMs: number;
  /** Entries that ended before this time. Default: all that there are. */
  readonly untilMs?: number;
}

/** What was spent of one limit. */
export interface RestoredSpend {
  readonly scope: Scope;
  readonly id: string;
  readonly set: LimitSet;
  readonly limit: Limit;
  readonly amount: number;
  readonly atMs: number;
}

/** Books what was spent of a limit before a bank began. `LeaseBank` fits. */
export interface RestorableBank {
  restore(limit: CountedLimit, amount: number, spend: { readonly amount: number; readonly atMs: number }): void;
}

/** The same for the limits that a bank shares out; before anybody joins it. */
export async function restoreBank(bank: RestorableBank, options: RestoreOptions): Promise<void> {
  for await (const { scope, id, limit, ...spend } of restoredSpends(options)) {
    const { dimension, per, window, amount } = limit;
    bank.restore({ name: nameLimit(scope, id, dimension, per), scope, id, dimension, window }, amount, spend);
  }
}

type Entered = Exclude<Scope, "each-key">;

const SCOPES: readonly Entered[] = ["global", "key", "owner", "end-user", "model", "deployment"];

/** Parts that a sliding window is asked for in. */
const PARTS = 60;

/** Everything that still counts, limit by limit. Rejects as the store does. */
export async function* restoredSpends(options: RestoreOptions): AsyncIterable<RestoredSpend> {
  const { store, nowMs, untilMs } = options;
  const until = untilMs === undefined ? {} : { untilMs };
  const sinceMs = Math.min(calendarWindow("month", nowMs).startMs, calendarWindow("week", nowMs).startMs);
  for (const scope of SCOPES) {
    // Who has spent anything says which limits there are, and those say which windows are worth a question.
    const spenders = await store.consumption({ scope, sinceMs, ...until, partMs: null });
    for (const query of windowsOf(
      spenders.flatMap(({ id }) => setsOf(scope, id, options)),
      nowMs,
    ).values())
      for (const row of await store.consumption({ ...query, ...until, scope }))
        yield* spendsOf(scope, row, query, options);
  }
}

/** What a row of a window says of the limits that have this window. */
function* spendsOf(
  scope: Entered,
  row: Consumption,
  query: WindowQuery,
  options: RestoreOptions,
): IterableIterator<RestoredSpend> {
  // As late as the part allows, so that nothing leaves a window too early.
  const atMs = query.partMs === null ? row.partStartMs : Math.min(row.partStartMs + query.partMs - 1, options.nowMs);
  for (const { scope: whose, set } of setsOf(scope, row.id, options))
    for (const limit of set.limits) {
      if (limit.per !== query.per) continue;
      const { dimension } = limit;
      const amount = dimension === "tokens" ? row.inputTokens + row.outputTokens : row[dimension];
      yield { scope: whose, id: row.id, set, limit, amount, atMs };
    }
}

interface WindowQuery extends Pick<ConsumptionQuery, "sinceMs" | "partMs"> {
  readonly per: string;
}

interface OwnedSet {
  readonly scope: Scope;
  readonly set: LimitSet;
}

/** A key is limited by itself and by what its owner sets for each of its keys. */
function setsOf(scope: Entered, id: string, { limits, ownerOf }: RestoreOptions): readonly OwnedSet[] {
  switch (scope) {
    case "global":
      return [{ scope, set: limits.global() }];
    case "key": {
      const owner = ownerOf(id);
      const own = { scope, set: limits.key(id) };
      return owner === null ? [own] : [own, { scope: "each-key", set: limits.eachKey(owner) }];
    }
    case "owner":
      return [{ scope, set: limits.owner(id) }];
    case "end-user":
      return [{ scope, set: limits.eachEndUser(principalOf(id, ownerOf)) }];
    case "model":
      return [{ scope, set: limits.model(id) }];
    case "deployment":
      return [{ scope, set: limits.deployment(id) }];
  }
}

/** Whose end user it is, as far as its account's name tells. */
function principalOf(
  account: string,
  ownerOf: RestoreOptions["ownerOf"],
): Parameters<LimitDirectory["eachEndUser"]>[0] {
  const [whose = ""] = account.split("\n", 1);
  const name = whose.slice(whose.indexOf(" ") + 1);
  const isOwner = whose.startsWith("owner ");
  return { id: isOwner ? "" : name, owner: isOwner ? name : ownerOf(name), tags: [], models: [], debug: false };
}

function windowsOf(sets: readonly OwnedSet[], nowMs: number): ReadonlyMap<string, WindowQuery> {
  const queries = new Map<string, WindowQuery>();
  for (const { set } of sets)
    for (const { per, window } of set.limits) {
      if (queries.has(per)) continue;
      if (window.kind === "calendar")
        queries.set(per, { per, sinceMs: calendarWindow(window.unit, nowMs).startMs, partMs: null });
      else {
        const partMs = Math.max(Math.floor(window.lengthMs / PARTS), 1);
        queries.set(per, { per, sinceMs: nowMs - window.lengthMs - 2 * partMs, partMs });
      }
    }
  return queries;
}

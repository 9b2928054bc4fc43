/**
 * All accounts by scope and id. Names of end users come from clients, so the book is bounded: an account in which nothing runs and
 * nothing counts any more goes first; when there is none, the oldest in which nothing runs.
 */
import { NO_LIMITS, type LimitSet } from "./limit-config.ts";
import type { LeaseLink } from "./lease.ts";
import { ScopeAccount } from "./scope-account.ts";
import type { Scope } from "./standing.ts";

/** Accounts kept per scope, unless told otherwise. */
const DEFAULT_MAX_ACCOUNTS = 100_000;

/** Accounts looked at to make room for one more. */
const LOOKED_AT = 64;

/** Finds and makes accounts. */
export class AccountBook {
  readonly #maxAccounts: number;
  readonly #link: LeaseLink | null;
  readonly #accounts: Readonly<Record<Scope, Map<string, ScopeAccount>>> = {
    key: new Map(),
    owner: new Map(),
    "each-key": new Map(),
    "end-user": new Map(),
    model: new Map(),
    deployment: new Map(),
    global: new Map(),
  };

  /** `link`: who counts the limits for several processes; null = this process counts alone. */
  constructor(maxAccounts: number = DEFAULT_MAX_ACCOUNTS, link: LeaseLink | null = null) {
    this.#maxAccounts = maxAccounts;
    this.#link = link;
  }

  /** The account under these limits; null where there is nothing to limit and never was. */
  open(scope: Scope, id: string, limits: LimitSet, nowMs: number): ScopeAccount | null {
    const accounts = this.#accounts[scope];
    const account = accounts.get(id);
    if (account !== undefined) {
      account.adopt(limits);
      return account;
    }
    if (limits === NO_LIMITS || (limits.limits.length === 0 && limits.parallel === null)) return null;
    if (accounts.size >= this.#maxAccounts) makeRoom(accounts, nowMs);
    const opened = new ScopeAccount(scope, id, limits, this.#link);
    accounts.set(id, opened);
    return opened;
  }

  find(scope: Scope, id: string): ScopeAccount | null {
    return this.#accounts[scope].get(id) ?? null;
  }

  /** Accounts of one scope, oldest first. */
  all(scope: Scope): IterableIterator<ScopeAccount> {
    return this.#accounts[scope].values();
  }
}

function makeRoom(accounts: Map<string, ScopeAccount>, nowMs: number): void {
  let looked = 0;
  let spare: ScopeAccount | null = null;
  for (const account of accounts.values()) {
    if (account.isIdle(nowMs)) {
      spare = account;
      break;
    }
    if (!account.isHeld) spare ??= account;
    looked += 1;
    if (looked === LOOKED_AT) break;
  }
  if (spare === null) return;
  accounts.delete(spare.id);
  spare.retire();
}

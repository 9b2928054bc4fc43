/**
 * The accounts of one exchange. Invariants: a claim is taken in every account or in none; what is held in an account is given back
 * with the same numbers, once; a parallel slot is returned once.
 */
import type { AccountBook, Blocked, LedgerAlert, LimitSet, Need, Scope, ScopeAccount } from "../limits/index.ts";
import { addNanoUsd, NO_AMOUNTS, ONE_REQUEST, type Amounts } from "../money/index.ts";
import { blockedBy, findBlocked } from "./room.ts";

type OnAlert = ((alert: LedgerAlert) => void) | null;

/** What one step of an exchange needs: all of it, or the step is not taken. */
export interface Claim {
  /** In every account of the exchange, on top of what is held there; null = nothing more. */
  readonly amounts: Amounts | null;
  /** A parallel slot in the accounts from this one on. */
  readonly slotsFrom: number;
  /** In the deployment's account, with a slot of its own; null = the step goes to none. */
  readonly deployment: { readonly account: ScopeAccount; readonly amounts: Amounts } | null;
}

/** Accounts, what is held in them, and slots. */
export class TicketAccounts {
  readonly #book: AccountBook;
  readonly #shared: ScopeAccount[] = [];
  /** Accounts whose parallel slot the exchange has. */
  #slots: ScopeAccount[] = [];
  /** What is held in every shared account. */
  #held: Amounts = NO_AMOUNTS;
  #deployment: Claim["deployment"] = null;

  constructor(book: AccountBook) {
    this.#book = book;
  }

  /** What is held in every account of the exchange; nothing between a settlement and the next attempt. */
  get held(): Amounts {
    return this.#held;
  }

  /** How many accounts the exchange is held against. */
  get size(): number {
    return this.#shared.length;
  }

  /** The exchange is held against this account from now on, if it has limits. */
  add(scope: Scope, id: string, limits: LimitSet, nowMs: number): void {
    const account = this.#book.open(scope, id, limits, nowMs);
    if (account !== null) this.#shared.push(account);
  }

  /** An account that only one attempt is held against. */
  openDeployment(id: string, limits: LimitSet, nowMs: number): ScopeAccount | null {
    return this.#book.open("deployment", id, limits, nowMs);
  }

  /** Whether money is limited anywhere. */
  hasBudget(deployment: ScopeAccount | null): boolean {
    if (deployment?.hasBudget === true) return true;
    for (const account of this.#shared) if (account.hasBudget) return true;
    return false;
  }

  /** What stands against a claim, or null. */
  findBlocked({ amounts, slotsFrom, deployment }: Claim, nowMs: number): Blocked | null {
    const blocked = amounts === null ? null : findBlocked(this.#shared, amounts, nowMs);
    if (blocked !== null) return blocked;
    for (let index = slotsFrom; index < this.#shared.length; index += 1) {
      const account = this.#shared[index] as ScopeAccount;
      if (!account.hasSlot(nowMs)) return account.slotBlocked();
    }
    return deployment === null ? null : blockedBy(deployment.account, deployment.amounts, nowMs);
  }

  /** The leases that lack something for a claim. */
  needs({ amounts, slotsFrom, deployment }: Claim, nowMs: number): readonly Need[] {
    const needs: Need[] = [];
    for (const [index, account] of this.#shared.entries())
      account.addNeeds(needs, { amounts, slot: index >= slotsFrom }, nowMs);
    if (deployment !== null) deployment.account.addNeeds(needs, { amounts: deployment.amounts, slot: true }, nowMs);
    return needs;
  }

  /** Takes a claim that nothing stands against. */
  take({ amounts, slotsFrom, deployment }: Claim, nowMs: number, onAlert: OnAlert): void {
    if (amounts !== null) this.#hold(amounts, nowMs, onAlert);
    for (let index = slotsFrom; index < this.#shared.length; index += 1) {
      const account = this.#shared[index] as ScopeAccount;
      account.takeSlot();
      this.#slots.push(account);
    }
    if (deployment === null) return;
    this.#deployment = deployment;
    deployment.account.takeSlot();
    deployment.account.hold(deployment.amounts);
    deployment.account.book(ONE_REQUEST, nowMs, onAlert);
  }

  /** Gives back what is held, and books in its place what was taken; null = nothing was. */
  settle(taken: Amounts | null, nowMs: number, onAlert: OnAlert): void {
    const deployment = this.#deployment?.account ?? null;
    this.release();
    if (taken === null) return;
    for (const account of this.#shared) account.book(taken, nowMs, onAlert);
    deployment?.book(taken, nowMs, onAlert);
  }

  /** Gives back what is held, and the deployment's slot. */
  release(): void {
    const held = this.#held;
    const deployment = this.#deployment;
    this.#held = NO_AMOUNTS;
    this.#deployment = null;
    if (held !== NO_AMOUNTS) for (const account of this.#shared) account.release(held);
    if (deployment === null) return;
    deployment.account.release(deployment.amounts);
    deployment.account.returnSlot();
  }

  returnSlots(): void {
    const slots = this.#slots;
    this.#slots = [];
    for (const account of slots) account.returnSlot();
  }

  /** Reports a refusal to whoever watches budgets. */
  report({ limit, scope, id }: Blocked, { deployment }: Claim, nowMs: number, onAlert: OnAlert): void {
    if (onAlert === null || limit === null) return;
    const account =
      scope === "deployment"
        ? deployment?.account
        : this.#shared.find((each) => each.scope === scope && each.id === id);
    account?.reportRefusal(limit, nowMs, onAlert);
  }

  /** The accounts of whoever calls, without those that are the operator's business. */
  *ofCaller(): IterableIterator<ScopeAccount> {
    for (const account of this.#shared) if (account.scope !== "global") yield account;
  }

  #hold(amounts: Amounts, nowMs: number, onAlert: OnAlert): void {
    for (const account of this.#shared) {
      account.hold(amounts);
      if (amounts.requests > 0) account.book(ONE_REQUEST, nowMs, onAlert);
    }
    const { inputTokens, outputTokens, nanoUsd } = this.#held;
    this.#held = {
      requests: 0,
      inputTokens: inputTokens + amounts.inputTokens,
      outputTokens: outputTokens + amounts.outputTokens,
      nanoUsd: addNanoUsd(nanoUsd, amounts.nanoUsd),
    };
  }
}

/** Names of end users are kept in accounts and entries, so they are cut to this. */
const MAX_END_USER_LENGTH = 256;

/** The name as accounts and entries keep it; null = the client names nobody. */
export function endUserOf(name: string | null | undefined): string | null {
  if (typeof name !== "string" || name === "") return null;
  return name.length > MAX_END_USER_LENGTH ? name.slice(0, MAX_END_USER_LENGTH) : name;
}

/** Whether accounts have room, and which one to name when they have not. */
import { isTighter, type Blocked, type ScopeAccount } from "../limits/index.ts";
import type { Amounts } from "../money/index.ts";

/** The limit of these accounts that takes longest to have room, or null when every account has it. */
export function findBlocked(accounts: readonly ScopeAccount[], wanted: Amounts, nowMs: number): Blocked | null {
  let tightest: Blocked | null = null;
  for (const account of accounts) {
    if (account.hasRoom(wanted, nowMs)) continue;
    const blocked = account.findBlocked(wanted, nowMs);
    if (blocked !== null && (tightest === null || isTighter(blocked, tightest))) tightest = blocked;
  }
  return tightest;
}

/** Why one account, its parallel slots included, has no room. */
export function blockedBy(account: ScopeAccount | null, wanted: Amounts, nowMs: number): Blocked | null {
  if (account === null) return null;
  if (!account.hasSlot(nowMs)) return account.slotBlocked();
  return account.hasRoom(wanted, nowMs) ? null : account.findBlocked(wanted, nowMs);
}

/** What has to be held on top, or null. What is held already stays held to the settlement, even if less would do. */
export function moreThan(held: Amounts, wanted: Amounts): Amounts | null {
  const inputTokens = Math.max(wanted.inputTokens - held.inputTokens, 0);
  const outputTokens = Math.max(wanted.outputTokens - held.outputTokens, 0);
  const nanoUsd = Math.max(wanted.nanoUsd - held.nanoUsd, 0);
  return inputTokens + outputTokens + nanoUsd === 0 ? null : { requests: 0, inputTokens, outputTokens, nanoUsd };
}

/** The same for one more request. */
export function withRequest({ inputTokens, outputTokens, nanoUsd }: Amounts): Amounts {
  return { requests: 1, inputTokens, outputTokens, nanoUsd };
}

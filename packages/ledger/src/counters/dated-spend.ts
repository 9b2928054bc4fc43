/** What was spent when, in which account: how a ledger's lines tell what became of calls whose process is gone. */
import type { LedgerEntry, RecordedHold } from "../entries/index.ts";
import { endUserAccountId, type Scope } from "../limits/index.ts";
import { chargedTokens, ONE_REQUEST, type Amounts } from "../money/index.ts";

/** One booking of one account. */
export interface DatedSpend {
  readonly scope: Scope;
  readonly id: string;
  readonly atMs: number;
  readonly amounts: Amounts;
}

/** A reservation counts as a request in every account of its call, whatever becomes of it. */
export function spendsOfHold(hold: RecordedHold): readonly DatedSpend[] {
  return spendsOfCall(hold, ONE_REQUEST, hold.atMs);
}

/** What an attempt is booked with in every account of its call, and in its deployment's, where it is a request as well. */
export function spendsOfEntry(entry: LedgerEntry): readonly DatedSpend[] {
  const { usage, costNanoUsd, deployment, startedMs, endedMs } = entry;
  const amounts: Amounts = {
    requests: 0,
    inputTokens: usage === null ? 0 : chargedTokens(usage.input),
    outputTokens: usage === null ? 0 : chargedTokens(usage.output),
    nanoUsd: costNanoUsd ?? 0,
  };
  return [
    ...spendsOfCall(entry, amounts, endedMs),
    { scope: "deployment", id: deployment, atMs: startedMs, amounts: ONE_REQUEST },
    { scope: "deployment", id: deployment, atMs: endedMs, amounts },
  ];
}

function spendsOfCall(
  { key, owner, endUser, model }: Pick<LedgerEntry, "key" | "owner" | "endUser" | "model">,
  amounts: Amounts,
  atMs: number,
): DatedSpend[] {
  const spends: DatedSpend[] = [
    { scope: "key", id: key, atMs, amounts },
    { scope: "each-key", id: key, atMs, amounts },
    { scope: "global", id: "", atMs, amounts },
    { scope: "model", id: model, atMs, amounts },
  ];
  if (owner !== null) spends.push({ scope: "owner", id: owner, atMs, amounts });
  if (endUser !== null) spends.push({ scope: "end-user", id: endUserAccountId(owner, key, endUser), atMs, amounts });
  return spends;
}

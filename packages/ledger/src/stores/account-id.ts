/** Names the account of an entry in a scope, as admission does. */
import type { LedgerEntry } from "../entries/index.ts";
import { endUserAccountId } from "../limits/index.ts";
import type { ConsumptionQuery } from "./ledger-store.ts";

/** What an account's name is made of. */
export type AccountNames = Pick<LedgerEntry, "key" | "owner" | "endUser" | "model" | "deployment">;

/** The account's name, or null when there is none in this scope. */
export function accountIdOf(names: AccountNames, scope: ConsumptionQuery["scope"]): string | null {
  switch (scope) {
    case "global":
      return "";
    case "end-user":
      return names.endUser === null ? null : endUserAccountId(names.owner, names.key, names.endUser);
    case "key":
    case "owner":
    case "model":
    case "deployment":
      return names[scope];
  }
}

/** What a ledger's numbers must be, so that every store gives back what it was given and sums stay exact. */
import { GatewayError } from "@dragoman/core";

import type { LedgerEntry } from "../entries/index.ts";

/** Throws `state_violation` for an entry with a number that is not whole, or beyond 2^53. */
export function requireWholeNumbers(entry: LedgerEntry): void {
  const wrong = wrongIn(entry) ?? (entry.usage === null ? null : wrongIn(entry.usage));
  if (wrong !== null)
    throw new GatewayError("state_violation", `The entry ${entry.id} has no whole number below 2^53 in ${wrong}.`);
}

function wrongIn(values: object): string | null {
  for (const [name, value] of Object.entries(values))
    if (typeof value === "number" && !Number.isSafeInteger(value)) return name;
  return null;
}

/** Books a batch. An entry that no store can keep must not hold up those behind it. */
import { isGatewayError, type Logger } from "@dragoman/core";

import type { LedgerEntry } from "../../entries/index.ts";
import type { IngestBatch, LedgerStore } from "../ledger-store.ts";

/** What entries are booked with. */
export interface BookingParts {
  readonly store: Pick<LedgerStore, "ingest">;
  readonly logger: Logger;
}

/** Returns how many entries the store refused for what they are; each is logged whole. Rejects when the store fails. */
export async function bookEntries(parts: BookingParts, batch: IngestBatch): Promise<number> {
  if (await isKept(parts, batch)) return 0;
  let refused = 0;
  for (const entry of batch.entries) {
    if (await isKept(parts, { entries: [entry], progress: null })) continue;
    reportRefused(parts.logger, entry);
    refused += 1;
  }
  await parts.store.ingest({ entries: [], progress: batch.progress });
  return refused;
}

async function isKept({ store }: BookingParts, batch: IngestBatch): Promise<boolean> {
  try {
    await store.ingest(batch);
    return true;
  } catch (thrown) {
    if (isGatewayError(thrown) && thrown.code === "state_violation") return false;
    throw thrown;
  }
}

function reportRefused(logger: Logger, entry: LedgerEntry): void {
  logger.error(
    { entry },
    "An entry cannot be booked, since no store can keep its numbers; this line is all that is left of it.",
  );
}

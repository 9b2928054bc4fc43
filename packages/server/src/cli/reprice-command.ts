/** `dragoman ledger reprice`: what past calls cost by the prices of today, booked as the difference. */
import { formatUsd, planReprice, type LedgerEntry } from "@dragoman/ledger";

import { pricesOf } from "../ledger/snapshot-prices.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { readPeriod } from "./ledger-commands.ts";
import { withLedger } from "./ledger-place.ts";

/** Adjusting entries that are booked at a time. */
const BATCH = 256;

/** Books adjusting entries for calls that ended since a day, or says what they would come to. May be run again and again. */
export async function runLedgerReprice(
  io: CliIo,
  values: ReadonlyMap<string, string>,
  isDryRun: boolean,
): Promise<ExitCode> {
  if (values.get("since") === undefined || values.get("config") === undefined) {
    io.stderr.write("dragoman ledger reprice needs --since DAY, and --config FILE with the prices that count\n");
    return ExitCode.usage;
  }
  const period = readPeriod(io, values);
  if (period === null) return ExitCode.usage;
  return withLedger(io, values, async (store, { loaded }) => {
    if (loaded === null) return ExitCode.usage;
    let batch: LedgerEntry[] = [];
    const book = async (): Promise<void> => {
      if (!isDryRun && batch.length > 0) await store.ingest({ entries: batch, progress: null });
      batch = [];
    };
    let count = 0;
    let difference = 0n;
    for await (const entry of planReprice(store.entries(period), pricesOf(loaded.snapshot))) {
      count += 1;
      difference += BigInt(entry.costNanoUsd ?? 0);
      batch.push(entry);
      if (batch.length === BATCH) await book();
    }
    await book();
    const verb = isDryRun ? "would be" : "were";
    const sign = difference < 0n ? "" : "+";
    io.stdout.write(`${count} calls ${verb} adjusted, by ${sign}${formatUsd(difference)} USD in all.\n`);
    return ExitCode.done;
  });
}

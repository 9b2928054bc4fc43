// Workers that are killed at random moments while they lease and write: their journals say what was spent, and the rest comes back.
// `DRAGOMAN_DEATHS=200 npx vitest run packages/ledger/test/counters/lease-deaths.test.ts` is the long form.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { LeaseBank, MemoryLedgerStore, serveLeases, spendsOfEntry, type LedgerEntry } from "../../src/index.ts";
import { openDataFolder, openJournal } from "../../src/journal/index.ts";
import { TestChild } from "./child-process.ts";
import { channelTo, REAL_CLOCK as clock } from "./lease-wiring.ts";

const DEATHS = Number(process.env["DRAGOMAN_DEATHS"] ?? 4);
const LONGEST_LIFE_MS = 250;
const TIME_LIMIT_MS = 60_000 + DEATHS * 5_000;
const LIMIT = "owner\nteam\ntokens\nday";

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const isReady = (message: unknown): message is { readonly kind: "ready"; readonly incarnation: string } =>
  (message as { readonly kind: string }).kind === "ready";
const random = { next: Math.random, id: (length: number) => "parent".padEnd(length, "0").slice(0, length) };

async function entriesOf(store: MemoryLedgerStore, key: string): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for await (const entry of store.entries({ key })) entries.push(entry);
  return entries;
}

describe("workers that are killed while they lease", () => {
  it(
    "leave a bank that says what their journals say, and nothing leased",
    async () => {
      const path = await mkdtemp(join(tmpdir(), "dragoman-deaths-"));
      const folder = await openDataFolder({ path, clock, logger });
      const store = new MemoryLedgerStore();
      const journal = await openJournal({ folder, store, clock, random, logger });
      const bank = new LeaseBank({ clock });
      let [spent, recovered] = [0, 0];
      for (let death = 1; death <= DEATHS; death += 1) {
        const worker = `worker-${death}`;
        const child = new TestChild("journalled-holder.ts", `${path}\n${worker}`);
        serveLeases(bank, worker, channelTo(child.process));
        const { incarnation } = await child.next(isReady);
        await pause(Math.random() * LONGEST_LIFE_MS);
        await child.kill();

        const report = await journal.recoverIncarnation(incarnation);
        recovered += report?.recovered ?? 0;
        const entries = await entriesOf(store, worker);
        expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
        spent += entries.reduce((sum, { usage }) => sum + (usage?.input ?? 0) + (usage?.output ?? 0), 0);
        bank.settle(worker, entries.flatMap(spendsOfEntry));
        expect(bank.standing(LIMIT) ?? { spent: 0, leased: 0 }).toEqual({ spent, leased: 0 });
      }
      // Deaths that found no call open, or no call at all, would prove nothing.
      expect(Math.min(spent, recovered)).toBeGreaterThan(0);
      await journal.close();
      await folder.release();
      await rm(path, { recursive: true });
    },
    TIME_LIMIT_MS,
  );
});

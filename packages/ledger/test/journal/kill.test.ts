// A real process on a real disk, killed while it writes, books and changes files.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openDataFolder, openJournal } from "@dragoman/ledger/journal";
import { openSqliteStore } from "@dragoman/ledger/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";

import { Child } from "./child.ts";
import { CHILD_LOGGER, NODE_CLOCK, NODE_RANDOM } from "./children/node-ports.ts";

/** After so many signs of life each child is killed: at once, and after its first files. */
const KILL_AFTER = [1, 7, 23, 60];

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "dragoman-kill-"));
});
afterEach(() => rm(path, { recursive: true, force: true }));

it("leaves, killed again and again, exactly one entry for every call that its upstream has seen", async () => {
  for (const [index, signs] of KILL_AFTER.entries()) {
    const child = new Child("journal-writer", [path, `p${index}`]);
    await child.until((output) => output.length >= signs);
    await child.kill();
  }

  const folder = await openDataFolder({ path, clock: NODE_CLOCK, logger: CHILD_LOGGER });
  const store = await openSqliteStore({ file: join(path, "ledger.sqlite") });
  const journal = await openJournal({ folder, store, clock: NODE_CLOCK, random: NODE_RANDOM, logger: CHILD_LOGGER });
  const reports = await journal.recovered;
  expect(reports.length).toBe(1);
  expect(reports[0]?.badLines).toBe(0);

  const sent = (await readFile(join(path, "upstream.log"), "utf8")).trimEnd().split("\n");
  const rules = new Map<string, string>();
  for await (const { id, rule } of store.entries({})) rules.set(id, rule);
  expect(sent.length).toBeGreaterThan(1_000);
  expect(sent.filter((id) => !rules.has(id))).toEqual([]);
  // The fourth of each round was never settled; others only when they were open when the process died.
  const recovered = sent.filter((id) => rules.get(id) === "recovered");
  expect(recovered.length).toBeGreaterThanOrEqual(Math.trunc(sent.length / 4));
  expect(recovered.filter((id) => !id.endsWith("-3/1")).length).toBeLessThanOrEqual(KILL_AFTER.length * 5 * 3);

  await journal.close();
  await store.close();
  await folder.release();
  expect(await readdir(join(path, "journal"))).toEqual([]);
});

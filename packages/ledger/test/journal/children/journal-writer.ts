// Writes and books as fast as it can until it is killed. Its upstream keeps a log of its own: the ids of calls that reached it.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";

import type { UpstreamClient } from "@dragoman/core";
import { openDataFolder, openJournal } from "@dragoman/ledger/journal";
import { openSqliteStore } from "@dragoman/ledger/sqlite";

import { sampleEntry, sampleHold } from "../sample-lines.ts";
import { CHILD_LOGGER, NODE_CLOCK, NODE_RANDOM } from "./node-ports.ts";

const [path = "", prefix = ""] = process.argv.slice(2);
const folder = await openDataFolder({ path, clock: NODE_CLOCK, logger: CHILD_LOGGER });
const store = await openSqliteStore({ file: join(path, "ledger.sqlite") });
const journal = await openJournal({
  folder,
  store,
  clock: NODE_CLOCK,
  random: NODE_RANDOM,
  logger: CHILD_LOGGER,
  maxSegmentBytes: 64 * 1024,
  ingestDelayMs: 5,
});
await journal.recovered;
const { recorder } = journal;

const upstreamLog = openSync(join(path, "upstream.log"), "a");
const upstream: UpstreamClient = journal.gate({
  send: ({ path: id }) => {
    writeSync(upstreamLog, `${id}\n`);
    return { pause: () => undefined, resume: () => undefined, cancel: () => undefined };
  },
  close: () => Promise.resolve(),
});
const sink = { onSent() {}, onHead() {}, onData() {}, onEnd() {}, onFailure() {}, onReleased() {} };

for (let round = 0; ; round += 1) {
  for (let index = 0; index < 4; index += 1) {
    const requestId = `${prefix}-${round}-${index}`;
    recorder.hold(sampleHold(requestId));
    recorder.attempt(sampleEntry(requestId, "recovered"));
    upstream.send({ path: `${requestId}/1` } as Parameters<UpstreamClient["send"]>[0], sink);
    // Ends a few turns later, and one of four never.
    const ended = `${prefix}-${round - 3}-${index}`;
    if (round < 3 || index === 3) continue;
    recorder.append(sampleEntry(ended, "actual"));
    recorder.close(ended, 0);
  }
  await turn();
  if (round % 10 === 0) process.stdout.write(".");
}

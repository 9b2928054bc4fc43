// Takes a data folder when it is told to, says what came of it, and holds it until it is killed.
import { once } from "node:events";

import { openDataFolder } from "@dragoman/ledger/journal";

import { CHILD_LOGGER, NODE_CLOCK } from "./node-ports.ts";

const [path = ""] = process.argv.slice(2);
process.stdout.write("ready\n");
await once(process.stdin, "data");
try {
  await openDataFolder({ path, clock: NODE_CLOCK, logger: CHILD_LOGGER });
  process.stdout.write("taken\n");
} catch (thrown) {
  process.stdout.write(`${(thrown as Error).message}\n`);
}
await once(process.stdin, "end");

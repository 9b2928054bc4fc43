// What it costs to book an entry: CPU of this process, in batches of 256 with their place in a journal, into SQLite files of every driver
// that is there and into the PostgreSQL server that DRAGOMAN_BENCH_POSTGRES_URL names.
// Run: npm run build && node packages/ledger/bench/ingest.mjs
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openPostgresStore } from "../dist/postgres/index.js";
import { openSqliteStore } from "../dist/sqlite/index.js";

const BATCH = 256;
const WARM_UP = 40;
const MEASURED = 160;

/** An entry as a gateway writes it: ids come in no order, so every one of them lands elsewhere in the index. */
function entryOf(batch, index) {
  const number = batch * BATCH + index;
  const requestId = `req_${createHash("sha256").update(String(number)).digest("hex").slice(0, 24)}`;
  return {
    id: `${requestId}/1`,
    requestId,
    attempt: 1,
    rule: "actual",
    adjusts: null,
    usageSource: "provider",
    usage: {
      input: 1_200 + (number % 100),
      cacheRead: 1_024,
      cacheWrite: null,
      cacheWriteByTtl: null,
      inputAudio: null,
      inputImage: null,
      output: 350,
      reasoning: 120,
      outputAudio: null,
      serverTools: null,
    },
    deliveredBytes: 1_400,
    priceId: "built-in:gpt-5-mini@2026-11-30",
    costNanoUsd: 745_000,
    overdrawnNanoUsd: 0,
    openedMs: 1_796_040_000_000 + number,
    startedMs: 1_796_040_000_001 + number,
    endedMs: 1_796_040_002_000 + number,
    key: `key_${number % 50}`,
    owner: `team-${number % 7}`,
    endUser: null,
    tags: [],
    model: "chat",
    deployment: "openai/gpt-5-mini",
    provider: "openai",
    upstreamModel: "gpt-5-mini",
    upstreamRequestId: `chatcmpl-${number}`,
    generation: 3,
    clientDialect: "openai-chat",
    providerDialect: "openai-chat",
  };
}

async function measure(name, store) {
  const batches = Array.from({ length: WARM_UP + MEASURED }, (_, batch) =>
    Array.from({ length: BATCH }, (_each, index) => entryOf(batch, index)),
  );
  let cpu = process.cpuUsage();
  let startedMs = performance.now();
  for (const [number, entries] of batches.entries()) {
    if (number === WARM_UP) {
      cpu = process.cpuUsage();
      startedMs = performance.now();
    }
    await store.ingest({ entries, progress: { file: "bench", offset: number + 1 } });
  }
  const elapsedUs = (performance.now() - startedMs) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const count = MEASURED * BATCH;
  console.log(
    `${name}: ${((user + system) / count).toFixed(1)} µs CPU and ${(elapsedUs / count).toFixed(1)} µs elapsed per entry`,
  );
  await store.close();
}

console.log(`Node ${process.version}, ${MEASURED} batches of ${BATCH} entries`);
for (const driver of ["node:sqlite", "libsql"]) {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-bench-"));
  const store = await openSqliteStore({ file: join(folder, "ledger.db"), driver }).catch(() => null);
  if (store === null) console.log(`SKIP ${driver}: not on this Node`);
  else await measure(`SQLite, ${driver}`, store);
  rmSync(folder, { recursive: true });
}
const connectionString = process.env["DRAGOMAN_BENCH_POSTGRES_URL"];
if (connectionString === undefined) console.log("SKIP PostgreSQL: DRAGOMAN_BENCH_POSTGRES_URL is not set");
else await measure("PostgreSQL", await openPostgresStore({ connectionString, schema: `bench_${process.pid}` }));

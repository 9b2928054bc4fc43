// CPU of the journal per request on the built package: hold, attempt, entry and close, with the write to the file; what makes the
// entries, and turns without a journal, are subtracted. Nothing is booked: see bench/ingest.mjs. Files go to the temporary folder of the system.
// Run: npm run build && node packages/ledger/bench/journal.mjs
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

import { openJournal, readProcesses } from "../dist/journal/index.js";

const ROUNDS = 7;
const REQUESTS = 64_000;
const PER_TURN = [64, 8, 1];

const HELD = { requests: 0, inputTokens: 1250, outputTokens: 1024, nanoUsd: 19_110_000 };
const NAMES = { key: "key_4fK2mQ8sT1vX7zB3", owner: "team-a", endUser: null, model: "chat" };
const USAGE = {
  input: 1200,
  cacheRead: 800,
  cacheWrite: null,
  cacheWriteByTtl: null,
  inputAudio: null,
  inputImage: null,
  output: 240,
  reasoning: 64,
  outputAudio: null,
  serverTools: null,
};

function entryOf(requestId, nowMs, rule) {
  return {
    id: `${requestId}/1`,
    requestId,
    attempt: 1,
    rule,
    adjusts: null,
    usageSource: rule === "actual" ? "provider" : "estimate",
    usage: USAGE,
    deliveredBytes: 900,
    priceId: "gpt-5-mini 2026-11-30",
    costNanoUsd: 780_000,
    overdrawnNanoUsd: 0,
    openedMs: nowMs,
    startedMs: nowMs + 1,
    endedMs: nowMs + 1_234,
    key: NAMES.key,
    owner: NAMES.owner,
    endUser: null,
    tags: ["batch", "eu"],
    model: NAMES.model,
    deployment: "openai/gpt-5-mini",
    provider: "openai",
    upstreamModel: "gpt-5-mini",
    upstreamRequestId: rule === "actual" ? "req_0c1f9a5e7b3d4286" : null,
    generation: 7,
    clientDialect: "openai-chat",
    providerDialect: "openai-chat",
  };
}

const quiet = () => undefined;
const folder = mkdtempSync(join(tmpdir(), "dragoman-bench-"));
let nowMs = Date.parse("2026-11-30T00:00:00Z");
const journal = await openJournal({
  folder: { path: folder, processes: readProcesses() },
  store: { ingest: quiet, progress: () => new Map(), forgetProgress: quiet },
  // Time that never comes: the file is not read back.
  clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, schedule: () => ({ cancel: quiet }) },
  random: { next: Math.random, id: () => "bench" },
  logger: { debug: quiet, info: quiet, warn: console.warn, error: console.error },
  recovers: false,
});
const { recorder } = journal;

/** Makes what a ticket hands to its recorder. Also without a journal, so that only what the journal adds is measured. */
function makeRequest(index, record) {
  const requestId = `req_7FhK2lmN0pQr${index}`;
  const hold = { requestId, atMs: nowMs, ...NAMES, held: HELD };
  const attempt = entryOf(requestId, nowMs, "recovered");
  const entry = entryOf(requestId, nowMs, "actual");
  if (!record) return hold.atMs + attempt.openedMs + entry.openedMs;
  recorder.hold(hold);
  recorder.attempt(attempt);
  recorder.append(entry);
  recorder.close(requestId, nowMs);
  return 0;
}

let sum = 0;
async function run(perTurn, record) {
  for (let from = 0; from < REQUESTS; from += perTurn) {
    for (let index = from; index < from + perTurn; index += 1) sum += makeRequest(index, record);
    nowMs += 1;
    await nextTurn();
  }
}

async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

console.log(`Node ${process.version}, ${REQUESTS} requests × ${ROUNDS}, CPU µs per request, in ${folder}`);
for (const perTurn of PER_TURN) {
  await run(perTurn, true);
  await run(perTurn, false);
  const samples = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const idle = await cpuOf(() => run(perTurn, false));
    samples.push((await cpuOf(() => run(perTurn, true))) - idle);
  }
  samples.sort((one, other) => one - other);
  const [best] = samples;
  console.log(
    `${String(perTurn).padStart(3)} a turn  best ${best.toFixed(2)}  median ${samples[ROUNDS >> 1].toFixed(2)}`,
  );
}
const plain = await cpuOf(async () => {
  for (let index = 0; index < REQUESTS; index += 1) {
    sum += JSON.stringify(entryOf(`req_${index}`, nowMs, "recovered")).length;
    sum += JSON.stringify(entryOf(`req_${index}`, nowMs, "actual")).length;
  }
});
console.log(`JSON.stringify of the two entries alone, for comparison: ${plain.toFixed(2)}`);
if (sum === 0) throw new Error("nothing was made");
journal.flush();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

// CPU of one call's account on the built package: open, hold, attempt, settle and close, against three scopes with two limits each.
// Run: npm run build && node packages/ledger/bench/ticket.mjs
import { createLedgerAdmission, createLimitDirectory, PriceBook } from "../dist/index.js";

const ROUNDS = 7;
const CALLS = 200_000;
const LIMITS = [
  { usd: 1_000_000, per: "day", alertAt: [0.8] },
  { requests: 1_000_000_000, per: "minute" },
  { parallel: 64 },
];
const PRINCIPAL = { id: "app", owner: "team", tags: [], models: ["*"], debug: false };
const TARGET = { upstreamModel: "m" };
const USAGE = { input: 1200, cacheRead: 800, output: 240, reasoning: 64, source: "upstream", final: true };

function measure(hold) {
  let entries = 0;
  const clock = { now: Date.parse("2026-11-30T00:00:00Z"), nowMs: () => clock.now };
  const admission = createLedgerAdmission({
    clock,
    hold,
    sink: { append: () => (entries += 1) },
    prices: new PriceBook({
      builtIn: [{ model: "m", input: 3, cacheRead: 0.3, output: 15, source: "bench", day: "2026-11-30" }],
    }),
    limits: createLimitDirectory({
      keys: { app: LIMITS },
      owners: { team: { limits: LIMITS } },
      models: { chat: LIMITS },
    }),
    onAlert: () => undefined,
  });
  const request = {
    model: "chat",
    estimateInputTokens: () => 1250,
    bodyBytes: 5000,
    maxOutputTokens: 1024,
    choices: 1,
  };
  const settlement = {
    rule: "actual",
    deploymentId: "d",
    provider: "p",
    upstreamModel: "m",
    upstreamRequestId: "up",
    usage: USAGE,
    deliveredBytes: 900,
    startedMs: clock.now,
    endedMs: clock.now,
  };
  const run = () => {
    for (let index = 0; index < CALLS; index += 1) {
      if (index % 100 === 0) clock.now += 1;
      const { ticket } = admission.open(PRINCIPAL, { requestId: "req", startedMs: clock.now });
      if (ticket.hold(request) !== null || ticket.attempt("d", TARGET) !== null) throw new Error("refused");
      ticket.settle(settlement);
      ticket.releaseClient();
      ticket.close();
    }
  };
  run();
  const samples = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / CALLS;
  }).toSorted((one, other) => one - other);
  if (entries !== CALLS * (ROUNDS + 1)) throw new Error(`${entries} entries`);
  return { best: samples[0], median: samples[ROUNDS >> 1] };
}

console.log(`Node ${process.version}, ${CALLS} calls × ${ROUNDS}, CPU µs per call`);
for (const hold of ["expected", "worst"]) {
  const { best, median } = measure(hold);
  console.log(`${hold.padEnd(8)} best ${best.toFixed(2)}  median ${median.toFixed(2)}`);
}

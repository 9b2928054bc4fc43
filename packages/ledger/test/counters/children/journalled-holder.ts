// A worker that leases from its parent and writes its journal into its parent's folder: calls without a pause until it is killed.
import { GatewayError, type Principal, type Ticket } from "@dragoman/core";

import {
  createLeaseClient,
  createLedgerAdmission,
  createLimitDirectory,
  LeaseHolder,
  PriceBook,
} from "../../../src/index.ts";
import { openJournal, readProcesses } from "../../../src/journal/index.ts";
import { channelToParent, REAL_CLOCK as clock } from "../lease-wiring.ts";

const CALLERS = 6;
const TOKENS = 100;
const [folder = "", worker = ""] = (process.argv[2] ?? "").split("\n");

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
// Its parent books: to the worker the store is always away.
const isAway = (): Promise<never> =>
  Promise.reject(new GatewayError("ledger_store_failed", "The store is the parent's business."));

const journal = await openJournal({
  folder: { path: folder, processes: readProcesses() },
  store: { ingest: isAway, progress: isAway, forgetProgress: isAway },
  clock,
  random: { next: Math.random, id: (length) => `w${process.pid}`.padEnd(length, "0").slice(0, length) },
  logger: silent,
  recovers: false,
});
const admission = createLedgerAdmission({
  clock,
  prices: new PriceBook({ builtIn: [{ model: "m", input: 1, output: 1, source: "test", day: "2026-11-30" }] }),
  limits: createLimitDirectory({ owners: { team: { limits: [{ tokens: 1_000_000_000, per: "day" }] } } }),
  leases: new LeaseHolder({
    source: createLeaseClient(channelToParent()),
    clock,
    onDown: "closed",
    waitMs: 20_000,
    flushMs: 20,
  }),
  sink: journal.recorder,
});

const principal: Principal = { id: worker, owner: "team", tags: [], models: ["*"], debug: false };

function settle(ticket: Ticket, startedMs: number): void {
  ticket.settle({
    rule: "actual",
    deploymentId: "d",
    provider: "p",
    upstreamModel: "m",
    upstreamRequestId: null,
    usage: { input: TOKENS, output: 0, source: "upstream", final: true },
    deliveredBytes: 0,
    startedMs,
    endedMs: Date.now(),
  });
}

async function call(requestId: string): Promise<void> {
  const startedMs = Date.now();
  const opened = await admission.open(principal, { requestId, startedMs });
  if (!opened.ok) throw new Error("refused");
  const { ticket } = opened;
  const request = { model: "chat", estimateInputTokens: () => TOKENS, maxOutputTokens: 0 };
  const refusal = (await ticket.hold(request)) ?? (await ticket.attempt("d", { upstreamModel: "m" }));
  if (refusal !== null) throw new Error("refused");
  // Some calls last, so that a death finds them open.
  await new Promise<void>((resolve) => void clock.schedule(Math.random() * 20, resolve));
  settle(ticket, startedMs);
  ticket.close();
}

async function keepCalling(caller: number): Promise<never> {
  for (let index = 0; ; index += 1) await call(`req_${worker}_${caller}_${index}`);
}

process.send?.({ kind: "ready", incarnation: journal.status().incarnation });
for (let caller = 0; caller < CALLERS; caller += 1) void keepCalling(caller);

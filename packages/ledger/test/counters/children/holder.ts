// A worker that holds leases from its parent: it spends what it is told to, says so, and lives until it is killed.
import {
  createLeaseClient,
  createLedgerAdmission,
  createLimitDirectory,
  LeaseHolder,
  PriceBook,
} from "../../../src/index.ts";
import { channelToParent, REAL_CLOCK } from "../lease-wiring.ts";

/** What the parent sends beside the messages of leases. */
export type HolderOrder = { readonly kind: "spend"; readonly calls: number };

const admission = createLedgerAdmission({
  clock: REAL_CLOCK,
  prices: new PriceBook({ builtIn: [{ model: "m", input: 1, output: 1, source: "test", day: "2026-11-30" }] }),
  limits: createLimitDirectory({ keys: { app: [{ tokens: 10_000, per: "1h" }] } }),
  leases: new LeaseHolder({
    source: createLeaseClient(channelToParent()),
    clock: REAL_CLOCK,
    onDown: "closed",
    waitMs: 20_000,
    // Nothing is told by itself before the worker is killed.
    flushMs: 3_600_000,
  }),
  sink: { append: (entry) => void process.send?.({ kind: "entry", entry }) },
});

async function spend(index: number): Promise<void> {
  const principal = { id: "app", owner: null, tags: [], models: ["*"], debug: false };
  const opened = await admission.open(principal, { requestId: `req_${index}`, startedMs: Date.now() });
  if (!opened.ok) throw new Error("refused");
  const { ticket } = opened;
  const request = { model: "chat", estimateInputTokens: () => 100, maxOutputTokens: 0 };
  const refusal = (await ticket.hold(request)) ?? (await ticket.attempt("d", { upstreamModel: "m" }));
  if (refusal !== null) throw new Error("refused");
  const nowMs = Date.now();
  ticket.settle({
    rule: "actual",
    deploymentId: "d",
    provider: "p",
    upstreamModel: "m",
    upstreamRequestId: null,
    usage: { input: 100, output: 0, source: "upstream", final: true },
    deliveredBytes: 0,
    startedMs: nowMs,
    endedMs: nowMs,
  });
  ticket.close();
}

process.on("message", (order: HolderOrder | { readonly kind: "lease" }) => {
  if (order.kind !== "spend") return;
  void (async () => {
    for (let index = 0; index < order.calls; index += 1) await spend(index);
    process.send?.({ kind: "spent" });
  })();
});
process.send?.({ kind: "ready" });

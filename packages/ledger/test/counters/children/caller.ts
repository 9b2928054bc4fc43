// A process that shares limits over a Valkey server: `go` begins as many calls as it was told, at once, and leaves them running.
import { Redis } from "ioredis";

import {
  createLimitDirectory,
  createLedgerAdmission,
  LeaseHolder,
  PriceBook,
  type LimitsConfig,
} from "../../../src/index.ts";
import { createValkeyCounters } from "../../../src/valkey/index.ts";

/** What the process is told, as its one argument. */
export interface CallerOrder {
  readonly url: string;
  readonly prefix: string;
  readonly limits: LimitsConfig;
  readonly calls: number;
}

/** What became of its calls. */
export interface CallerReport {
  readonly admitted: number;
  /** Codes of refusals, each once. */
  readonly refusals: readonly string[];
  /** Nano-USD that the calls admitted hold. */
  readonly heldNanoUsd: number;
}

const { url, prefix, limits, calls } = JSON.parse(process.argv[2] ?? "") as CallerOrder;
const client = new Redis(url);
const clock = {
  nowMs: () => Date.now(),
  schedule: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};
let heldNanoUsd = 0;
const admission = createLedgerAdmission({
  clock,
  hold: "worst",
  prices: new PriceBook({ builtIn: [{ model: "m", input: 1, output: 1, source: "test", day: "2026-11-30" }] }),
  limits: createLimitDirectory(limits),
  leases: new LeaseHolder({
    source: createValkeyCounters({ client, holder: `caller ${process.pid}`, prefix }),
    clock,
    onDown: "closed",
    // Two processes start on a machine that may be busy with anything.
    waitMs: 20_000,
  }),
  sink: {
    seal: null,
    refusal: () => null,
    hold: ({ held }) => void (heldNanoUsd += held.nanoUsd),
    attempt: () => undefined,
    append: () => undefined,
    close: () => undefined,
  },
});

async function begin(index: number): Promise<string | null> {
  const principal = { id: "app", owner: "team", tags: [], models: ["*"], debug: false };
  const opened = await admission.open(principal, { requestId: `${process.pid}-${index}`, startedMs: Date.now() });
  if (!opened.ok) return opened.refusal.error.code ?? "";
  const refusal = await opened.ticket.hold({
    model: "chat",
    estimateInputTokens: () => 100,
    maxOutputTokens: 50,
    first: { deploymentId: "d", target: { upstreamModel: "m" } },
  });
  return refusal === null ? null : (refusal.error.code ?? "");
}

process.on("message", () => {
  void Promise.all(Array.from({ length: calls }, async (_, index) => begin(index))).then((codes) => {
    const refusals = [...new Set(codes.filter((code) => code !== null))];
    const report: CallerReport = { admitted: codes.filter((code) => code === null).length, refusals, heldNanoUsd };
    process.send?.(report);
  });
});
await client.ping();
process.send?.("ready");

// A shared limit that runs out: however the demand is spread over processes and time, what fits is admitted, and nothing else.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { LimitConfig } from "../limits/index.ts";
import { FakeCluster, type FakeProcess } from "./fixtures/fake-cluster.ts";
import { call, principal, TARGET } from "./fixtures/fake-ledger.ts";

const RUNS = 2_500;

/** Tokens of every call, and by the price of the fake ledger its micro-USD. */
const EACH = 30;

const limit = fc
  .tuple(
    fc.nat(40),
    fc.nat(EACH - 1),
    fc.constantFrom("requests", "tokens", "usd", "parallel"),
    fc.constantFrom("day", "1h"),
  )
  .map(([fitting, rest, kind, per]): { readonly fitting: number; readonly limits: readonly LimitConfig[] } => {
    const tokens = fitting * EACH + rest;
    switch (kind) {
      case "requests":
        return { fitting, limits: [{ requests: fitting, per }] };
      case "tokens":
        return { fitting, limits: [{ tokens, per }] };
      case "usd":
        return { fitting, limits: [{ usd: tokens / 1e6, per }] };
      default:
        return { fitting: fitting + 1, limits: [{ parallel: fitting + 1 }] };
    }
  });

/** Calls: of which process, and how long after the one before. */
const demand = fc.array(fc.tuple(fc.nat(3), fc.constantFrom(0, 0, 0, 1, 5, 30, 120, 400)), {
  minLength: 1,
  maxLength: 70,
  size: "max",
});
const delays = fc.array(fc.nat(20), { minLength: 1, maxLength: 12 });

/** Lets a call in and leaves it running. */
async function isAdmitted(cluster: FakeCluster, process: FakeProcess): Promise<boolean> {
  const ticket = await cluster.open(process, principal());
  return ticket !== null && ((await ticket.hold(call(EACH))) ?? (await ticket.attempt("d", TARGET))) === null;
}

describe("a shared limit that runs out", () => {
  it("admits as many calls as fit, however they are spread", async () => {
    let exhausted = 0;
    await fc.assert(
      fc.asyncProperty(limit, demand, delays, async ({ fitting, limits }, calls, delaysMs) => {
        let message = 0;
        const cluster = new FakeCluster(
          { owners: { team: { limits } } },
          () => delaysMs[(message += 1) % delaysMs.length] ?? 0,
        );
        const processes = Array.from({ length: 4 }, () => cluster.start());
        const outcomes: boolean[] = [];
        for (const [process, waitMs] of calls) {
          if (waitMs > 0) await cluster.time.pass(waitMs);
          void isAdmitted(cluster, processes[process] as FakeProcess).then((outcome) => outcomes.push(outcome));
        }
        await cluster.time.pass(3_000);
        expect(outcomes).toHaveLength(calls.length);
        expect(outcomes.filter(Boolean)).toHaveLength(Math.min(fitting, calls.length));
        if (calls.length > fitting) exhausted += 1;
      }),
      { numRuns: RUNS },
    );
    expect(exhausted).toBeGreaterThan(RUNS / 10);
  });
});

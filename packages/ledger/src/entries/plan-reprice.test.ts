import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { costOfUsage } from "../cost/index.ts";
import { PriceBook, type PriceRow } from "../prices/index.ts";
import type { LedgerEntry } from "./ledger-entry.ts";
import { planReprice } from "./plan-reprice.ts";

const NOON = Date.parse("2026-11-30T12:00:00Z");

const row = (model: string, input: number, parts: Partial<PriceRow> = {}): PriceRow => ({
  model,
  input,
  output: 2 * input,
  source: "test",
  day: "2026-11-30",
  ...parts,
});
const book = (...rows: readonly PriceRow[]): PriceBook => new PriceBook({ builtIn: rows });

const counts = (input: number, output: number): NonNullable<LedgerEntry["usage"]> => ({
  input,
  cacheRead: null,
  cacheWrite: null,
  cacheWriteByTtl: null,
  inputAudio: null,
  inputImage: null,
  output,
  reasoning: null,
  outputAudio: null,
  serverTools: null,
});

/** An entry as a ledger with these prices writes it. */
function booked(id: string, prices: PriceBook, parts: Partial<LedgerEntry> = {}): LedgerEntry {
  const call = {
    id,
    requestId: id,
    attempt: 1,
    rule: "actual",
    adjusts: null,
    usageSource: "provider",
    usage: counts(10, 5),
    deliveredBytes: 20,
    priceId: null,
    costNanoUsd: null,
    overdrawnNanoUsd: 7,
    openedMs: NOON,
    startedMs: NOON,
    endedMs: NOON,
    key: "app",
    owner: "team",
    endUser: null,
    tags: ["a"],
    model: "chat",
    deployment: "d",
    provider: "p",
    upstreamModel: "m",
    upstreamRequestId: "up",
    generation: 1,
    clientDialect: "x",
    providerDialect: "y",
    ...parts,
  } satisfies LedgerEntry;
  const price = prices.find(call.deployment, call.upstreamModel, call.startedMs);
  const costNanoUsd = call.usage === null ? 0 : price === null ? null : costOfPlain(call.usage, prices, call);
  return { ...call, priceId: price?.id ?? null, costNanoUsd, ...parts };
}

function costOfPlain(usage: NonNullable<LedgerEntry["usage"]>, prices: PriceBook, call: LedgerEntry): number {
  const price = prices.find(call.deployment, call.upstreamModel, call.startedMs)!;
  const { input, output, cacheRead } = usage;
  return costOfUsage(
    { input, output, ...(cacheRead === null ? null : { cacheRead }), source: "upstream", final: true },
    price,
  );
}

async function plan(entries: readonly LedgerEntry[], prices: PriceBook): Promise<LedgerEntry[]> {
  const planned: LedgerEntry[] = [];
  for await (const entry of planReprice(entries, prices)) planned.push(entry);
  return planned;
}

/** As a store would give them back. */
const inOrder = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.toSorted((one, other) => one.endedMs - other.endedMs);

const sum = (entries: readonly LedgerEntry[]): bigint =>
  entries.reduce((total, { costNanoUsd }) => total + BigInt(costNanoUsd ?? 0), 0n);

const OLD = book(row("m", 1));
const NEW = book(row("m", 3));

describe("planReprice", () => {
  it("books the difference under the call's names, as no call of its own", async () => {
    const call = booked("r/1", OLD);
    expect(await plan([call], NEW)).toEqual([
      {
        ...call,
        id: "r/1/reprice-1",
        rule: "adjusted",
        adjusts: "r/1",
        usageSource: "none",
        usage: null,
        deliveredBytes: 0,
        priceId: "built-in:m@2026-11-30",
        costNanoUsd: 10 * 2_000 + 5 * 4_000,
        overdrawnNanoUsd: 0,
      },
    ]);
  });

  const adjustment = (cost: number): LedgerEntry =>
    booked("r/1/reprice-1", OLD, { rule: "adjusted", adjusts: "r/1", usage: null, costNanoUsd: cost });

  it.each<{
    readonly name: string;
    readonly entries: readonly LedgerEntry[];
    readonly prices: PriceBook;
    readonly costs: readonly number[];
  }>([
    { name: "nothing where prices are the same", entries: [booked("r/1", OLD)], prices: OLD, costs: [] },
    {
      name: "a negative difference where it became cheaper",
      entries: [booked("r/1", NEW)],
      prices: OLD,
      costs: [-40_000],
    },
    {
      name: "the whole cost of a call that nobody had priced",
      entries: [booked("r/1", book())],
      prices: OLD,
      costs: [20_000],
    },
    { name: "nothing where nobody prices the call now", entries: [booked("r/1", OLD)], prices: book(), costs: [] },
    {
      name: "nothing for a call without usage",
      entries: [booked("r/1", OLD, { usage: null })],
      prices: NEW,
      costs: [],
    },
    {
      name: "what former adjustments leave",
      entries: [booked("r/1", OLD), adjustment(15_000)],
      prices: NEW,
      costs: [25_000],
    },
    {
      name: "nothing where former adjustments brought it there",
      entries: [booked("r/1", OLD), adjustment(40_000)],
      prices: NEW,
      costs: [],
    },
    {
      name: "nothing for a recovered call whose row is the same, though it cost what was held",
      entries: [booked("r/1", OLD, { rule: "recovered", costNanoUsd: 99 })],
      prices: NEW,
      costs: [],
    },
    {
      name: "the difference for a recovered call with another row",
      entries: [booked("r/1", OLD, { rule: "recovered", costNanoUsd: 99 })],
      prices: book(row("m", 3, { day: "2026-12-01" })),
      costs: [60_000 - 99],
    },
    {
      name: "by the price that held when the call began",
      entries: [booked("r/1", OLD), booked("s/1", OLD, { startedMs: NOON + 86_400_000, endedMs: NOON + 86_400_000 })],
      prices: book(row("m", 1), row("m", 2, { from: "2026-12-01" })),
      costs: [20_000],
    },
  ])("plans $name", async ({ entries, prices, costs }) => {
    expect((await plan(entries, prices)).map(({ costNanoUsd }) => costNanoUsd)).toEqual(costs);
  });

  it("leaves the sums as if priced so from the start, and planning again changes nothing, however often prices change", async () => {
    const anyBook = fc
      .uniqueArray(fc.tuple(fc.constantFrom("m", "n", "o"), fc.nat(3), fc.nat(3)), { selector: ([model]) => model })
      .map((rows) => book(...rows.map(([model, input, cacheRead]) => row(model, input, { cacheRead }))));
    const anyCall = fc.record({
      usage: fc.option(
        fc
          .tuple(fc.nat(1_000), fc.nat(1_000), fc.nat(10))
          .map(([input, output, cacheRead]) => ({ ...counts(input, output), cacheRead })),
        { nil: null, freq: 5 },
      ),
      upstreamModel: fc.constantFrom("m", "n", "o"),
      endedMs: fc.integer({ min: NOON, max: NOON + 5 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall),
        anyBook,
        fc.array(anyBook, { minLength: 1, maxLength: 4 }),
        async (calls, first, books) => {
          let entries = inOrder(calls.map((call, index) => booked(`r/${index}`, first, call)));
          let priced = entries;
          for (const prices of books) {
            entries = inOrder([...entries, ...(await plan(entries, prices))]);
            // A model that has no price now keeps the one that it had.
            priced = priced.map((entry) => {
              const again = booked(entry.id, prices, {
                usage: entry.usage,
                upstreamModel: entry.upstreamModel,
                endedMs: entry.endedMs,
              });
              return again.costNanoUsd === null ? entry : again;
            });
            expect(sum(entries)).toBe(sum(priced));
            expect(await plan(entries, prices)).toEqual([]);
          }
          expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
        },
      ),
      { numRuns: 500 },
    );
  });
});

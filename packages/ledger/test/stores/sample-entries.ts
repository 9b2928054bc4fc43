// Entries for tests of stores: plain ones, and any that a ledger can write.
import fc from "fast-check";

import type { LedgerEntry } from "../../src/index.ts";

export const NOON: number = Date.parse("2026-11-30T12:00:00Z");

const DAY_MS = 86_400_000;

/** An entry of a plain call. */
export const entry = (id: string, parts: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id,
  requestId: id.split("/")[0] ?? id,
  attempt: 1,
  rule: "actual",
  adjusts: null,
  usageSource: "provider",
  usage: {
    input: 10,
    cacheRead: 4,
    cacheWrite: null,
    cacheWriteByTtl: { 300: 2 },
    inputAudio: null,
    inputImage: null,
    output: 5,
    reasoning: null,
    outputAudio: 0,
    serverTools: { web_search: 1 },
  },
  deliveredBytes: 20,
  priceId: "built-in:m@2026-11-30",
  costNanoUsd: 15_000,
  overdrawnNanoUsd: 0,
  openedMs: NOON - 2,
  startedMs: NOON - 1,
  endedMs: NOON,
  key: "app",
  owner: "team",
  endUser: null,
  tags: ["a", "b"],
  model: "chat",
  deployment: "d",
  provider: "p",
  upstreamModel: "m",
  upstreamRequestId: null,
  generation: 1,
  clientDialect: "x",
  providerDialect: "y",
  ...parts,
});

/** Texts that databases get wrong, each in its way. */
export const HARD_TEXTS: readonly string[] = [
  "",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00\ud800x",
  "😀",
  "\u001a",
  "\u001a0000",
  "\u001a#",
  "'; DROP TABLE entries; --",
  '"quoted"',
  "back\\slash {brace, NULL}",
  "NULL",
  "line\r\nfeed\u2028",
  "é",
  "e\u0301",
  "x".repeat(65_536),
  "\u{10ffff}".repeat(32_768),
];

const hardText = fc.oneof(
  fc.constantFrom(...HARD_TEXTS),
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
);

const few = (...names: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, hardText);
const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { freq: 4 });
const tokens = fc.oneof(fc.nat(5_000), fc.constantFrom(0, 1_000_000_000, 1_000_000_001, 2 ** 40));
/** Half of 2^53: sums of a few leave the numbers that a double holds exactly. */
const amount = fc.oneof(fc.nat(1_000_000), fc.constantFrom(0, 2 ** 52, Number.MAX_SAFE_INTEGER));

const usage: fc.Arbitrary<LedgerEntry["usage"]> = fc.record({
  input: tokens,
  cacheRead: orNull(tokens),
  cacheWrite: orNull(tokens),
  cacheWriteByTtl: orNull(fc.dictionary(fc.constantFrom("300", "3600"), tokens)),
  inputAudio: orNull(tokens),
  inputImage: orNull(tokens),
  output: tokens,
  reasoning: orNull(tokens),
  outputAudio: orNull(tokens),
  serverTools: orNull(fc.dictionary(few("web_search"), fc.nat(9))),
});

/** Any entry but for its id. */
const anyParts: fc.Arbitrary<Omit<LedgerEntry, "id">> = fc.record({
  requestId: few("r1", "r2", "r3"),
  attempt: fc.integer({ min: 1, max: 3 }),
  rule: fc.constantFrom("actual", "partial", "failed_free", "shared", "recovered"),
  adjusts: orNull(few("r1/1")),
  usageSource: fc.constantFrom("provider", "estimate", "none"),
  usage: orNull(usage),
  deliveredBytes: fc.maxSafeNat(),
  priceId: orNull(few("file:m@2026-01-01")),
  costNanoUsd: orNull(
    fc.oneof(
      amount,
      amount.map((value) => 0 - value),
    ),
  ),
  overdrawnNanoUsd: amount,
  openedMs: fc.constant(NOON),
  startedMs: fc.constant(NOON),
  endedMs: fc.oneof(
    fc.integer({ min: NOON - DAY_MS, max: NOON + DAY_MS }),
    fc.constantFrom(NOON, NOON + 1, NOON + DAY_MS / 2),
  ),
  key: few("app", "other"),
  owner: orNull(few("team", "app")),
  endUser: orNull(few("eve", "bob")),
  tags: fc.array(few("t"), { maxLength: 2 }),
  model: few("chat", "smart"),
  deployment: few("d", "e"),
  provider: orNull(few("p")),
  upstreamModel: few("m"),
  upstreamRequestId: orNull(few("up")),
  generation: orNull(fc.nat()),
  clientDialect: orNull(few("x")),
  providerDialect: orNull(few("y")),
});

/** Entries with ids of their own. */
export const anyEntries: fc.Arbitrary<LedgerEntry[]> = fc
  .uniqueArray(fc.tuple(few("r1/1", "r2/1", "r2/2", "r3/1", "r3/2", "r3/3"), anyParts), {
    selector: ([id]) => id,
    maxLength: 30,
  })
  .map((pairs) => pairs.map(([id, parts]) => ({ id, ...parts })));

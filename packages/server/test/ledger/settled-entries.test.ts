// What the books say of calls that end in every way they can: rule, usage, its source and the cost, for both clients and both
// upstreams. Input costs 2 USD and output 10 USD per million tokens: 2,000 and 10,000 nano-USD a token.
import { createLedgerAdmission, createLimitDirectory, MemoryLedgerStore, PriceBook } from "@dragoman/ledger";
import type { LedgerAdmission, LedgerEntry } from "@dragoman/ledger";
import type { ExchangeOutcome, GatewayEngine, Hook, ModelConfig } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { bodyOf, deployment, makeEngine, proofConfig, PROOF_PRINCIPAL, WatchedPool } from "../proofs/engine-stack.ts";
import { FakeClient } from "../proofs/fake-client.ts";
import { FakeClock } from "../proofs/fake-clock.ts";
import { FakeUpstream, type FakeCall } from "../proofs/fake-upstream.ts";
import {
  closingRecords,
  contentRecord,
  openingRecords,
  PATH_OF,
  PROOF_DIALECTS,
  recordedStream,
  streamRequest,
  textOf,
  type ProofDialect,
} from "../proofs/streams.ts";

const INPUT_NANO_USD = 2_000;
const OUTPUT_NANO_USD = 10_000;

/** Four bytes: one token in every estimate of output. */
const WORD = "word";
const JSON_HEAD = ["content-type", "application/json"] as const;

interface Scene {
  readonly clock: FakeClock;
  readonly call: FakeCall;
  readonly client: FakeClient;
  readonly upstream: ProofDialect;
}

/** What an entry is expected to say. `estimate` stands for the client dialect's estimate of the request. */
interface Expected {
  readonly rule: LedgerEntry["rule"];
  readonly source: LedgerEntry["usageSource"];
  readonly tokens: readonly [input: number | "estimate", output: number] | null;
}

interface Row {
  readonly name: string;
  readonly isStream: boolean;
  readonly disconnect?: "drain" | "cancel";
  readonly hooks?: readonly Hook[];
  readonly play: (scene: Scene) => void | Promise<void>;
  readonly expected: Readonly<Record<ProofDialect, Expected>>;
}

const same = (expected: Expected): Row["expected"] => ({ chat: expected, messages: expected });
const opening = (upstream: ProofDialect): string => textOf(openingRecords(upstream));
const words = (upstream: ProofDialect, count: number): string => contentRecord(upstream, WORD).text.repeat(count);
const closing = (upstream: ProofDialect): string => textOf(closingRecords(upstream));

function wholeAnswer(dialect: ProofDialect): string {
  return dialect === "chat"
    ? JSON.stringify({
        id: "c-1",
        object: "chat.completion",
        created: 1,
        model: "up",
        choices: [{ index: 0, message: { role: "assistant", content: WORD }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
      })
    : JSON.stringify({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "up",
        content: [{ type: "text", text: WORD }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 3 },
      });
}

const FIVE_OF_200 = ({ call, client, upstream }: Scene): void => {
  call
    .sent()
    .head()
    .data(opening(upstream) + words(upstream, 5));
  client.leave();
};

const THROWING_TAP: Hook = {
  name: "fragile",
  onEvent: {
    writes: false,
    open: () => ({
      event: (event) => {
        if (event.type === "text-delta") throw new Error("the hook fails");
      },
    }),
  },
};

const ROWS: readonly Row[] = [
  {
    name: "a stream that ends as it should",
    isStream: true,
    play: ({ call, upstream }) =>
      void call
        .sent()
        .head()
        .data(opening(upstream) + words(upstream, 3) + closing(upstream))
        .end(),
    expected: same({ rule: "actual", source: "provider", tokens: [10, 3] }),
  },
  {
    name: "a client that leaves after 5 of 200 deltas, and the rest is read for its usage",
    isStream: true,
    disconnect: "drain",
    play: (scene) => {
      FIVE_OF_200(scene);
      scene.call.data(words(scene.upstream, 195) + closing(scene.upstream)).end();
    },
    expected: same({ rule: "after_disconnect", source: "provider", tokens: [10, 3] }),
  },
  {
    name: "a client that leaves after 5 of 200 deltas, and the call is cancelled",
    isStream: true,
    disconnect: "cancel",
    play: FIVE_OF_200,
    expected: {
      chat: { rule: "partial", source: "estimate", tokens: ["estimate", 5] },
      // The input was told with the first event; the output is what the deltas were.
      messages: { rule: "partial", source: "estimate", tokens: [10, 5] },
    },
  },
  {
    name: "a client that leaves before a whole answer, which is then read",
    isStream: false,
    disconnect: "drain",
    play: ({ call, client, upstream }) => {
      call.sent();
      client.leave();
      call.head(200, JSON_HEAD).data(wholeAnswer(upstream)).end();
    },
    expected: same({ rule: "after_disconnect", source: "provider", tokens: [10, 3] }),
  },
  {
    name: "a client that leaves before a whole answer, and the call is cancelled",
    isStream: false,
    disconnect: "cancel",
    play: ({ call, client }) => {
      call.sent();
      client.leave();
    },
    expected: same({ rule: "partial", source: "estimate", tokens: ["estimate", 0] }),
  },
  {
    name: "an upstream that is cut after 5 deltas",
    isStream: true,
    play: ({ call, upstream }) =>
      void call
        .sent()
        .head()
        .data(opening(upstream) + words(upstream, 5))
        .fail(),
    expected: {
      chat: { rule: "partial", source: "estimate", tokens: ["estimate", 5] },
      messages: { rule: "partial", source: "estimate", tokens: [10, 5] },
    },
  },
  {
    name: "an upstream that is cut before it said anything",
    isStream: true,
    play: ({ call }) => void call.sent().fail(),
    expected: same({ rule: "failed_free", source: "none", tokens: null }),
  },
  {
    name: "a provider that sends no usage at the end",
    isStream: true,
    play: ({ call, upstream }) =>
      void call
        .sent()
        .head()
        .data(textOf(recordedStream(upstream, Array<string>(7).fill(WORD), false)))
        .end(),
    expected: {
      chat: { rule: "estimated", source: "estimate", tokens: ["estimate", 7] },
      // The count of the first event still stands; the deltas say more.
      messages: { rule: "actual", source: "estimate", tokens: [10, 7] },
    },
  },
  {
    name: "a provider that sends its usage twice",
    isStream: true,
    play: ({ call, upstream }) => {
      const records = closingRecords(upstream);
      const twice = records.flatMap((record) =>
        record.mark === (upstream === "chat" ? "usage" : "finish") ? [record, record] : [record],
      );
      call
        .sent()
        .head()
        .data(opening(upstream) + words(upstream, 3) + textOf(twice))
        .end();
    },
    expected: same({ rule: "actual", source: "provider", tokens: [10, 3] }),
  },
  {
    name: "an exception in a hook after content",
    isStream: true,
    hooks: [THROWING_TAP],
    play: ({ call, upstream }) =>
      void call
        .sent()
        .head()
        .data(opening(upstream) + words(upstream, 1)),
    expected: {
      chat: { rule: "abandoned", source: "estimate", tokens: ["estimate", 0] },
      messages: { rule: "abandoned", source: "provider", tokens: [10, 1] },
    },
  },
  {
    name: "our own timeout before content",
    isStream: true,
    play: async ({ call, clock }) => {
      call.sent();
      await clock.advance(60_000);
    },
    expected: same({ rule: "abandoned", source: "estimate", tokens: ["estimate", 0] }),
  },
  {
    name: "our own timeout after 5 deltas",
    isStream: true,
    play: async ({ call, clock, upstream }) => {
      call
        .sent()
        .head()
        .data(opening(upstream) + words(upstream, 5));
      await clock.advance(60_000);
    },
    expected: {
      chat: { rule: "abandoned", source: "estimate", tokens: ["estimate", 5] },
      messages: { rule: "abandoned", source: "estimate", tokens: [10, 5] },
    },
  },
];

interface Books {
  readonly engine: GatewayEngine;
  readonly clock: FakeClock;
  readonly upstream: FakeUpstream;
  readonly store: MemoryLedgerStore;
  readonly admission: LedgerAdmission;
  readonly outcomes: ExchangeOutcome[];
  readonly pool: WatchedPool;
}

function openBooks(models: Readonly<Record<string, ModelConfig>>, hooks: readonly Hook[]): Books {
  const clock = new FakeClock();
  const upstream = new FakeUpstream();
  const store = new MemoryLedgerStore();
  const outcomes: ExchangeOutcome[] = [];
  const admission = createLedgerAdmission({
    clock,
    sink: store,
    prices: new PriceBook({
      builtIn: [{ model: "up-a", input: 2, output: 10, source: "the test", day: "2026-11-30" }],
    }),
    limits: createLimitDirectory({ keys: { [PROOF_PRINCIPAL.id]: [{ usd: 5, per: "day" }, { parallel: 1 }] } }),
  });
  const engine = makeEngine({
    config: proofConfig({ chat: "http://upstream.invalid", messages: "http://upstream.invalid" }, models),
    clock,
    upstream,
    admission,
    onOutcome: (outcome) => outcomes.push(outcome),
    hooks,
  });
  return { engine, clock, upstream, store, admission, outcomes, pool: new WatchedPool() };
}

/** The entry's counts, with an input that was to be estimated, and was, as that word. */
function countsOf({ usage }: LedgerEntry, expected: Expected["tokens"]): Expected["tokens"] {
  if (usage === null) return null;
  return [expected?.[0] === "estimate" && usage.input > 0 ? "estimate" : usage.input, usage.output];
}

const costOf = ({ usage }: LedgerEntry): number =>
  usage === null ? 0 : usage.input * INPUT_NANO_USD + usage.output * OUTPUT_NANO_USD;

const PAIRS = PROOF_DIALECTS.flatMap((client) => PROOF_DIALECTS.map((upstream) => ({ client, upstream })));

describe.each(PAIRS)("the books of a $client client and a $upstream upstream", ({ client: dialect, upstream }) => {
  it.each(ROWS)("say what became of $name", async ({ isStream, disconnect = "drain", hooks = [], play, expected }) => {
    const books = openBooks(
      {
        m: {
          attempts: 1,
          timeouts: { firstContent: "60s", idle: "60s", total: "60s" },
          deployments: [
            deployment("a", upstream, { disconnect: { mode: disconnect, maxMs: 1_000, maxBytes: 100_000 } }),
          ],
        },
      },
      hooks,
    );
    const request = streamRequest(dialect, "m");
    const body = isStream
      ? request
      : request.replace('"stream":true', '"stream":false').replace(/"stream_options":\{[^}]*\},/, "");
    const client = new FakeClient(PATH_OF[dialect], bodyOf(books.pool, body));
    books.engine.handle(client.request, client, { principal: PROOF_PRINCIPAL });
    await books.clock.advance(0);
    await play({ clock: books.clock, call: books.upstream.call(0), client, upstream });
    await books.clock.advance(0);

    const { rule, source, tokens } = expected[upstream];
    const entries: LedgerEntry[] = [];
    for await (const each of books.store.entries({})) entries.push(each);
    expect(entries).toHaveLength(1);
    const [entry] = entries as [LedgerEntry];
    expect([entry.rule, entry.usageSource]).toEqual([rule, source]);
    expect(entry).toMatchObject({
      requestId: books.outcomes[0]?.requestId,
      key: PROOF_PRINCIPAL.id,
      model: "m",
      deployment: "a",
      provider: upstream,
      upstreamModel: "up-a",
      generation: 1,
    });
    expect(countsOf(entry, tokens)).toEqual(tokens);
    expect(entry.costNanoUsd).toBe(costOf(entry));
    // What was spent is what the entries say, and nothing is held any more.
    const [standing] = books.admission.standings("key", PROOF_PRINCIPAL.id);
    expect([standing?.spent, standing?.held]).toEqual([entry.costNanoUsd, 0]);
    expect(books.admission.running("key", PROOF_PRINCIPAL.id)).toBe(0);
    expect([books.engine.inFlight, books.engine.hasFailedTask, books.pool.missingBytes]).toEqual([0, false, 0]);
  });
});

// A prompt is never copied after it arrived: what the upstream client and the socket are given is the memory that the body was
// gathered in, in both directions of a translation too; and what nobody has to change stays as the client wrote it.
import { Socket } from "node:net";

import { afterEach, describe, expect, it, vi } from "vitest";

import { createNodeClock } from "../../src/ports/index.ts";
import { createWireClient } from "../../src/wire/index.ts";
import { until } from "../harness/until.ts";
import {
  bodyOf,
  deployment,
  makeEngine,
  proofConfig,
  PROOF_PRINCIPAL,
  startEngine,
  WatchedPool,
} from "./engine-stack.ts";
import { CountingClock } from "./fake-clock.ts";
import { FakeClient } from "./fake-client.ts";
import { covers, foreignBytes, rangesIn } from "./memory-ranges.ts";
import { chunk, LAST_CHUNK, startRawUpstream, STREAM_HEAD } from "./raw-upstream.ts";
import { RecordingAdmission } from "./recording-admission.ts";
import { PATH_OF, PROOF_DIALECTS, recordedStream, textOf } from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

const PAIRS = PROOF_DIALECTS.flatMap((client) => PROOF_DIALECTS.map((upstream) => ({ client, upstream })));
/** What may be new in an upstream request: names, punctuation, the model, short values. */
const MAX_GLUE_BYTES = 2_048;
const PROMPT_BYTES = 1_048_576;

/** A prompt with every kind of character and escape, as it stands between the quotes. */
const PROMPT = String.raw`Zoë said: \"a\\b\/c\" \u00e9\ud83d\ude00 😀\n\t`
  .repeat(40_000)
  .slice(0, PROMPT_BYTES - 1)
  .replace(/\\u?[0-9a-f]{0,3}$/u, "");
const SYSTEM = String.raw`You are \u0041 careful 'helper'. `.repeat(200);
/** Spellings that a parse and a print would change, in an order of their own. */
const SCHEMA = String.raw`{ "type":"object" ,"required":[ "z","a"],"properties":{"z":{"type":"number","minimum":1.0,"maximum":12345678901234567890,"default":1E+2},"a":{"type":"string","description":"caf\u00e9 \/ ☕"}}}`;

/** The text of a request, spelled by hand. The prompt is the first user message. */
function requestText(dialect: ProofDialect, extra = ""): string {
  const messages = String.raw`{ "role" : "user","content":"${PROMPT}"},{"content":"A \u2713 short answer.","role":"assistant"},{"role":"user","content":"Go on."}${extra}`;
  if (dialect === "chat")
    return `{"temperature" : 0.50,\n "seed":12345678901234567890, "model":"m","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":100,"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}],"messages":[{"role":"system","content":"${SYSTEM}"},${messages}],"user":"caf\\u00e9"}`;
  return `{"temperature" : 0.50,\n "model":"m","stream":true,"max_tokens":100,"tools":[{"name":"f","input_schema":${SCHEMA}}],"system":"${SYSTEM}","messages":[${messages}],"metadata":{"user_id":"caf\\u00e9"}}`;
}

const CAPABLE = { defaultMaxOutputTokens: 1024, sampling: "full" } as const;

const model = (upstream: ProofDialect): Parameters<typeof startEngine>[0] => ({
  m: {
    attempts: 1,
    lossy: { allow: ["@all-droppable"] },
    deployments: [deployment("a", upstream, { capabilities: CAPABLE })],
  },
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(PAIRS)("a $client client of a $upstream upstream", ({ client: dialect, upstream }) => {
  it("hands the upstream client the prompt as slices of the body that arrived, and little else", async () => {
    const stack = startEngine(model(upstream));
    const text = requestText(dialect);
    const body = bodyOf(stack.pool, text);
    const client = new FakeClient(PATH_OF[dialect], body);
    stack.gateway.handle(client.request, client, { principal: PROOF_PRINCIPAL });
    await stack.clock.advance(0);
    expect(client.text).toBe("");
    const call = stack.upstream.call(0);
    const ranges = rangesIn(body.bytes, call.request.body);
    const copied = [PROMPT, SYSTEM].filter((value) => {
      const start = Buffer.from(body.bytes).indexOf(value);
      return !covers(ranges, start, start + Buffer.byteLength(value));
    });
    expect(copied.map((value) => value.slice(0, 20))).toEqual([]);
    expect(foreignBytes(body.bytes, call.request.body)).toBeLessThan(MAX_GLUE_BYTES);
    expect(call.request.bodyLength).toBe(call.request.body.reduce((sum, piece) => sum + piece.byteLength, 0));
    call
      .sent()
      .head()
      .data(textOf(recordedStream(upstream, ["Hello"])))
      .end();
    await stack.clock.advance(0);
    expect(client.ending).toBe("end");
    expect(stack.leftovers()).toEqual([]);
  });

  it("keeps the spelling of everything that no one has to change", async () => {
    const stack = startEngine(model(upstream));
    await stack.ask(dialect, requestText(dialect));
    const sent = stack.upstream.call(0).bodyText;
    // The same dialect: the client's own bytes, but for the name of the model.
    const isForwarded = sent === requestText(dialect).replace('"model":"m"', '"model":"up-a"');
    expect(isForwarded).toBe(dialect === upstream);
    const kept = {
      SCHEMA,
      SYSTEM,
      PROMPT,
      "short content": String.raw`"A \u2713 short answer."`,
      "the user": String.raw`"caf\u00e9"`,
    };
    expect(
      Object.entries(kept)
        .filter(([, spelling]) => !sent.includes(spelling))
        .map(([name]) => name),
    ).toEqual([]);
    expect(/"temperature" ?: ?0\.50[,}]/u.exec(sent)).not.toBeNull();
    expect(JSON.parse(sent)).toBeTypeOf("object");
  });

  it("keeps the prefix that a provider's prompt cache knows when a conversation goes on", async () => {
    const stack = startEngine(model(upstream));
    await stack.ask(dialect, requestText(dialect));
    await stack.ask(
      dialect,
      requestText(dialect, ',{"role":"assistant","content":"Gone on."},{"role":"user","content":"And on."}'),
    );
    const [before, after] = [stack.upstream.call(0).bodyText, stack.upstream.call(1).bodyText];
    const shared = before.indexOf("Go on.") + "Go on.".length;
    expect(shared).toBeGreaterThan(PROMPT.length);
    expect(after.slice(0, shared) === before.slice(0, shared)).toBe(true);
  });

  it("hands the socket the very memory of the body", async () => {
    const upstreamServer = await startRawUpstream({
      onRequest: (call) => {
        const records = recordedStream(upstream, ["Hello"]);
        void call.write(STREAM_HEAD + records.map((record) => chunk(record.text)).join("") + LAST_CHUNK);
      },
    });
    const written = vi.spyOn(Socket.prototype, "write");
    const wire = createWireClient({ poisonReadBuffer: true });
    const pool = new WatchedPool();
    const admission = new RecordingAdmission();
    const gateway = makeEngine({
      config: proofConfig({ chat: upstreamServer.url, messages: upstreamServer.url }, model(upstream)),
      clock: new CountingClock(createNodeClock()),
      upstream: wire,
      admission,
      onOutcome: () => undefined,
    });
    try {
      const body = bodyOf(pool, requestText(dialect));
      const promptStart = Buffer.from(body.bytes).indexOf(PROMPT);
      const client = new FakeClient(PATH_OF[dialect], body);
      gateway.handle(client.request, client, { principal: PROOF_PRINCIPAL });
      await client.over;
      const pieces = written.mock.calls
        .map(([piece]) => piece as unknown)
        .filter((piece) => piece instanceof Uint8Array);
      const ranges = rangesIn(body.bytes, pieces);
      expect(covers(ranges, promptStart, promptStart + Buffer.byteLength(PROMPT))).toBe(true);
      const arrived = upstreamServer.calls[0]?.body ?? Buffer.alloc(0);
      expect(arrived.includes(PROMPT)).toBe(true);
      await until(() => pool.missingBytes === 0 && gateway.inFlight === 0, "the body to be given back");
    } finally {
      await gateway.close();
      await upstreamServer.close();
    }
  });
});

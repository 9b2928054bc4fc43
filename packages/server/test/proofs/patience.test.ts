// How long the gateway waits, for upstreams and for clients, on a clock that the test moves.
import { describe, expect, it } from "vitest";

import { deployment, startEngine } from "./engine-stack.ts";
import type { EngineStack } from "./engine-stack.ts";
import {
  closingRecords,
  contentRecord,
  openingRecords,
  PROOF_DIALECTS,
  recordedStream,
  spokenText,
  streamRequest,
  textOf,
} from "./streams.ts";

const SECOND = 1_000;
const KEEP_ALIVE = /^(?:: ?[^\n]*|event: ping\ndata: \{"type": ?"ping"\})\n\n$/u;
const keepAlivesIn = (stream: string): number => stream.match(/^(?::|event: ping$)/gmu)?.length ?? 0;
const PAIRS = PROOF_DIALECTS.flatMap((dialect) => PROOF_DIALECTS.map((upstream) => ({ dialect, upstream })));
const END: Readonly<Record<string, string>> = { chat: "data: [DONE]\n\n", messages: "event: message_stop\n" };
const ERROR: Readonly<Record<string, RegExp>> = {
  chat: /^data: \{"error":\{/mu,
  messages: /^event: error\ndata: \{"type":"error"/mu,
};

type Timeouts = NonNullable<Parameters<typeof startEngine>[0][string]["timeouts"]>;

const startTiers = (upstream: "chat" | "messages", timeouts: Timeouts): EngineStack =>
  startEngine({
    m: {
      attempts: 1,
      timeouts,
      deployments: [deployment("a", upstream, { tier: 1 }), deployment("b", upstream, { tier: 2 })],
    },
  });

describe.each(PAIRS)("a $dialect client of a $upstream upstream", ({ dialect, upstream }) => {
  const opening = textOf(openingRecords(upstream));
  const content = (text: string): string => contentRecord(upstream, text).text;
  const closing = textOf(closingRecords(upstream));
  const request = streamRequest(dialect, "m");

  it("falls back when the first content does not come in time", async () => {
    const stack = startTiers(upstream, { firstContent: "10s" });
    const client = await stack.ask(dialect, request);
    stack.upstream.call(0).sent();
    await stack.clock.advance(10 * SECOND - 1);
    expect(stack.upstream.calls).toHaveLength(1);
    await stack.clock.advance(1);
    expect(stack.upstream.call(0).isCancelled).toBe(true);
    stack.upstream
      .call(1)
      .sent()
      .head()
      .data(textOf(recordedStream(upstream, ["from b"])))
      .end();
    await stack.clock.advance(0);
    expect(client.ending).toBe("end");
    expect(spokenText(client.text)).toBe("from b");
    expect(stack.admission.rules).toEqual([["abandoned", "actual"]]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("takes whatever the upstream sends for a sign of life before the first content", async () => {
    const stack = startTiers(upstream, { firstContent: "10s" });
    const client = await stack.ask(dialect, request);
    stack.upstream.call(0).sent().head();
    for (let round = 0; round < 5; round += 1) {
      await stack.clock.advance(9 * SECOND);
      stack.upstream.call(0).data(": ping\n\n");
    }
    stack.upstream
      .call(0)
      .data(opening + content("late") + closing)
      .end();
    await stack.clock.advance(0);
    expect(spokenText(client.text)).toBe("late");
    expect(stack.upstream.calls).toHaveLength(1);
    expect(stack.leftovers()).toEqual([]);
  });

  it("ends a stream that falls silent after content with an error in the client's dialect", async () => {
    const stack = startTiers(upstream, { idle: "10s" });
    const client = await stack.ask(dialect, request);
    stack.upstream
      .call(0)
      .sent()
      .head()
      .data(opening + content("some"));
    await stack.clock.advance(10 * SECOND);
    expect(client.ending).toBe("end");
    expect(client.text).toMatch(ERROR[dialect] as RegExp);
    expect(client.text).not.toContain(END[dialect]);
    expect(stack.upstream.calls).toHaveLength(1);
    expect(stack.leftovers()).toEqual([]);
  });

  it("lets the idle time stand still while the client does not read", async () => {
    const stack = startEngine(
      { m: { attempts: 1, timeouts: { idle: "10s" }, deployments: [deployment("a", upstream)] } },
      { server: { limits: { maxQueue: "1KiB" } } },
    );
    const client = await stack.ask(dialect, request);
    const call = stack.upstream
      .call(0)
      .sent()
      .head()
      .data(opening + content("some"));
    client.isFull = true;
    call.data(content("x".repeat(4_000)));
    call.data(content("y".repeat(4_000)));
    expect(call.isPaused).toBe(true);
    await stack.clock.advance(60 * SECOND);
    expect(call.isCancelled).toBe(false);
    client.drain();
    expect(call.isPaused).toBe(false);
    call.data(closing).end();
    await stack.clock.advance(0);
    expect(client.ending).toBe("end");
    expect(spokenText(client.text)).toBe(`some${"x".repeat(4_000)}${"y".repeat(4_000)}`);
    expect(stack.leftovers()).toEqual([]);
  });

  it("starts no second attempt when the time of the whole exchange is over, and says so", async () => {
    const stack = startTiers(upstream, { total: "20s" });
    const client = await stack.ask(dialect, request);
    stack.upstream.call(0).sent();
    await stack.clock.advance(20 * SECOND);
    expect(stack.upstream.calls).toHaveLength(1);
    expect(stack.upstream.call(0).isCancelled).toBe(true);
    expect(client.status).toBe(504);
    expect(client.ending).toBe("end");
    expect(client.json).toHaveProperty("error");
    expect(stack.admission.rules).toEqual([["abandoned"]]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("ends a running stream with an error when the time of the whole exchange is over", async () => {
    const stack = startTiers(upstream, { total: "20s" });
    const client = await stack.ask(dialect, request);
    stack.upstream
      .call(0)
      .sent()
      .head()
      .data(opening + content("some"));
    for (let round = 0; round < 4; round += 1) {
      await stack.clock.advance(5 * SECOND);
      stack.upstream.call(0).data(content("more"));
    }
    expect(client.ending).toBe("end");
    expect(client.text).toMatch(ERROR[dialect] as RegExp);
    expect(client.text).not.toContain(END[dialect]);
    expect(stack.admission.rules).toEqual([["abandoned"]]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("sends keep-alives into a silent stream, and none while the client does not read", async () => {
    const stack = startEngine(
      { m: { attempts: 1, deployments: [deployment("a", upstream)] } },
      { server: { limits: { maxQueue: "1KiB" }, sse: { keepAlive: "15s" } } },
    );
    const client = await stack.ask(dialect, request);
    const call = stack.upstream.call(0).sent().head().data(opening);
    await stack.clock.advance(60 * SECOND);
    expect(client.status).toBe(0);
    call.data(content("some"));
    const before = client.text;
    await stack.clock.advance(15 * SECOND - 1);
    expect(client.text).toBe(before);
    await stack.clock.advance(1);
    expect(client.text.slice(before.length)).toMatch(KEEP_ALIVE);
    await stack.clock.advance(15 * SECOND);
    expect(keepAlivesIn(client.text)).toBe(2);
    client.isFull = true;
    call.data(content("x".repeat(4_000))).data(content("y".repeat(4_000)));
    await stack.clock.advance(60 * SECOND);
    client.drain();
    expect(keepAlivesIn(client.text)).toBe(2);
    await stack.clock.advance(15 * SECOND);
    expect(keepAlivesIn(client.text)).toBe(3);
    call.data(closing).end();
    await stack.clock.advance(0);
    expect(spokenText(client.text)).toBe(`some${"x".repeat(4_000)}${"y".repeat(4_000)}`);
    expect(stack.leftovers()).toEqual([]);
  });

  it("gives status and keep-alives after `commitAfter`, and still falls back", async () => {
    const stack = startTiers(upstream, { commitAfter: "5s" });
    const client = await stack.ask(dialect, request);
    stack.upstream.call(0).sent();
    await stack.clock.advance(5 * SECOND - 1);
    expect(client.status).toBe(0);
    await stack.clock.advance(1);
    expect(client.status).toBe(200);
    expect(client.text).toMatch(KEEP_ALIVE);
    stack.upstream.call(0).head().data(opening).fail();
    await stack.clock.advance(0);
    stack.upstream
      .call(1)
      .sent()
      .head()
      .data(opening + content("from b") + closing)
      .end();
    await stack.clock.advance(0);
    expect(client.ending).toBe("end");
    expect(spokenText(client.text)).toBe("from b");
    expect(client.text).toContain(END[dialect]);
    expect(client.text).not.toMatch(ERROR[dialect] as RegExp);
    expect(stack.leftovers()).toEqual([]);
  });

  it("tells the last error inside the stream when every attempt fails after `commitAfter`", async () => {
    const stack = startTiers(upstream, { commitAfter: "5s" });
    const client = await stack.ask(dialect, request);
    await stack.clock.advance(5 * SECOND);
    stack.upstream.call(0).sent().head().data(opening).fail();
    await stack.clock.advance(0);
    stack.upstream.call(1).sent().head(429, ["content-type", "application/json"]).data("{}").end();
    await stack.clock.advance(0);
    expect(client.status).toBe(200);
    expect(client.ending).toBe("end");
    expect(client.text).toMatch(ERROR[dialect] as RegExp);
    expect(client.text).not.toContain(END[dialect]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("cuts a client that takes nothing for the stall limit, and treats it as gone", async () => {
    const stack = startEngine(
      { m: { attempts: 1, deployments: [deployment("a", upstream, { disconnect: { mode: "cancel" } })] } },
      { server: { limits: { maxQueue: "1KiB" } }, limits: { clientStallMs: 30 * SECOND } },
    );
    const client = await stack.ask(dialect, request);
    const call = stack.upstream
      .call(0)
      .sent()
      .head()
      .data(opening + content("some"));
    client.isFull = true;
    // Pieces too large to go out together: the client takes one each time that it has room.
    for (const letter of ["w", "x", "y", "z"]) call.data(content(letter.repeat(60_000)));
    await stack.clock.advance(29 * SECOND);
    const taken = client.text.length;
    client.onDrain?.();
    expect(client.text.length).toBeGreaterThan(taken);
    expect(call.isPaused).toBe(true);
    await stack.clock.advance(29 * SECOND);
    expect(client.ending).toBeNull();
    await stack.clock.advance(SECOND);
    expect(client.ending).toBe("abort");
    expect(call.isCancelled).toBe(true);
    expect(stack.outcomes[0]?.isClientGone).toBe(true);
    expect(stack.outcomes[0]?.counts["client_stalled"]).toBe(1);
    expect(stack.admission.rules).toEqual([["partial"]]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("cuts a client that does not take the end of a finished answer", async () => {
    const stack = startEngine(
      { m: { attempts: 1, deployments: [deployment("a", upstream)] } },
      { limits: { clientStallMs: 30 * SECOND } },
    );
    const client = await stack.ask(dialect, request);
    const call = stack.upstream
      .call(0)
      .sent()
      .head()
      .data(opening + content("some"));
    client.isFull = true;
    call
      .data(content("more"))
      .data(content("and more") + closing)
      .end();
    await stack.clock.advance(29 * SECOND);
    expect(client.ending).toBeNull();
    expect(stack.admission.tickets[0]?.closes).toBe(0);
    await stack.clock.advance(SECOND);
    expect(client.ending).toBe("abort");
    expect(stack.admission.rules).toEqual([["actual"]]);
    expect(stack.leftovers()).toEqual([]);
  });
});

describe("a stopped chat stream whose usage does not come", () => {
  it.each(PROOF_DIALECTS)("is a complete answer for a %s client after the usage grace", async (dialect) => {
    const stack = startEngine({ m: { attempts: 1, deployments: [deployment("a", "chat")] } });
    const client = await stack.ask(dialect, streamRequest(dialect, "m"));
    const [finish] = closingRecords("chat", false);
    const call = stack.upstream.call(0).sent().head();
    call.data(textOf(openingRecords("chat")) + contentRecord("chat", "all").text + (finish?.text ?? ""));
    await stack.clock.advance(5 * SECOND - 1);
    expect(client.ending).toBeNull();
    await stack.clock.advance(1);
    expect(client.ending).toBe("end");
    expect(spokenText(client.text)).toBe("all");
    expect(client.text).not.toMatch(ERROR[dialect] as RegExp);
    expect(stack.admission.rules).toEqual([["estimated"]]);
    // The connection gets a moment to end by itself, then it is cut.
    await stack.clock.advance(SECOND);
    expect(call.isCancelled).toBe(true);
    expect(stack.leftovers()).toEqual([]);
  });
});

// Clients that stop reading or leave, upstreams that are slow or greedy: time and memory of each are bounded, upstream calls end by the
// deployment's policy, no socket is left behind, and everybody else is served meanwhile.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RawClient } from "../harness/raw-client.ts";
import { until } from "../harness/until.ts";
import { CAPABILITIES, startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway, ProviderName } from "./built-gateway.ts";
import { ask, DIALECT, DIALECTS, post } from "./client-dialect.ts";
import type { Dialect } from "./client-dialect.ts";
import { askThrough, ROUTES, SCRIPTED_MODELS } from "./upstream-rig.ts";

const MEBIBYTE = 1024 * 1024;

const timed = (provider: ProviderName) => ({
  attempts: 1,
  timeouts: { firstContent: "300ms", idle: "300ms", total: "700ms" } as const,
  deployments: [{ provider, model: "*", capabilities: CAPABILITIES }],
});
const leaving = (mode: "drain" | "cancel") => ({
  attempts: 1,
  deployments: [
    {
      id: mode,
      provider: "chat",
      model: "*",
      capabilities: CAPABILITIES,
      disconnect: { mode, maxMs: 300, maxBytes: "1MiB" },
    } as const,
  ],
});

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({
    models: {
      ...SCRIPTED_MODELS,
      "timed/chat/*": timed("chat"),
      "timed/messages/*": timed("messages"),
      "drain/*": leaving("drain"),
      "cancel/*": leaving("cancel"),
    },
    server: { sse: { maxRecord: "1MiB" } },
  });
});
afterAll(() => gateway.close());

const request = (model: string, stream: boolean, dialect: Dialect = DIALECT.openai): Buffer =>
  post(dialect, dialect.body({ model, stream }));

/** What somebody else gets meanwhile. */
const statusOfOthers = async (): Promise<number> =>
  (await ask(gateway.url, request("chat/scripted-text", false))).status;

describe("a client that does not read", () => {
  it.each(ROUTES)("costs a bounded queue, not the answer, and pauses its upstream (%s)", async (route) => {
    const before = await gateway.measure({ collect: true });
    const prefix = route === "forwarded" ? "chat" : "messages";
    const start = gateway.upstream.calls.length;
    const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.open(gateway.url)));
    for (const client of clients) {
      client.stall();
      client.send(request(`${prefix}/scripted-oversize-200-records`, true));
    }
    const calls = () => gateway.upstream.calls.slice(start);
    // The streams have begun and then stand still: nothing more leaves the upstream.
    let last = -1;
    let rounds = 0;
    await until(() => {
      const sent = calls().reduce((sum, call) => sum + call.bytesSent, 0);
      rounds = sent === last && sent > 8 * MEBIBYTE ? rounds + 1 : 0;
      last = sent;
      return rounds > 60;
    }, "the streams to stand still");
    expect(await statusOfOthers()).toBe(200);
    const stalled = await gateway.measure({ collect: true });
    expect(stalled.rssBytes - before.rssBytes).toBeLessThan(48 * MEBIBYTE);
    for (const call of calls().slice(0, 8)) expect(call.bytesSent).toBeLessThan(24 * MEBIBYTE);
    for (const client of clients) client.destroy();
    await until(() => calls().every((call) => call.ended !== null), "the end of the calls");
  });
});

describe("a client that leaves", () => {
  const MOMENTS: readonly (readonly [string, string])[] = [
    ["before the head of the answer", "stall"],
    ["behind the head of the answer", "stall-after-head"],
    ["in the middle of the stream", "stall-after-3"],
  ];
  it.each(MOMENTS)("%s is noticed at once although the upstream is silent", async (_name, fault) => {
    for (const stream of [true, false]) {
      if (!stream && fault === "stall-after-3") continue;
      const model = `scripted-${fault}:leaves-${stream}`;
      const client = await RawClient.open(gateway.url);
      client.send(request(`cancel/${model}`, stream));
      const call = await gateway.upstream.waitForCall((each) => each.model === model && each.bodyComplete);
      if (fault === "stall-after-3") await client.untilReceived("data: ");
      client.destroy();
      await until(() => call.ended === "client-closed", "the end of the upstream call");
    }
    expect(await statusOfOthers()).toBe(200);
  });

  it.each(MOMENTS)("%s: the drain for its usage ends in time", async (_name, fault) => {
    const model = `scripted-${fault}:drains`;
    const client = await RawClient.open(gateway.url);
    client.send(request(`drain/${model}`, true));
    const call = await gateway.upstream.waitForCall((each) => each.model === model && each.bodyComplete);
    client.destroy();
    await until(() => call.ended !== null, "the end of the upstream call");
    expect(call.ended).toBe("client-closed");
  });

  it("by closing its side only is taken for gone", async () => {
    const model = "scripted-stall:half-close";
    const client = await RawClient.open(gateway.url);
    client.send(request(`cancel/${model}`, true));
    const call = await gateway.upstream.waitForCall((each) => each.model === model && each.bodyComplete);
    client.socket.end();
    await client.untilClosed();
    await until(() => call.ended !== null, "the end of the upstream call");
    expect(call.ended).toBe("client-closed");
  });

  it("while it still sends costs nothing upstream", async () => {
    const bytes = request("chat/scripted-text:never-sent", false);
    const before = gateway.upstream.calls.length;
    for (const share of [0.1, 0.5, 0.9, 0.99]) {
      const client = await RawClient.open(gateway.url);
      client.send(bytes.subarray(0, Math.floor(bytes.length * share)));
      client.socket.end();
      await client.untilClosed();
    }
    expect(await statusOfOthers()).toBe(200);
    expect(gateway.upstream.calls).toHaveLength(before + 1);
  });

  it("at any moment of a storm leaves nothing behind", async () => {
    const start = gateway.upstream.calls.length;
    const clients = await Promise.all(Array.from({ length: 60 }, () => RawClient.open(gateway.url)));
    for (const [index, client] of clients.entries())
      client.send(request(`cancel/scripted-long-200:storm-${index % 7}`, true));
    const moments = [
      () => undefined,
      (client: RawClient) => client.untilReceived("HTTP/1.1 200"),
      (client: RawClient) => client.untilReceived(/word 150/),
    ];
    await Promise.all(
      clients.map(async (client, index) => {
        await moments[index % moments.length]?.(client);
        client.destroy();
      }),
    );
    await until(() => gateway.upstream.calls.slice(start).every((call) => call.ended !== null), "the end of all calls");
    expect(await statusOfOthers()).toBe(200);
  });
});

describe.concurrent.each(DIALECTS)("an upstream that is slow ($name)", (dialect) => {
  const provider = dialect.name === "openai" ? "chat" : "messages";
  it.each([
    ["silent before its head, streamed", "stall", true],
    ["silent before its head, whole", "stall", false],
    ["silent behind its head, streamed", "stall-after-head", true],
    ["silent behind its head, whole", "stall-after-head", false],
  ])("%s: 504", async (_name, fault, stream) => {
    const model = `timed/${provider}/scripted-${fault}:slow-${stream}`;
    const answer = await ask(gateway.url, request(model, stream, dialect));
    expect(answer.status).toBe(504);
    expect(dialect.errorOf(answer).message).toMatch(/in time/);
  });

  it.each([
    ["silent in the middle of a stream", "stall-after-4"],
    ["dripping for ever", "long-1000:slow-50"],
  ])("%s: the stream ends with an error event", async (_name, fault) => {
    const answer = await ask(gateway.url, request(`timed/${provider}/scripted-${fault}`, true, dialect));
    expect(answer.status).toBe(200);
    expect(dialect.hasErrorEvent(answer.body)).toBe(true);
    expect(dialect.isCleanEnd(answer.body)).toBe(false);
  });
});

describe("an upstream that floods", () => {
  const GREEDY = [
    "oversize-64-line",
    "oversize-64-comments",
    "oversize-64-record",
    "gzip-bomb",
    "interim-flood",
    "huge-500",
    "head-long-field",
    "head-many-fields",
    "head-trailer-bomb",
    "head-chunk-extension-long",
  ];
  it.each(GREEDY)("with %s costs bounded memory and is cut", async (faults) => {
    const before = await gateway.measure({ collect: true });
    for (const dialect of DIALECTS)
      for (const route of ROUTES) {
        const { answer, calls } = await askThrough(gateway, { dialect, route, faults, stream: true });
        expect(answer.status).toBe(502);
        await until(() => calls[0]?.ended !== null, "the end of the upstream call");
        expect(calls[0]?.bytesSent).toBeLessThan(16 * MEBIBYTE);
      }
    const after = await gateway.measure({ collect: true });
    expect(after.rssBytes - before.rssBytes).toBeLessThan(48 * MEBIBYTE);
  });

  it("with empty events is served or cut, in bounded memory", async () => {
    const before = await gateway.measure({ collect: true });
    const flood = Buffer.from("data:\n\nid: 1\n\n: comment\n\nevent: ping\n\n".repeat(200_000));
    gateway.upstream.script([{ model: /:empty-events$/, behaviour: { faults: [{ kind: "body", bytes: flood }] } }]);
    for (const dialect of DIALECTS)
      for (const route of ROUTES) {
        const isChat = (dialect.name === "openai") === (route === "forwarded");
        const model = `${isChat ? "chat" : "messages"}/scripted-text:${dialect.name}:empty-events`;
        // A flood without content is no answer.
        expect((await ask(gateway.url, request(model, true, dialect))).status).toBe(502);
      }
    gateway.upstream.script(null);
    const after = await gateway.measure({ collect: true });
    expect(after.rssBytes - before.rssBytes).toBeLessThan(48 * MEBIBYTE);
  });
});

import { afterEach, describe, expect, it } from "vitest";

import { makeRequest, RecordingSink, waitUntil } from "./fixtures/scripted-upstream.ts";
import type { Accepted } from "./fixtures/scripted-upstream.ts";
import { runCall, WireStage } from "./fixtures/wire-stage.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const stage = new WireStage();

afterEach(() => stage.tearDown());

describe("exchange", () => {
  it("writes host and length itself and delivers head, data and end in order", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const sink = await runCall(client, upstream, {
      headers: ["content-type", "application/json", "x-latin", "\u00e9"],
    });
    expect(sink.events).toEqual(["sent", "released", "head", "data", "end"]);
    expect(sink.status).toBe(200);
    expect(sink.headers).toEqual(["content-length", "2"]);
    expect(sink.body).toBe("ok");
    expect(upstream.requestText(0)).toBe(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${upstream.origin.authority}\r\ncontent-type: application/json\r\n` +
        'x-latin: \u00e9\r\ncontent-length: 13\r\n\r\n{"model":"m"}',
    );
  });

  it("writes no length for a GET without content and length 0 for an empty POST", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    await runCall(client, upstream, { method: "GET", path: "/v1/models?limit=2", headers: [], body: [] });
    await runCall(client, upstream, { headers: [], body: [] });
    expect(upstream.requestText(0)).toBe(
      `GET /v1/models?limit=2 HTTP/1.1\r\nhost: ${upstream.origin.authority}\r\n\r\n` +
        `POST /v1/chat/completions HTTP/1.1\r\nhost: ${upstream.origin.authority}\r\ncontent-length: 0\r\n\r\n`,
    );
  });

  it("sends a large body of large and small segments unchanged", async () => {
    const body = [10, 5000, 0, 3, 200_000, 1, 2047, 2048, 30_000].map((length, index) =>
      Buffer.alloc(length, 65 + index),
    );
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const sink = await runCall(client, upstream, { body });
    expect(sink.body).toBe("ok");
    expect(upstream.requestText(0).split("\r\n\r\n")[1]).toBe(Buffer.concat(body).toString("latin1"));
  });

  it("fails calls after close at the sink, never inside send", async () => {
    const { upstream, client } = await stage.setUp({});
    await client.close();
    const sink = new RecordingSink();
    client.send(makeRequest(upstream.origin), sink);
    expect(sink.events).toEqual([]);
    await waitUntil(() => sink.isSettled, "the refusal");
    expect(sink.events).toEqual(["failure", "released"]);
    expect(sink.failure).toEqual({ kind: "connect", detail: "the upstream client is closed", hasResponse: false });
  });

  it("close destroys idle connections and waits for running calls", async () => {
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket, index }) => {
        if (index === 0) socket.write(OK);
      },
    });
    const sink = new RecordingSink();
    const first = new RecordingSink();
    client.send(makeRequest(upstream.origin), first);
    client.send(makeRequest(upstream.origin), sink);
    await waitUntil(() => first.isSettled && upstream.connections.length === 2, "one idle and one running connection");
    let isClosed = false;
    const closing = client.close().then(() => {
      isClosed = true;
    });
    await waitUntil(() => upstream.openConnections() === 1, "the idle connection's end");
    expect(isClosed).toBe(false);
    await waitUntil(() => sink.events.includes("sent"), "the request");
    upstream.connections.find((each) => !each.isClosed)?.socket.write(OK);
    await closing;
    expect(sink.events.at(-1)).toBe("end");
    expect(client.stats()).toMatchObject({ open: 0, idle: 0 });
  });
});

describe("pool", () => {
  it("reuses one connection for one call after another", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    for (let index = 0; index < 5; index += 1) {
      const sink = await runCall(client, upstream);
      expect(sink.events).toEqual(["sent", "released", "head", "data", "end"]);
    }
    expect(client.stats()).toEqual({ open: 1, idle: 1, opened: 1, reused: 4, resent: 0 });
    expect(upstream.connections).toHaveLength(1);
  });

  it("gives the connection to a call that is sent from inside onEnd", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const first = new RecordingSink();
    const second = new RecordingSink();
    first.listener = (event) => {
      if (event === "end") client.send(makeRequest(upstream.origin), second);
    };
    client.send(makeRequest(upstream.origin), first);
    await waitUntil(() => second.isSettled, "the second call");
    expect(second.body).toBe("ok");
    expect(client.stats().opened).toBe(1);
  });

  it("opens one connection per concurrent call and keeps at most the bound", async () => {
    const waiting: Accepted[] = [];
    const { upstream, client } = await stage.setUp(
      {
        onRequest: (accepted) => {
          waiting.push(accepted);
          if (waiting.length === 4) for (const each of waiting) each.socket.write(OK);
        },
      },
      { maxIdlePerOrigin: 2 },
    );
    const sinks = await Promise.all([
      runCall(client, upstream),
      runCall(client, upstream),
      runCall(client, upstream),
      runCall(client, upstream),
    ]);
    expect(sinks.map((sink) => sink.body)).toEqual(["ok", "ok", "ok", "ok"]);
    await waitUntil(() => client.stats().open === 2, "the surplus connections' end");
    expect(client.stats()).toMatchObject({ idle: 2, opened: 4 });
  });
});

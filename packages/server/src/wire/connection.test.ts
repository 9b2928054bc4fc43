import { afterEach, describe, expect, it } from "vitest";

import { makeRequest, RecordingSink, waitUntil } from "./fixtures/scripted-upstream.ts";
import type { Accepted, ScriptedOptions, ScriptedUpstream } from "./fixtures/scripted-upstream.ts";
import { runCall, WireStage } from "./fixtures/wire-stage.ts";
import type { WireClient, WireClientOptions } from "./wire-client.ts";

const HEAD = "HTTP/1.1 200 OK\r\n";
const OK = `${HEAD}content-length: 2\r\n\r\nok`;
const MEBIBYTE = 1024 * 1024;
const stage = new WireStage();

afterEach(() => stage.tearDown());

async function expectNothingOpen(client: WireClient, upstream: ScriptedUpstream): Promise<void> {
  await waitUntil(() => client.stats().open === 0 && upstream.openConnections() === 0, "no open connection");
}

async function expectNothingOpenAfter(
  isTrue: () => boolean,
  client: WireClient,
  upstream: ScriptedUpstream,
): Promise<void> {
  await waitUntil(isTrue, "the condition");
  await expectNothingOpen(client, upstream);
}

/** Answers with `first` on the first connection, and well on all others. */
function answerFirstWith(first: (accepted: Accepted, request: number) => void): ScriptedOptions {
  return {
    onRequest: (accepted, request) => {
      if (accepted.index === 0) first(accepted, request);
      else accepted.socket.write(OK);
    },
  };
}

describe("a broken answer fails and its socket is gone", () => {
  const rows: {
    name: string;
    answer: string;
    ending: "keep" | "end" | "reset";
    kind: string;
    detail: string;
    body?: string;
  }[] = [
    { name: "garbage", answer: "hello\r\n", ending: "keep", kind: "protocol", detail: "no HTTP/1 status line" },
    {
      name: "two lengths",
      answer: `${HEAD}content-length: 2\r\ncontent-length: 2\r\n\r\nok`,
      ending: "keep",
      kind: "protocol",
      detail: "two lengths",
    },
    {
      name: "length and coding",
      answer: `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok`,
      ending: "keep",
      kind: "protocol",
      detail: "both a length",
    },
    {
      name: "a bad chunk",
      answer: `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n`,
      ending: "keep",
      kind: "protocol",
      detail: "malformed chunk size",
      body: "ok",
    },
    {
      name: "an endless flood of interim answers",
      answer: "HTTP/1.1 102 P\r\n\r\n".repeat(5000),
      ending: "keep",
      kind: "protocol",
      detail: "more than 16 interim",
    },
    {
      name: "a header bomb",
      answer: `${HEAD}${"a: b\r\n".repeat(5000)}`,
      ending: "keep",
      kind: "protocol",
      detail: "more than 200 fields",
    },
    {
      name: "an endless header",
      answer: `${HEAD}a: ${"b".repeat(200_000)}`,
      ending: "keep",
      kind: "protocol",
      detail: "more than 65536 bytes",
    },
    {
      name: "an unasked 101",
      answer: "HTTP/1.1 101 S\r\nupgrade: h2c\r\n\r\n",
      ending: "keep",
      kind: "protocol",
      detail: "unasked 101",
    },
    {
      name: "an encoded answer",
      answer: `${HEAD}content-encoding: gzip\r\ncontent-length: 2\r\n\r\nok`,
      ending: "keep",
      kind: "protocol",
      detail: "an encoded answer",
    },
    { name: "an end before any byte", answer: "", ending: "end", kind: "reset", detail: "before the answer" },
    {
      name: "a reset before any byte",
      answer: "",
      ending: "reset",
      kind: "reset",
      detail: "ECONNRESET before the answer",
    },
    {
      name: "an end inside the head",
      answer: `${HEAD}content-le`,
      ending: "end",
      kind: "reset",
      detail: "inside the answer",
    },
    {
      name: "an end inside a body with a length",
      answer: `${HEAD}content-length: 9\r\n\r\nok`,
      ending: "end",
      kind: "reset",
      detail: "inside the answer",
      body: "ok",
    },
    {
      name: "an end before the last chunk",
      answer: `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n`,
      ending: "end",
      kind: "reset",
      detail: "inside the answer",
      body: "ok",
    },
    {
      name: "an end before the empty line of the trailer",
      answer: `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`,
      ending: "end",
      kind: "reset",
      detail: "inside the answer",
      body: "ok",
    },
  ];
  it.each(rows)("$name", async ({ answer, ending, kind, detail, body = "" }) => {
    const { upstream, client } = await stage.setUp(
      answerFirstWith(({ socket }) => {
        if (ending === "end") socket.end(answer);
        else if (ending === "reset") socket.resetAndDestroy();
        else socket.write(answer);
      }),
    );
    const sink = await runCall(client, upstream);
    expect(sink.failure).toMatchObject({ kind, hasResponse: answer !== "" });
    expect(sink.failure?.detail).toContain(detail);
    expect(sink.body).toBe(body);
    expect(sink.count("failure") + sink.count("end")).toBe(1);
    await expectNothingOpen(client, upstream);
    expect((await runCall(client, upstream)).body).toBe("ok");
  });

  it("a reset inside a body that the end of input would end", async () => {
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => socket.write(`${HEAD}\r\nok`),
    });
    const sink = new RecordingSink();
    sink.listener = (event) => {
      if (event === "data") upstream.connections[0]?.socket.resetAndDestroy();
    };
    client.send(makeRequest(upstream.origin), sink);
    await waitUntil(() => sink.isSettled, "the failure");
    expect(sink.failure).toEqual({ kind: "reset", detail: "ECONNRESET inside the answer", hasResponse: true });
    await expectNothingOpen(client, upstream);
  });
});

describe("a complete answer on a connection that must not be used again", () => {
  const rows: [string, (accepted: Accepted) => void][] = [
    ["bytes behind a length", ({ socket }) => socket.write(`${OK}${HEAD}content-length: 6\r\n\r\npoison`)],
    [
      "one byte behind the last chunk",
      ({ socket }) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n!`),
    ],
    [
      "bytes behind the answer, a moment later",
      ({ socket }) => {
        socket.write(OK, () => setImmediate(() => socket.write("late")));
      },
    ],
    ["an end behind the answer", ({ socket }) => socket.end(OK)],
    [
      "a reset behind the answer",
      ({ socket }) => {
        socket.write(OK, () => setImmediate(() => socket.resetAndDestroy()));
      },
    ],
    ["connection: close", ({ socket }) => socket.write(`${HEAD}connection: close\r\ncontent-length: 2\r\n\r\nok`)],
    [
      "HTTP/1.0",
      ({ socket }) => socket.write("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok"),
    ],
    ["a body that the end of input ends", ({ socket }) => socket.end(`${HEAD}\r\nok`)],
    [
      "a server that closes idle connections at once",
      ({ socket }) => socket.write(`${HEAD}keep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok`),
    ],
  ];
  it.each(rows)("%s", async (_name, answer) => {
    const { upstream, client } = await stage.setUp(answerFirstWith(answer));
    const sink = await runCall(client, upstream);
    expect(sink.events.filter((event) => event !== "data").sort()).toEqual(["end", "head", "released", "sent"]);
    expect(sink.body).toBe("ok");
    await expectNothingOpen(client, upstream);
    expect(client.stats().idle).toBe(0);
    const second = await runCall(client, upstream);
    expect(second.body).toBe("ok");
    expect(client.stats()).toMatchObject({ opened: 2, reused: 0, resent: 0 });
  });

  it("an idle connection that ran out of time", async () => {
    const { upstream, client } = await stage.setUp(
      { onRequest: ({ socket }) => socket.write(OK) },
      { idleTimeoutMs: 20 },
    );
    await runCall(client, upstream);
    await expectNothingOpen(client, upstream);
    expect(client.stats()).toMatchObject({ idle: 0, opened: 1 });
  });
});

describe("a stale connection", () => {
  const deaths: [string, (accepted: Accepted) => void][] = [
    ["an end", ({ socket }) => socket.end()],
    ["a reset", ({ socket }) => socket.resetAndDestroy()],
  ];

  it.each(deaths)("that meets the second request with %s is replaced once, unseen by the sink", async (_name, die) => {
    const { upstream, client } = await stage.setUp(
      answerFirstWith((accepted, request) => {
        if (request === 0) accepted.socket.write(OK);
        else die(accepted);
      }),
    );
    await runCall(client, upstream);
    const sink = await runCall(client, upstream);
    expect(sink.events).toEqual(["sent", "released", "head", "data", "end"]);
    expect(client.stats()).toMatchObject({ opened: 2, reused: 1, resent: 1 });
    expect(upstream.requestText(1)).toContain('{"model":"m"}');
  });

  it("does not release the body before the first byte of the answer", async () => {
    let isHeld = false;
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }, request) => {
        if (request === 0) socket.write(OK);
        else isHeld = true;
      },
    });
    await runCall(client, upstream);
    const sink = new RecordingSink();
    client.send(makeRequest(upstream.origin), sink);
    await waitUntil(() => isHeld && sink.events.includes("sent"), "the second request");
    expect(sink.events).toEqual(["sent"]);
    upstream.connections[0]?.socket.write(OK);
    await waitUntil(() => sink.isSettled, "the answer");
    expect(sink.events).toEqual(["sent", "released", "head", "data", "end"]);
  });

  it("is resent with a large body", async () => {
    const { upstream, client } = await stage.setUp(
      answerFirstWith(({ socket }, request) => {
        if (request === 0) socket.write(OK);
      }),
    );
    await runCall(client, upstream);
    const stale = upstream.connections[0]?.socket;
    stale?.on("data", () => stale.resetAndDestroy());
    const body = [Buffer.alloc(3 * MEBIBYTE, "a"), Buffer.from("b"), Buffer.alloc(MEBIBYTE, "c")];
    const sink = new RecordingSink();
    client.send(makeRequest(upstream.origin, { body }), sink);
    await waitUntil(() => sink.isSettled, "the end");
    expect(sink.events).toEqual(["sent", "released", "head", "data", "end"]);
    expect(upstream.requestText(1).split("\r\n\r\n")[1] === Buffer.concat(body).toString("latin1")).toBe(true);
  });

  it("is not resent a second time", async () => {
    let answered = 0;
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => {
        answered += 1;
        if (answered === 1) socket.write(OK);
        else socket.resetAndDestroy();
      },
    });
    await runCall(client, upstream);
    const sink = await runCall(client, upstream);
    expect(sink.failure).toEqual({ kind: "reset", detail: "ECONNRESET before the answer", hasResponse: false });
    expect(sink.count("released")).toBe(1);
    await expectNothingOpen(client, upstream);
    expect(client.stats()).toMatchObject({ opened: 2, resent: 1 });
  });

  const refusals: [string, WireClientOptions, string][] = [
    ["once a byte of the answer arrived", {}, "H"],
    ["beyond the stale window", { staleWindowMs: -1 }, ""],
  ];
  it.each(refusals)("is not resent %s", async (_name, options, first) => {
    const { upstream, client } = await stage.setUp(
      answerFirstWith(({ socket }, request) => {
        if (request === 0) socket.write(OK);
        else socket.end(first);
      }),
      options,
    );
    await runCall(client, upstream);
    const sink = await runCall(client, upstream);
    expect(sink.failure).toMatchObject({ kind: "reset", hasResponse: first !== "" });
    expect(client.stats()).toMatchObject({ opened: 1, resent: 0 });
  });

  it("is not resent when the call was cancelled meanwhile", async () => {
    const { upstream, client } = await stage.setUp(
      answerFirstWith(({ socket }, request) => {
        if (request === 0) socket.write(OK);
      }),
    );
    await runCall(client, upstream);
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    await waitUntil(() => sink.events.includes("sent"), "the request");
    upstream.connections[0]?.socket.resetAndDestroy();
    call.cancel();
    await expectNothingOpen(client, upstream);
    expect(sink.events).toEqual(["sent", "released"]);
    expect(client.stats().resent).toBe(0);
  });
});

describe("an early answer", () => {
  it("is delivered while a large body is still being written, and its socket is not used again", async () => {
    const body = [Buffer.alloc(64 * MEBIBYTE, "x")];
    let hasAnswered = false;
    const { upstream, client } = await stage.setUp({
      onConnection: ({ socket, index }) => {
        if (index > 0) return;
        socket.once("data", () => {
          socket.pause();
          socket.write("HTTP/1.1 429 Too Many\r\nretry-after: 1\r\ncontent-length: 4\r\n\r\nwait");
          hasAnswered = true;
        });
      },
      onRequest: ({ socket }) => socket.write(OK),
    });
    const sink = new RecordingSink();
    client.send(makeRequest(upstream.origin, { body }), sink);
    await waitUntil(() => sink.isSettled, "the early answer");
    expect(hasAnswered).toBe(true);
    expect(sink.status).toBe(429);
    expect(sink.body).toBe("wait");
    expect(sink.events).toEqual(["head", "data", "end", "released"]);
    upstream.connections[0]?.socket.resume();
    await expectNothingOpen(client, upstream);
    expect((await runCall(client, upstream)).status).toBe(200);
    expect(client.stats()).toMatchObject({ opened: 2, reused: 0 });
  });

  it("is delivered also when the server then resets the connection", async () => {
    const { upstream, client } = await stage.setUp({
      onConnection: ({ socket }) => {
        socket.once("data", () => {
          socket.pause();
          socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nwhoa", () => socket.resetAndDestroy());
        });
      },
    });
    const sink = new RecordingSink();
    client.send(makeRequest(upstream.origin, { body: [Buffer.alloc(16 * MEBIBYTE, "x")] }), sink);
    await waitUntil(() => sink.isSettled, "the early answer");
    expect(sink.events).toEqual(["head", "data", "end", "released"]);
    expect(sink.status).toBe(413);
    await expectNothingOpen(client, upstream);
  });
});

describe("a sink that throws", () => {
  it("costs its connection, which cannot be read on, and nothing else", async () => {
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
    });
    const others = process.listeners("uncaughtException");
    const caught: unknown[] = [];
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => caught.push(error));
    const sink = new RecordingSink();
    const bug = new Error("a bug of the sink");
    sink.listener = (event) => {
      if (event === "data") throw bug;
    };
    try {
      client.send(makeRequest(upstream.origin), sink);
      await expectNothingOpenAfter(() => caught.length > 0, client, upstream);
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const each of others) process.on("uncaughtException", each);
    }
    expect(caught).toEqual([bug]);
    expect(sink.events).toEqual(["sent", "released", "head", "data"]);
    expect((await runCall(client, upstream)).body).toBe("ok");
  });
});

describe("pause and resume", () => {
  it("holds back what the read buffer still has, then goes on in order", async () => {
    const chunks = Array.from({ length: 50 }, (_, index) => `chunk ${index};`);
    const answer = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n${answer}0\r\n\r\n`),
    });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    sink.listener = (event) => {
      if (event !== "head" && event !== "data") return;
      call.pause();
      const seen = sink.events.length;
      setImmediate(() => {
        expect(sink.events).toHaveLength(seen);
        call.resume();
        expect(sink.events).toHaveLength(seen);
      });
    };
    await waitUntil(() => sink.isSettled, "the end");
    expect(sink.body).toBe(chunks.join(""));
    expect(sink.count("data")).toBe(50);
    expect(client.stats()).toMatchObject({ open: 1, idle: 1 });
  });

  it("leaves a connection that reads again, also when the answer was completed by what was held back", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const paused = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), paused);
    paused.listener = (event) => {
      if (event === "head") call.pause();
    };
    await waitUntil(() => paused.events.includes("head"), "the head");
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resume) => setImmediate(resume));
    call.resume();
    await waitUntil(() => paused.isSettled, "the first end");
    const next = new RecordingSink();
    client.send(makeRequest(upstream.origin), next);
    await waitUntil(() => next.isSettled, "the second end");
    expect([paused.body, next.body, upstream.connections.length, client.stats().reused]).toEqual(["ok", "ok", 1, 1]);
  });

  const answers: [string, (accepted: Accepted) => void][] = [
    ["a framed end", ({ socket }) => socket.write(OK)],
    ["an end of input behind a length", ({ socket }) => socket.end(OK)],
    ["an end of input that ends the body", ({ socket }) => socket.end(`${HEAD}\r\nok`)],
  ];
  it.each(answers)("defers %s until resume", async (_name, answer) => {
    const { upstream, client } = await stage.setUp({ onRequest: answer });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    sink.listener = (event) => {
      if (event === "data") call.pause();
    };
    await waitUntil(() => sink.events.includes("data"), "the data");
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resume) => setImmediate(resume));
    expect(sink.events.at(-1)).toBe("data");
    call.resume();
    await waitUntil(() => sink.isSettled, "the end");
    expect(sink.events.filter((event) => event === "end")).toHaveLength(1);
    expect(sink.body).toBe("ok");
  });

  it("fails after resume when the input ended too early, behind the data", async () => {
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n`),
    });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    sink.listener = (event) => {
      if (event === "head") call.pause();
    };
    await waitUntil(() => sink.events.includes("head"), "the head");
    call.resume();
    await waitUntil(() => sink.isSettled, "the failure");
    expect(sink.body).toBe("abcd");
    expect(sink.failure?.detail).toBe("the connection ended inside the answer");
  });

  it("works before the connection stands", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    call.pause();
    await waitUntil(
      () => sink.events.includes("sent") && (upstream.connections[0]?.receivedBytes ?? 0) > 0,
      "the request",
    );
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resume) => setImmediate(resume));
    expect(sink.events).toEqual(["sent", "released"]);
    call.resume();
    await waitUntil(() => sink.isSettled, "the end");
    expect(sink.body).toBe("ok");
  });

  it("stops a 20 MB answer in the kernel and loses nothing", async () => {
    const total = 20 * MEBIBYTE;
    const pattern = Buffer.from(Array.from({ length: MEBIBYTE }, (_, index) => index % 251));
    let isAccepted = false;
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => {
        socket.write(`${HEAD}content-length: ${total}\r\n\r\n`);
        for (let index = 0; index < 20; index += 1) socket.write(pattern);
        socket.write("", () => {
          isAccepted = true;
        });
      },
    });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    let pauses = 0;
    sink.listener = (event) => {
      if (event !== "data" || sink.bytes < (pauses + 1) * 3 * MEBIBYTE) return;
      pauses += 1;
      call.pause();
    };
    while (!sink.isSettled) {
      const before = pauses;
      await waitUntil(() => sink.isSettled || pauses > before, "a pause or the end");
      const bytes = sink.bytes;
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resume) => setImmediate(resume));
      if (sink.isSettled) break;
      expect(sink.bytes).toBe(bytes);
      expect(pauses === 1 && isAccepted).toBe(false);
      call.resume();
    }
    expect(pauses).toBe(6);
    expect(sink.bytes).toBe(total);
    expect(Buffer.concat(sink.chunks).equals(Buffer.concat(Array.from({ length: 20 }, () => pattern)))).toBe(true);
  });
});

describe("cancel", () => {
  const rows: {
    name: string;
    answer: string;
    when: (sink: RecordingSink, upstream: ScriptedUpstream) => boolean;
    sees: string[];
  }[] = [
    { name: "at once", answer: OK, when: () => true, sees: [] },
    {
      name: "after the connection stands",
      answer: "",
      when: (_sink, upstream) => upstream.connections.length > 0,
      sees: ["sent"],
    },
    { name: "after the request was sent", answer: "", when: (sink) => sink.events.includes("sent"), sees: ["sent"] },
    {
      name: "inside the head",
      answer: HEAD,
      when: (_sink, upstream) => (upstream.connections[0]?.receivedBytes ?? 0) > 0,
      sees: ["sent"],
    },
    {
      name: "after the head",
      answer: `${HEAD}content-length: 9\r\n\r\n`,
      when: (sink) => sink.events.includes("head"),
      sees: ["sent", "head"],
    },
    {
      name: "inside the body",
      answer: `${HEAD}content-length: 9\r\n\r\nab`,
      when: (sink) => sink.events.includes("data"),
      sees: ["sent", "head", "data"],
    },
  ];
  it.each(rows)("$name leaves nothing open and only releases", async ({ answer, when, sees }) => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(answer) });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    await waitUntil(() => when(sink, upstream), "the moment to cancel");
    const before = sink.events.slice();
    call.cancel();
    call.cancel();
    expect(sink.events).toEqual(before);
    await waitUntil(() => sink.events.includes("released"), "the release");
    await expectNothingOpen(client, upstream);
    expect(sink.count("released")).toBe(1);
    for (const event of sink.events) expect([...sees, "released"]).toContain(event);
    await client.close();
  });

  it.each(["sent", "head", "data"])("from inside %s stops everything behind it", async (moment) => {
    const { upstream, client } = await stage.setUp({
      onRequest: ({ socket }) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n`),
    });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    sink.listener = (event) => {
      if (event === moment) call.cancel();
    };
    await waitUntil(() => sink.events.includes("released"), "the release");
    await expectNothingOpen(client, upstream);
    expect(sink.events.filter((event) => event !== "released").at(-1)).toBe(moment);
    expect(sink.count("data")).toBeLessThanOrEqual(1);
    expect(sink.count("released")).toBe(1);
  });

  it("of a call that is over does not touch the connection's next call", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const first = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), first);
    await waitUntil(() => first.isSettled, "the first call");
    const second = new RecordingSink();
    client.send(makeRequest(upstream.origin), second);
    call.cancel();
    call.pause();
    await waitUntil(() => second.isSettled, "the second call");
    expect(second.body).toBe("ok");
    expect(client.stats()).toMatchObject({ opened: 1, reused: 1 });
  });

  it("in the middle of a large body releases it once the socket is closed", async () => {
    const { upstream, client } = await stage.setUp({ onConnection: ({ socket }) => socket.pause() });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin, { body: [Buffer.alloc(64 * MEBIBYTE)] }), sink);
    await waitUntil(() => upstream.connections.length > 0, "the connection");
    call.cancel();
    await waitUntil(() => sink.events.includes("released"), "the release");
    expect(sink.events).toEqual(["released"]);
    expect(client.stats().open).toBe(0);
  });

  it("of a paused call with bytes held back releases it", async () => {
    const { upstream, client } = await stage.setUp({ onRequest: ({ socket }) => socket.write(OK) });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    sink.listener = (event) => {
      if (event === "head") call.pause();
    };
    await waitUntil(() => sink.events.includes("head"), "the head");
    call.resume();
    call.cancel();
    await expectNothingOpen(client, upstream);
    expect(sink.events).toEqual(["sent", "released", "head"]);
  });
});

describe("the shared read buffer", () => {
  it("is overwritten after each chunk, and 40 calls at once still read their own bytes", async () => {
    const { upstream, client } = await stage.setUp(
      {
        onRequest: ({ socket, index }) => {
          const text = `${index},`.repeat(20_000);
          socket.write(`${HEAD}x-index: ${index}\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
        },
      },
      { readBufferBytes: 4096 },
    );
    const sinks = await Promise.all(Array.from({ length: 40 }, () => runCall(client, upstream)));
    for (const sink of sinks) expect(sink.body === `${sink.headers[1]},`.repeat(20_000)).toBe(true);
    let kept: Uint8Array = Buffer.alloc(0);
    const sink = new RecordingSink();
    const original = sink.onData.bind(sink);
    sink.onData = (chunk) => {
      kept = chunk;
      original(chunk);
    };
    client.send(makeRequest(upstream.origin), sink);
    await waitUntil(() => sink.isSettled, "the end");
    expect(Buffer.from(kept).every((octet) => octet === 0xdb)).toBe(true);
  });
});

import type { Socket } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { answer, echo, hang, readBody, startRig } from "./fixtures/fake-engine.ts";
import type { Rig, Seen } from "./fixtures/fake-engine.ts";
import { eventually, RawClient } from "./fixtures/raw-client.ts";
import type { NodeResponder } from "./node-responder.ts";

let rig: Rig;
afterEach(() => rig.http.close(0));

const HOST = "Host: a\r\n";
const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
const text = (content: string): Uint8Array => Buffer.from(content);

describe("answers", () => {
  it("carry a content-length when they end without a write before", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("/a 0");
    expect(client.received).toMatch(
      /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\ncontent-length: 4\r\nDate: .*\r\n\r\n\/a 0$/s,
    );
    client.socket.destroy();
  });

  it("are chunked when they are written in pieces, and keep the connection", async () => {
    rig = await startRig(({ responder }) => {
      responder.head(200, ["content-type", "text/event-stream"]);
      responder.write(text("one"));
      responder.write(new Uint8Array(0));
      responder.write(text("two"));
      responder.end(text("three"), false);
    });
    const client = await RawClient.open(rig.port);
    client.send(get("/a") + get("/b"));
    await client.until(/0\r\n\r\n[^]*0\r\n\r\n$/);
    expect(client.received).toMatch(/transfer-encoding: chunked/i);
    expect(client.received).toContain("3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n");
    expect(client.statuses).toEqual([200, 200]);
    client.socket.destroy();
  });

  it("send their head at once when no body byte follows in the same turn", async () => {
    rig = await startRig(({ responder }) => responder.head(200, ["x-a", "1"]));
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("x-a: 1");
    expect(client.statuses).toEqual([200]);
    client.socket.destroy();
  });

  it.each([
    { name: "204", line: "GET", status: 204, forbidden: /content-length|transfer-encoding/i },
    { name: "304", line: "GET", status: 304, forbidden: /content-length|transfer-encoding/i },
    { name: "HEAD", line: "HEAD", status: 200, forbidden: /transfer-encoding/i },
  ])("have no body for $name and keep the connection", async ({ line, status, forbidden }) => {
    rig = await startRig(({ responder }) => {
      responder.head(status, []);
      responder.end(null, false);
    });
    const client = await RawClient.open(rig.port);
    const request = `${line} /a HTTP/1.1\r\n${HOST}\r\n`;
    client.send(request);
    await client.until("\r\n\r\n");
    client.send(request);
    await client.until(/\r\n\r\n[^]*\r\n\r\n$/);
    expect(client.statuses).toEqual([status, status]);
    expect(client.received).not.toMatch(forbidden);
    client.socket.destroy();
  });

  it("close the connection after a streamed end that asks for it", async () => {
    rig = await startRig(({ responder }) => {
      responder.head(200, []);
      responder.write(text("a"));
      setImmediate(() => responder.end(null, true));
    });
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.untilClosed();
    expect(client.received).toMatch(/0\r\n\r\n$/);
    expect(client.failure).toBeNull();
  });

  it("become a 500 when the engine throws before the head is sent, and are broken off after it", async () => {
    rig = await startRig(({ responder, request }) => {
      responder.head(200, []);
      if (request.path === "/late") responder.write(text("partial"));
      throw new Error("defect");
    });
    const early = await RawClient.open(rig.port);
    early.send(get("/early"));
    await early.untilClosed();
    expect(early.statuses).toEqual([500]);
    const late = await RawClient.open(rig.port);
    late.send(get("/late"));
    await late.untilClosed();
    expect(late.received).not.toMatch(/0\r\n\r\n$/);
    expect(rig.problems.map((problem) => problem.kind)).toEqual(["handler-threw", "handler-threw"]);
  });

  it("refuse a second head, a write before the head and an end before the head", async () => {
    const codes: unknown[] = [];
    const attempt = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        codes.push((error as { code: unknown }).code);
      }
    };
    rig = await startRig((seen) => {
      attempt(() => seen.responder.write(text("x")));
      attempt(() => seen.responder.end(null, false));
      seen.responder.head(200, []);
      attempt(() => seen.responder.head(200, []));
      seen.responder.end(null, false);
      attempt(() => seen.responder.end(null, false));
    });
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("200 OK");
    expect(codes).toEqual(Array.from({ length: 4 }, () => "state_violation"));
    client.socket.destroy();
  });
});

describe("an answer whose field cannot be written", () => {
  it("is refused when its head is given, and another answer can take its place", async () => {
    const failures: unknown[] = [];
    rig = await startRig((seen) => {
      try {
        seen.responder.head(200, ["x-a", "b\nc: d"]);
      } catch (failure) {
        failures.push(failure);
      }
      answer(seen, 502, "instead", false);
    });
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("instead");
    expect(client.statuses).toEqual([502]);
    expect(failures).toEqual([expect.objectContaining({ code: "state_violation" })]);
    client.socket.destroy();
  });
});

describe("abort", () => {
  it.each([
    {
      name: "a chunked answer, whose written bytes still arrive",
      headers: [],
      version: "1.1",
      failure: null,
      shown: "partial",
    },
    {
      name: "an answer with a length",
      headers: ["content-length", "7"],
      version: "1.1",
      failure: "ECONNRESET",
      shown: "",
    },
    { name: "an HTTP/1.0 answer without a length", headers: [], version: "1.0", failure: "ECONNRESET", shown: "" },
  ])("shows the client that $name is broken", async ({ headers, version, failure, shown }) => {
    rig = await startRig((seen) => {
      seen.responder.head(200, headers);
      seen.responder.write(text("partial"));
      seen.responder.abort();
    });
    const client = await RawClient.open(rig.port);
    client.send(`GET /a HTTP/${version}\r\n${HOST}\r\n`);
    await client.untilClosed();
    expect(client.received).toContain(shown);
    expect(client.received).not.toMatch(/0\r\n\r\n$/);
    expect(client.failure).toBe(failure);
    expect(rig.find("/a").goneCount).toBe(0);
  });

  it("ends the connection before an answer has begun", async () => {
    rig = await startRig(({ responder }) => responder.abort());
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.untilClosed();
    expect(client.received).toBe("");
  });
});

describe("a client that leaves", () => {
  const stages: readonly { name: string; input: string; script: (seen: Seen) => void }[] = [
    {
      name: "while its body arrives",
      input: `POST /a HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\nhalf`,
      script: (seen) => void readBody(seen, 100),
    },
    {
      name: "while its chunked body arrives",
      input: `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n4\r\nha`,
      script: (seen) => void readBody(seen, 100),
    },
    {
      name: "before its body is read",
      input: `POST /a HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\nhalf`,
      script: hang,
    },
    {
      name: "after its body was read, while all is silent",
      input: `POST /a HTTP/1.1\r\n${HOST}Content-Length: 4\r\n\r\nbody`,
      script: (seen) => void readBody(seen, 100),
    },
    { name: "without a body, while all is silent", input: get("/a"), script: hang },
    { name: "after the head of the answer", input: get("/a"), script: ({ responder }) => responder.head(200, []) },
    {
      name: "in the middle of the answer",
      input: get("/a"),
      script: ({ responder }) => {
        responder.head(200, []);
        responder.write(text("data: 1\n\n"));
      },
    },
  ];
  const ways: readonly { way: string; leave: (client: RawClient) => void }[] = [
    { way: "closes", leave: ({ socket }) => void socket.destroy() },
    { way: "half-closes", leave: ({ socket }) => void socket.end() },
    { way: "resets", leave: ({ socket }) => void socket.resetAndDestroy() },
  ];
  const rows = stages.flatMap((stage) => ways.map((way) => ({ ...stage, ...way })));

  it.each(rows)("and $way $name is noticed once, and later calls do nothing", async ({ input, script, leave }) => {
    rig = await startRig(script);
    const client = await RawClient.open(rig.port, { allowHalfOpen: true });
    client.send(input);
    await eventually("the engine has the request", () => rig.handled.length === 1);
    const seen = rig.find("/a");
    if (input.endsWith("body")) await eventually("the body was read", () => seen.reading !== null);
    leave(client);
    await eventually("onGone", () => seen.goneCount > 0);
    if (input.endsWith("ha") || (input.endsWith("half") && script !== hang))
      await eventually("the read failed", () => seen.reading?.ok === false && seen.reading.reason === "incomplete");
    seen.responder.write(text("late"));
    seen.responder.end(null, false);
    seen.responder.abort();
    await eventually("no connection left", () => rig.openConnections() === 0);
    expect(seen.goneCount).toBe(1);
    client.socket.destroy();
  });

  it("is not reported after the answer ended", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("/a 0");
    client.socket.destroy();
    await eventually("no connection left", () => rig.openConnections() === 0);
    expect(rig.find("/a").goneCount).toBe(0);
  });

  it("fails a read of the body that comes too late", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(`POST /a HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\n`);
    await eventually("the engine has the request", () => rig.handled.length === 1);
    client.socket.resetAndDestroy();
    await eventually("onGone", () => rig.find("/a").goneCount === 1);
    expect(await readBody(rig.find("/a"), 100)).toEqual({ ok: false, reason: "incomplete" });
  });

  it("half, with the rest of an ended answer still to come, gets it", async () => {
    let atServer: Socket | null = null;
    rig = await startRig((seen) => answer(seen, 200, "x".repeat(20_000_000), false));
    rig.http.server.on("connection", (socket) => (atServer = socket));
    const client = await RawClient.open(rig.port);
    client.stall();
    client.send(get("/a"));
    await eventually("the answer has ended", () => rig.handled.length === 1);
    client.socket.end();
    await eventually("the server has seen the end", () => atServer?.readableEnded === true);
    client.socket.resume();
    await client.untilClosed();
    expect(client.receivedBytes).toBeGreaterThan(20_000_000);
    expect(client.failure).toBeNull();
  });

  it("takes its waiting requests with it", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(get("/a") + get("/b"));
    await eventually("the engine has the request", () => rig.handled.length === 1);
    client.socket.destroy();
    await eventually("onGone", () => rig.find("/a").goneCount === 1);
    await eventually("no connection left", () => rig.openConnections() === 0);
    expect(rig.handled).toHaveLength(1);
  });
});

describe("backpressure", () => {
  const CHUNK = new Uint8Array(65_536).fill(120);

  it("reports a full connection, bounds what waits, and calls onDrain when the client reads again", async () => {
    const CHUNKS = 500;
    let written = 0;
    let largestBuffer = 0;
    rig = await startRig((seen) => {
      // The engine sees only the contract; the fill level is the front end's own.
      const responder = seen.responder as NodeResponder;
      const fill = (): void => {
        while (written < CHUNKS) {
          written += 1;
          const hasRoom = responder.write(CHUNK);
          largestBuffer = Math.max(largestBuffer, responder.bufferedBytes);
          if (!hasRoom) return;
        }
        responder.end(null, false);
      };
      responder.onDrain = () => {
        seen.drainCount += 1;
        fill();
      };
      responder.head(200, []);
      fill();
    });
    const client = await RawClient.open(rig.port);
    client.stall();
    client.send(get("/a"));
    await eventually("the connection is full", () => written > 0 && rig.openConnections() === 1);
    expect(written).toBeLessThan(CHUNKS);
    client.socket.resume();
    await client.until(/0\r\n\r\n$/);
    expect(client.receivedBytes).toBeGreaterThan(CHUNKS * CHUNK.length);
    expect(rig.find("/a").drainCount).toBeGreaterThan(0);
    expect(largestBuffer).toBeLessThan(3 * CHUNK.length);
    client.socket.destroy();
  });

  it("destroys a connection whose client takes nothing of an ended answer", async () => {
    rig = await startRig((seen) => answer(seen, 200, "x".repeat(30_000_000), false), {
      limits: { flushTimeoutMs: 100 },
    });
    const client = await RawClient.open(rig.port);
    client.stall();
    client.send(get("/a"));
    await eventually("no connection left", () => rig.handled.length === 1 && rig.openConnections() === 0);
    expect(rig.find("/a").goneCount).toBe(0);
    client.socket.destroy();
  });
});

import type { Socket } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { answer, echo, hang, readBody, startRig } from "./fixtures/fake-engine.ts";
import type { Rig } from "./fixtures/fake-engine.ts";
import { eventually, RawClient } from "./fixtures/raw-client.ts";

let rig: Rig;
afterEach(() => rig.http.close(0));

const HOST = "Host: a\r\n";
const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`;

describe("pipelined requests", () => {
  it("start one after the other, each when the answer before it is complete", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(get("/0") + post("/1", "body") + get("/2"));
    for (const index of [0, 1, 2]) {
      await eventually(`/${index} has started`, () => rig.handled.length > index);
      expect(rig.handled).toHaveLength(index + 1);
      echo(rig.find(`/${index}`));
      await client.until(`/${index} `);
    }
    expect(client.received).toMatch(/\/0 0[^]*\/1 4[^]*\/2 0$/);
    client.socket.destroy();
  });

  it.each([8, 9, 200, 3_000])("are all served in order when %i arrive at once", async (count) => {
    rig = await startRig((seen) => setImmediate(echo, seen));
    const client = await RawClient.open(rig.port);
    client.send(
      Array.from({ length: count }, (_, index) =>
        index % 3 === 0 ? post(`/${index}`, "b".repeat(index % 50)) : get(`/${index}`),
      ).join(""),
    );
    await client.until(`/${count - 1} `);
    expect(rig.handled.map((seen) => seen.request.path)).toEqual(
      Array.from({ length: count }, (_, index) => `/${index}`),
    );
    client.socket.destroy();
  });

  it("are dropped behind an answer that closes the connection", async () => {
    rig = await startRig((seen) => answer(seen, 200, "done", true));
    const client = await RawClient.open(rig.port);
    client.send(get("/0") + get("/1") + get("/2"));
    await client.untilClosed();
    expect(client.statuses).toEqual([200]);
    expect(rig.handled).toHaveLength(1);
  });

  it("stop being read while too many wait", async () => {
    rig = await startRig(hang);
    const sockets: Socket[] = [];
    rig.http.server.on("connection", (socket) => sockets.push(socket));
    const client = await RawClient.open(rig.port);
    client.send(get("/x").repeat(500_000));
    await eventually("the server has paused", () => sockets[0]?.isPaused() === true);
    await eventually("the client is stuck", () => client.socket.writableLength > 0);
    expect(sockets[0]?.bytesRead).toBeLessThan(200_000);
    expect(rig.handled).toHaveLength(1);
    client.socket.destroy();
  });

  it("do not disturb the answer under way when they are no HTTP, but end the connection after it", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await eventually("the engine has the request", () => rig.handled.length === 1);
    client.send("\0garbage\r\n\r\n");
    await eventually("the garbage was seen", () => rig.problems.length > 0);
    expect(client.isClosed).toBe(false);
    echo(rig.find("/a"));
    await client.untilClosed();
    expect(client.received).toMatch(/connection: close\r\n[^]*\/a 0$/);
    expect(client.statuses).toEqual([200]);
    expect(rig.find("/a").goneCount).toBe(0);
  });
});

describe("lingering close", () => {
  it("lets a client that is still sending 64 MB read its 401, and reads little of them", async () => {
    let bytesRead = 0;
    rig = await startRig((seen) => answer(seen, 401, "no credential", true));
    rig.http.server.on("connection", (socket) => socket.on("close", () => (bytesRead = socket.bytesRead)));
    const client = await RawClient.open(rig.port, { allowHalfOpen: true });
    client.send(`POST /v1/x HTTP/1.1\r\n${HOST}Content-Length: 67108864\r\n\r\n`);
    client.send(new Uint8Array(67_108_864));
    await client.until("no credential");
    await client.untilClosed();
    await eventually("the server has closed", () => bytesRead > 0);
    expect(bytesRead).toBeLessThan(1_048_576);
    expect(client.statuses).toEqual([401]);
  });

  it("ends at once when the client closes", async () => {
    rig = await startRig((seen) => answer(seen, 401, "no", true), { limits: { lingerMs: 3_600_000 } });
    const client = await RawClient.open(rig.port);
    client.send(`POST /v1/x HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\n`);
    await client.untilClosed();
    expect(client.failure).toBeNull();
  });

  it("ends in bounded time when the client neither sends nor closes", async () => {
    let hasClosed = false;
    rig = await startRig((seen) => answer(seen, 401, "no", true), { limits: { lingerMs: 50 } });
    rig.http.server.on("connection", (socket) => socket.on("close", () => (hasClosed = true)));
    const client = await RawClient.open(rig.port, { allowHalfOpen: true });
    client.send(`POST /v1/x HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\n`);
    await eventually("the server has closed", () => hasClosed);
    expect(client.isEnded).toBe(true);
    client.socket.destroy();
  });
});

describe("a client that resets its connection", () => {
  it.each([
    ["while its request is served", get("/a")],
    ["behind a refused tunnel", `CONNECT a:443 HTTP/1.1\r\n${HOST}\r\n`],
    ["behind a refused request", `GET //a HTTP/1.1\r\n${HOST}\r\n`],
    ["behind something that is no HTTP", "\0\r\n\r\n"],
    ["in the middle of a head", "GET /a HTTP/1.1\r\nX: "],
  ])("%s costs its connection, not the process", async (_name, input) => {
    rig = await startRig(hang, { limits: { lingerMs: 3_600_000 } });
    let atServer: Socket | null = null;
    rig.http.server.on("connection", (socket) => (atServer = socket));
    const client = await RawClient.open(rig.port, { allowHalfOpen: true });
    client.send(input);
    await eventually("the input was read", () => atServer?.bytesRead === input.length);
    client.socket.resetAndDestroy();
    await eventually("no connection left", () => rig.openConnections() === 0);
    const other = await RawClient.open(rig.port);
    other.send("GET //b HTTP/1.1\r\n\r\n");
    await other.untilClosed();
    expect(other.statuses).toEqual([400]);
    // An error that nobody listens to makes vitest fail the run; one that is listened to is reported.
    expect(rig.problems.length).toBeGreaterThan(0);
  });
});

describe("a connection that cannot be accepted", () => {
  it("is reported, and others are served", async () => {
    rig = await startRig(echo);
    // What Node's server does when the kernel refuses an accept, as a firewall rule makes it (accept(2), EPERM).
    rig.http.server.emit("error", new Error("accept EPERM"));
    expect(rig.problems).toMatchObject([{ kind: "connection-error", detail: "accept EPERM" }]);
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("/a 0");
    client.socket.destroy();
  });
});

describe("slow clients", () => {
  const quick = {
    headTimeoutMs: 60,
    checkIntervalMs: 20,
    bodyTimeoutMs: 300,
    bodyWindowMs: 60,
    minBodyBytesPerWindow: 10,
  };

  it.each(["", "GET /a HT", "GET /a HTTP/1.1\r\nHost: a\r\n", "GET /a HTTP/1.1\r\nHost: a\r\nX: "])(
    "get 408 for the unfinished head %j",
    async (head) => {
      rig = await startRig(echo, { limits: quick });
      const client = await RawClient.open(rig.port);
      client.send(head);
      await client.untilClosed();
      expect(client.statuses).toEqual([408]);
      expect(client.received).toContain('"code":"body_timeout"');
      expect(rig.handled).toEqual([]);
    },
  );

  it.each([
    { name: "stops", drip: 0 },
    { name: "drips below the minimum", drip: 1 },
    { name: "is never complete", drip: 100 },
  ])("fail the read of a body that $name", async ({ drip }) => {
    rig = await startRig(echo, { limits: quick });
    const client = await RawClient.open(rig.port);
    client.send(`POST /a HTTP/1.1\r\n${HOST}Content-Length: 1000000\r\n\r\nbegin`);
    const dripping = setInterval(() => drip > 0 && client.send("x".repeat(drip)), 20);
    await client.until("timeout");
    clearInterval(dripping);
    await client.untilClosed();
    expect(client.statuses).toEqual([400]);
    expect(rig.find("/a").reading).toEqual({ ok: false, reason: "timeout" });
  });

  it("lose a connection that stays idle", async () => {
    rig = await startRig(echo, { limits: { keepAliveTimeoutMs: 1 } });
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.untilClosed();
    expect(client.statuses).toEqual([200]);
  });
});

describe("bounds of bodies", () => {
  const rows = [
    {
      name: "announced one byte over the bound",
      input: post("/a", "12345678901"),
      expected: { ok: false, reason: "too-large" },
    },
    {
      name: "chunked one byte over the bound",
      input: `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n78901\r\n0\r\n\r\n`,
      expected: { ok: false, reason: "too-large" },
    },
    { name: "announced at the bound", input: post("/a", "1234567890"), expected: { ok: true } },
    {
      name: "chunked at the bound",
      input: `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n4\r\n7890\r\n0\r\n\r\n`,
      expected: { ok: true },
    },
  ];
  it.each(rows)("hold for a body $name", async ({ input, expected }) => {
    rig = await startRig(
      (seen) => void readBody(seen, 10).then((reading) => answer(seen, reading.ok ? 200 : 413, "end", !reading.ok)),
    );
    const client = await RawClient.open(rig.port);
    client.send(input);
    await client.until("end");
    expect(rig.find("/a").reading).toMatchObject(expected);
    client.socket.destroy();
  });

  it("fail a second read", async () => {
    rig = await startRig(
      (seen) =>
        void readBody(seen, 10)
          .then(() => seen.request.readBody(10))
          .then((reading) => answer(seen, 200, JSON.stringify(reading), false)),
    );
    const client = await RawClient.open(rig.port);
    client.send(post("/a", "1"));
    await client.until("}");
    expect(client.received).toContain('{"ok":false,"reason":"consumed"}');
    client.socket.destroy();
  });
});

describe("a read that begins behind the answer", () => {
  it("fails, and does not disturb what the client gets", async () => {
    rig = await startRig((seen) => {
      answer(seen, 200, "early", false);
      void readBody(seen, 100);
    });
    const client = await RawClient.open(rig.port);
    client.send(`POST /a HTTP/1.1\r\n${HOST}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`);
    await client.untilClosed();
    await eventually("the read has ended", () => rig.find("/a").reading !== null);
    expect(rig.find("/a").reading).toMatchObject({ ok: false });
    expect(client.received).toMatch(/^HTTP\/1\.1 200 [^]*early$/);
    expect(rig.problems.map((problem) => problem.detail)).not.toContain("write after end");
  });
});

describe("close", () => {
  it("ends idle and silent connections at once", async () => {
    rig = await startRig(echo);
    const idle = await RawClient.open(rig.port);
    idle.send(get("/a"));
    await idle.until("/a 0");
    const silent = await RawClient.open(rig.port);
    await rig.http.close(3_600_000);
    await idle.untilClosed();
    await silent.untilClosed();
    await expect(RawClient.open(rig.port)).rejects.toThrow("ECONNREFUSED");
  });

  it("lets exchanges end, says connection: close, and starts no pipelined one", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(get("/a") + get("/b"));
    await eventually("the engine has the request", () => rig.handled.length === 1);
    const closing = rig.http.close(3_600_000);
    echo(rig.find("/a"));
    await closing;
    await client.untilClosed();
    expect(client.received).toMatch(/connection: close\r\n[^]*\/a 0$/);
    expect(rig.handled).toHaveLength(1);
  });

  it("closes a connection whose streamed answer began before", async () => {
    rig = await startRig(({ responder }) => responder.head(200, []));
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.until("\r\n\r\n");
    const closing = rig.http.close(3_600_000);
    rig.find("/a").responder.end(Buffer.from("x"), false);
    await closing;
    await client.untilClosed();
    expect(client.received).toMatch(/x\r\n0\r\n\r\n$/);
  });

  it("destroys what is left at the deadline", async () => {
    rig = await startRig(hang);
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await eventually("the engine has the request", () => rig.handled.length === 1);
    await rig.http.close(20);
    await client.untilClosed();
    expect(rig.find("/a").goneCount).toBe(1);
  });
});

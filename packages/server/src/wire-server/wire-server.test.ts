import type { Socket } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { answer, echo, hang, serveWith, startRig } from "../http/fixtures/fake-engine.ts";
import type { Rig } from "../http/fixtures/fake-engine.ts";
import { eventually, RawClient } from "../http/fixtures/raw-client.ts";
import { createWireServer } from "./index.ts";
import { fuzzWireServer } from "./wire-server.fuzz.ts";

serveWith(createWireServer);

let rig: Rig | null = null;
afterEach(async () => {
  await rig?.http.close(0);
  rig = null;
});

const HOST = "Host: a\r\n";
const get = (path: string, fields = ""): string => `GET ${path} HTTP/1.1\r\n${HOST}${fields}\r\n`;

describe("against node:http", () => {
  it("serves nothing that node:http does not serve, and reads it alike", async () => {
    const outcome = await fuzzWireServer(1, 1500);
    expect(outcome.disagreements).toEqual([]);
    // The inputs are of use only when many are sound and many are not.
    expect(outcome.served).toBeGreaterThan(400);
    expect(outcome.served).toBeLessThan(2500);
  });
});

describe("the end of a connection", () => {
  it.each(["close", "keep-alive, Close", "x,close"])(
    "follows the answer to a request with connection: %s",
    async (options) => {
      rig = await startRig(echo);
      const client = await RawClient.open(rig.port);
      client.send(get("/a", `Connection: ${options}\r\n`) + get("/b"));
      await client.untilClosed();
      expect(client.received).toMatch(/connection: close\r\n\r\n\/a 0$/);
      expect(rig.handled).toHaveLength(1);
    },
  );

  it("lets a client read an answer that takes longer than the time to linger", async () => {
    rig = await startRig((seen) => answer(seen, 200, "x".repeat(20_000_000), true), { limits: { lingerMs: 1 } });
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await client.untilClosed();
    expect(client.receivedBytes).toBeGreaterThan(20_000_000);
    expect(client.failure).toBeNull();
  });

  it("does not follow an option that only contains the word", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send(get("/a", "Connection: closed\r\n") + get("/b"));
    await client.until("/b 0");
    expect(client.statuses).toEqual([200, 200]);
    client.socket.destroy();
  });

  it("follows the answer to a wish to upgrade when more has arrived behind the request", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    const upgrade = "Connection: x, Upgrade\r\nUpgrade: h2c\r\n";
    client.send(get("/a", upgrade));
    await client.until("/a 0");
    client.send(get("/b", upgrade) + get("/c"));
    await client.untilClosed();
    expect(client.received).toMatch(/connection: close\r\n\r\n\/b 0$/);
    expect(rig.handled).toHaveLength(2);
  });

  it("comes when a body was not read, however much of it has arrived", async () => {
    rig = await startRig((seen) => answer(seen, 200, "unread", false));
    const client = await RawClient.open(rig.port);
    client.send(`POST /a HTTP/1.1\r\n${HOST}Content-Length: 4\r\n\r\nbody${get("/b")}`);
    await client.untilClosed();
    expect(client.received).toMatch(/connection: close\r\n\r\nunread$/);
    expect(rig.handled).toHaveLength(1);
  });
});

describe("close", () => {
  it("lets a client read what is left of an answer that has ended", async () => {
    rig = await startRig((seen) => answer(seen, 200, "x".repeat(20_000_000), false));
    const { handled, http } = rig;
    const client = await RawClient.open(rig.port);
    client.stall();
    client.send(get("/a"));
    await eventually("the answer has ended", () => handled.length === 1);
    const closing = http.close(3_600_000);
    client.socket.resume();
    await closing;
    await client.untilClosed();
    expect(client.receivedBytes).toBeGreaterThan(20_000_000);
    expect(client.failure).toBeNull();
  });
});

describe("a head", () => {
  it("with an octet that no head may hold is refused before it is complete", async () => {
    rig = await startRig(echo);
    const client = await RawClient.open(rig.port);
    client.send("GET /a HTTP/1.1\nHost: a");
    await client.untilClosed();
    expect(client.statuses).toEqual([400]);
  });

  it("of exactly the bound is served, and one byte more is 431", async () => {
    rig = await startRig(echo, { limits: { maxHeadBytes: 100 } });
    const size = get("/a", "X: \r\n").length;
    const client = await RawClient.open(rig.port);
    client.send(get("/a", `X: ${"b".repeat(100 - size)}\r\n`));
    await client.until("/a 0");
    client.send(get("/a", `X: ${"b".repeat(101 - size)}\r\n`));
    await client.untilClosed();
    expect(client.statuses).toEqual([200, 431]);
  });
});

describe("requests that arrive at once", () => {
  it("leave other connections their turn", async () => {
    rig = await startRig(echo);
    const { handled } = rig;
    const [flood, other] = await Promise.all([RawClient.open(rig.port), RawClient.open(rig.port)]);
    flood.send(get("/flood").repeat(1_000));
    other.send(get("/other"));
    await eventually("all are served", () => handled.length === 1_001);
    expect(handled.findIndex(({ request }) => request.path === "/other")).toBeLessThan(500);
    flood.socket.destroy();
    other.socket.destroy();
  });
});

describe("answers of one connection", () => {
  it("have no body behind HEAD, whole or streamed, and keep the connection in step", async () => {
    rig = await startRig((seen) => {
      if (seen.request.path === "/whole") answer(seen, 200, "12345", false);
      else {
        seen.responder.head(200, []);
        seen.responder.write(Buffer.from("abc"));
        seen.responder.end(null, false);
      }
    });
    const client = await RawClient.open(rig.port);
    client.send(`HEAD /whole HTTP/1.1\r\n${HOST}\r\nHEAD /streamed HTTP/1.1\r\n${HOST}\r\n${get("/whole")}`);
    await client.until("12345");
    expect(client.statuses).toEqual([200, 200, 200]);
    expect(client.received.match(/content-length: 5/g)).toHaveLength(2);
    expect(client.received).not.toContain("abc");
    client.socket.destroy();
  });

  it.each([
    ["a refusal of", "\0garbage\r\n\r\n", /200 OK[^]*first[^]*HTTP\/1\.1 400 /],
    [
      "an interim answer to",
      `POST /next HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n`,
      /200 OK[^]*first[^]*HTTP\/1\.1 100 /,
    ],
  ])("leave before %s what is read in the same turn", async (_name, behind, expected) => {
    rig = await startRig((seen) => {
      if (seen.request.path === "/a") answer(seen, 200, "first", false);
      else echo(seen);
    });
    let atServer: Socket | null = null;
    rig.http.server.on("connection", (socket) => (atServer = socket));
    const client = await RawClient.open(rig.port);
    await eventually("the connection is accepted", () => atServer !== null);
    const socket = atServer as Socket | null;
    socket?.emit("data", Buffer.from(get("/a")));
    socket?.emit("data", Buffer.from(behind, "latin1"));
    await eventually(
      "both have arrived",
      () => /HTTP\/1\.1 [14]00 /.test(client.received) && /first/.test(client.received),
    );
    expect(client.received).toMatch(expected);
    client.socket.destroy();
  });

  it("wait for a client that takes none: no further request starts meanwhile", async () => {
    rig = await startRig((seen) => answer(seen, 200, "x".repeat(20_000_000), false));
    const { handled } = rig;
    const client = await RawClient.open(rig.port);
    client.stall();
    client.send(get("/a"));
    await eventually("the first request is served", () => handled.length === 1);
    // More than one read, so that what arrives behind the answer is looked at.
    for (let index = 0; index < 5; index += 1) {
      client.send(get(`/${index}`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(handled).toHaveLength(1);
    client.socket.resume();
    await eventually("the next request is served", () => handled.length > 1);
    client.socket.destroy();
  });

  it("break off a streamed answer whose client is lost, and free the connection", async () => {
    rig = await startRig(hang);
    const { handled } = rig;
    const client = await RawClient.open(rig.port);
    client.send(get("/a"));
    await eventually("the engine has the request", () => handled.length === 1);
    const seen = rig.find("/a");
    seen.responder.head(200, []);
    seen.responder.write(Buffer.from("one"));
    await client.until("one");
    client.socket.destroy();
    await eventually("onGone", () => seen.goneCount === 1);
    expect(seen.responder.write(Buffer.from("two"))).toBe(true);
  });
});

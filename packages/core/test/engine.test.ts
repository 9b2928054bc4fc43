// Single moments of an exchange that the simulation meets only by chance: what happens under pressure, at deadlines, and when a
// dialect throws.
import { describe, expect, it } from "vitest";

import { findHeaders } from "../src/index.ts";
import type { LimitStanding, Ticket, TimeoutsConfig } from "../src/index.ts";
import { ManualGateway } from "./simulation/manual-gateway.ts";
import { record } from "./simulation/tiny-dialect.ts";

const delta = (text: string): Uint8Array => record({ delta: text });
const STOP = record({ stop: "end" });
const USAGE = record({ usage: { input: 3, output: 4 } });
const DONE = record({ done: true });
const TIMEOUTS: TimeoutsConfig = { connect: "1s", firstContent: "10s", idle: "5s", total: "60s" };
const BIG = "x".repeat(2_000);

describe("what a caller's limits leave", () => {
  const upstreams = ["x-ratelimit-remaining-requests", "7 left", "ratelimit", "upstream's"] as const;
  const limited = (more: Partial<Ticket> = {}): ManualGateway => {
    let left = 3;
    const limitStandings = (): readonly LimitStanding[] => [
      { dimension: "requests", limit: 3, remaining: left--, resetMs: 0 },
    ];
    return new ManualGateway({ ticket: { limitStandings, ...more } });
  };
  const refusal = {
    error: { class: "rate-limit", origin: "gateway", message: "no", retrySame: false, fallback: false },
  } as const;

  it.each([true, false])("is told with an answer, and nothing of the upstream's own (streamed: %s)", async (stream) => {
    const gateway = limited();
    const client = await gateway.ask({ stream });
    gateway.call.sink.onSent();
    const contentType = stream ? "text/event-stream" : "application/json";
    gateway.call.sink.onHead(200, ["content-type", contentType, ...upstreams]);
    if (stream) gateway.say(delta("hi"), STOP, DONE);
    else gateway.say(JSON.stringify({ text: "hi", stop: "end" }));
    gateway.call.sink.onEnd();
    await gateway.advance(0);
    expect([client.status, client.ending]).toEqual([200, "ended"]);
    expect(findHeaders(client.headers, "x-left-requests")).toEqual(["3"]);
    for (const name of upstreams) expect(client.headers).not.toContain(name);
  });

  it("is told with a refusal", async () => {
    const gateway = limited({ hold: () => refusal });
    const client = await gateway.ask({ stream: true });
    expect([client.status, findHeaders(client.headers, "x-left-requests")]).toEqual([429, ["3"]]);
  });

  it.each([
    ["a ticket that tells nothing", {}],
    ["a caller without limits", { limitStandings: () => [] }],
  ])("is silence for %s", async (_name, ticket) => {
    const gateway = new ManualGateway({ ticket });
    const client = await gateway.ask();
    gateway.open();
    gateway.say(delta("hi"), STOP, DONE);
    await gateway.advance(0);
    expect(client.headers.filter((name) => name.startsWith("x-left"))).toEqual([]);
  });
});

describe("a streamed exchange", () => {
  it("gives the client what came, and the account its usage", async () => {
    const gateway = new ManualGateway();
    const client = await gateway.ask();
    gateway.open();
    gateway.say(delta("hi"), STOP, USAGE, DONE);
    gateway.call.sink.onEnd();
    await gateway.advance(0);
    expect([client.status, client.ending]).toEqual([200, "ended"]);
    expect(gateway.outcomes).toMatchObject([
      { status: 200, error: null, attempts: [{ rule: "actual", usage: { input: 3, output: 4 } }] },
    ]);
    expect(gateway.bodyHolders).toBe(1);
    gateway.call.sink.onReleased();
    expect([gateway.bodyHolders, gateway.clock.enginePending, gateway.engine.inFlight]).toEqual([0, 0, 0]);
  });

  it("lets the upstream's idle time stand still while a slow client makes it pause", async () => {
    const gateway = new ManualGateway({
      maxQueueBytes: 1_024,
      model: { timeouts: TIMEOUTS },
      limits: { clientStallMs: 100_000 },
    });
    const client = await gateway.ask();
    gateway.open();
    client.hasRoom = false;
    gateway.say(delta(BIG), delta(BIG), delta(BIG));
    expect(gateway.call.isPaused).toBe(true);
    await gateway.advance(20_000);
    expect(gateway.outcomes).toEqual([]);
    client.hasRoom = true;
    client.onDrain?.();
    expect(gateway.call.isPaused).toBe(false);
    await gateway.advance(5_001);
    expect(client.received).toContain('"class":"timeout"');
    expect(gateway.outcomes).toMatchObject([{ error: { class: "timeout" }, attempts: [{ rule: "abandoned" }] }]);
  });

  it("waits for a late usage only while it reads", async () => {
    const gateway = new ManualGateway({ maxQueueBytes: 1_024, limits: { usageGraceMs: 500, clientStallMs: 100_000 } });
    const client = await gateway.ask();
    gateway.open();
    client.hasRoom = false;
    gateway.say(delta(BIG), delta(BIG), STOP);
    await gateway.advance(3_000);
    client.hasRoom = true;
    client.onDrain?.();
    await gateway.advance(499);
    gateway.say(USAGE, DONE);
    await gateway.advance(0);
    expect(gateway.outcomes).toMatchObject([{ attempts: [{ rule: "actual" }] }]);
  });

  it("cuts a client that stops reading the end of an answer, and not one that reads slowly", async () => {
    const gateway = new ManualGateway({ maxQueueBytes: 1_024, limits: { clientStallMs: 1_000 } });
    const client = await gateway.ask();
    gateway.open();
    client.hasRoom = false;
    gateway.say(...Array.from({ length: 100 }, () => delta(BIG)), STOP, DONE);
    gateway.call.sink.onEnd();
    for (let read = 0; read < 2; read++) {
      await gateway.advance(900);
      client.onDrain?.();
    }
    expect([client.ending, gateway.outcomes.length]).toEqual(["none", 0]);
    await gateway.advance(1_001);
    expect(client.ending).toBe("aborted");
    expect(gateway.outcomes).toMatchObject([{ isClientGone: true, counts: { client_stalled: 1 } }]);
  });

  it("sends keep-alives although the upstream speaks, as long as nothing of it reaches the client", async () => {
    const gateway = new ManualGateway({ model: { deployments: [{ id: "b", provider: "pb", model: "y" }] } });
    const client = await gateway.ask();
    gateway.open();
    gateway.say(record({ piece: "hi" }));
    for (let second = 0; second < 16; second++) {
      await gateway.advance(1_000);
      gateway.say(record({ ping: true }));
    }
    expect(client.received).toContain(": still here");
    gateway.say(record({ finish: "end" }), record({ closed: true }));
    await gateway.advance(0);
    expect(client.ending).toBe("ended");
  });

  it("does not end a waiting client's stream when an attempt overflows the gate, and serves it from the next", async () => {
    const gateway = new ManualGateway({
      limits: { maxGateBytes: 100 },
      model: {
        deployments: [
          { id: "a", provider: "pa", model: "x" },
          { id: "b", provider: "pb", model: "y", tier: 2 },
        ],
        attempts: 1,
        timeouts: { ...TIMEOUTS, commitAfter: "1s" },
      },
    });
    const client = await gateway.ask();
    gateway.open();
    await gateway.advance(1_000);
    expect([client.status, client.received]).toEqual([200, ": still here\n\n"]);
    // Too much before the content, and the content and the end in the same read.
    gateway.say(
      Buffer.concat([
        ...Array.from({ length: 10 }, () => record({ opened: "x" })),
        record({ opened: BIG }),
        delta("lost"),
        STOP,
        DONE,
      ]),
    );
    await gateway.advance(0);
    expect([client.ending, gateway.calls.length]).toEqual(["none", 2]);
    gateway.open();
    gateway.say(record({ piece: "saved" }), record({ finish: "end" }), record({ closed: true }));
    await gateway.advance(0);
    expect(client.received).toContain("saved");
    expect(client.received).not.toContain("lost");
    expect(client.ending).toBe("ended");
  });

  it("keeps the usage of a stream that is lost after it", async () => {
    const gateway = new ManualGateway();
    await gateway.ask();
    gateway.open();
    gateway.say(delta("hi"), USAGE);
    gateway.call.sink.onFailure({ kind: "reset", detail: "", hasResponse: true });
    await gateway.advance(0);
    expect(gateway.outcomes).toMatchObject([
      { error: { class: "network" }, attempts: [{ rule: "partial", usage: { input: 3 } }] },
    ]);
  });

  it("streams a whole answer that is larger than the gate", async () => {
    const gateway = new ManualGateway({ limits: { maxGateBytes: 100 } });
    const client = await gateway.ask();
    gateway.open("application/json");
    gateway.say(JSON.stringify({ text: BIG, stop: "end" }));
    gateway.call.sink.onEnd();
    await gateway.advance(0);
    expect(client.received).toContain(BIG);
    expect([client.status, client.ending]).toEqual([200, "ended"]);
  });

  it("gives an unended connection a moment after the answer, then cuts it, and is not at rest before", async () => {
    const gateway = new ManualGateway({ limits: { trailingMs: 300 } });
    await gateway.ask();
    gateway.open();
    gateway.say(delta("hi"), STOP, DONE);
    await gateway.advance(299);
    expect([gateway.outcomes.length, gateway.call.isCancelled, gateway.engine.inFlight]).toEqual([1, false, 1]);
    await gateway.advance(1);
    expect([gateway.call.isCancelled, gateway.engine.inFlight]).toEqual([true, 0]);
  });

  it("leaves no timer behind when the connection ends by itself after the answer", async () => {
    const gateway = new ManualGateway({ limits: { trailingMs: 300 } });
    await gateway.ask();
    gateway.open();
    gateway.say(delta("hi"), STOP, DONE);
    await gateway.advance(10);
    gateway.call.sink.onEnd();
    expect([gateway.clock.enginePending, gateway.engine.inFlight, gateway.call.isCancelled]).toEqual([0, 0, false]);
  });
});

describe("a body", () => {
  it("is held by the call alone once the answer has begun", async () => {
    const gateway = new ManualGateway();
    await gateway.ask();
    gateway.open();
    expect(gateway.bodyHolders).toBe(2);
    gateway.say(delta("hi"));
    expect(gateway.bodyHolders).toBe(1);
    gateway.call.sink.onReleased();
    expect(gateway.bodyHolders).toBe(0);
  });

  it("that never went out whole costs nothing when our patience ends", async () => {
    const gateway = new ManualGateway({ model: { timeouts: TIMEOUTS } });
    await gateway.ask();
    await gateway.advance(10_001);
    expect(gateway.outcomes).toMatchObject([{ status: 504, attempts: [{ rule: "failed_free" }] }]);
  });
});

describe("a client that leaves", () => {
  it("between two attempts ends the pause, and leaves no timer behind", async () => {
    const gateway = new ManualGateway();
    const client = await gateway.ask();
    gateway.call.sink.onFailure({ kind: "connect", detail: "", hasResponse: false });
    await gateway.advance(0);
    client.onGone?.();
    await gateway.advance(0);
    expect([gateway.outcomes.length, gateway.clock.enginePending, gateway.calls.length]).toEqual([1, 0, 1]);
  });

  it("is reported with 499 when it got no head, though its answer still came", async () => {
    const gateway = new ManualGateway();
    const client = await gateway.ask();
    client.onGone?.();
    gateway.open();
    gateway.say(delta("hi"), STOP, USAGE, DONE);
    await gateway.advance(0);
    expect([client.status, client.received]).toEqual([0, ""]);
    expect(gateway.outcomes).toMatchObject([
      { status: 499, isClientGone: true, attempts: [{ rule: "after_disconnect" }] },
    ]);
  });

  it("is not charged for an answer that failed by itself", async () => {
    const gateway = new ManualGateway();
    const client = await gateway.ask();
    client.onGone?.();
    gateway.open("application/json", 500);
    gateway.say('{"error":{"class":"upstream-5xx"}}');
    gateway.call.sink.onEnd();
    await gateway.advance(0);
    expect(gateway.outcomes).toMatchObject([{ attempts: [{ rule: "failed_free" }] }]);
    expect(gateway.calls).toHaveLength(1);
  });

  it("is drained for as long as the deployment says", async () => {
    const gateway = new ManualGateway({
      model: {
        deployments: [
          { id: "a", provider: "pa", model: "x", disconnect: { mode: "drain", maxMs: 2_000, maxBytes: 100 } },
        ],
      },
    });
    const client = await gateway.ask();
    gateway.open();
    gateway.say(delta("hi"));
    client.onGone?.();
    await gateway.advance(1_999);
    expect(gateway.outcomes).toEqual([]);
    await gateway.advance(1);
    expect(gateway.call.isCancelled).toBe(true);
    expect(gateway.outcomes).toMatchObject([{ status: 200, attempts: [{ rule: "partial" }] }]);
  });

  it("is drained for no more bytes than the deployment says", async () => {
    const gateway = new ManualGateway({
      model: { deployments: [{ id: "a", provider: "pa", model: "x", disconnect: { mode: "drain", maxBytes: 100 } }] },
    });
    const client = await gateway.ask();
    gateway.open();
    client.onGone?.();
    gateway.say("y".repeat(100));
    expect(gateway.call.isCancelled).toBe(false);
    gateway.say("y");
    expect(gateway.call.isCancelled).toBe(true);
  });
});

describe("falling back", () => {
  const refuse = (gateway: ManualGateway, status: number, error: Readonly<Record<string, unknown>>): void => {
    gateway.open("application/json", status);
    gateway.say(JSON.stringify({ error }));
    gateway.call.sink.onEnd();
  };

  it("does not repeat on a deployment whose breaker the failure has opened", async () => {
    const gateway = new ManualGateway({ model: { attempts: 10 } });
    const client = await gateway.ask({});
    for (let call = 0; call < 5; call++) {
      refuse(gateway, 503, { class: "overloaded" });
      await gateway.advance(6_000);
    }
    expect(gateway.calls).toHaveLength(5);
    expect(client.status).toBe(503);
  });

  it("tries another credential at once, counts both attempts, and calls it no fall-back", async () => {
    const gateway = new ManualGateway({ credentials: ["key-one", "key-two"] });
    const told: boolean[] = [];
    const encodeError = gateway.client.encodeError.bind(gateway.client);
    gateway.client.encodeError = (error, context) => {
      told.push(context.hasFallenBack);
      return encodeError(error, context);
    };
    const client = await gateway.ask({});
    refuse(gateway, 401, { class: "auth" });
    await gateway.advance(0);
    expect(gateway.calls.map(({ request }) => request.headers.find((value) => value.startsWith("Bearer")))).toEqual([
      "Bearer key-one",
      "Bearer key-two",
    ]);
    refuse(gateway, 400, { class: "invalid-request" });
    await gateway.advance(0);
    expect(client.headers[client.headers.indexOf("x-dragoman-attempts") + 1]).toBe("2");
    expect(told).toEqual([false]);
  });

  it("shows a refusal of the request in the provider's words, without our secrets", async () => {
    const gateway = new ManualGateway({ credentials: ["a-very-secret-word"] });
    const client = await gateway.ask({});
    refuse(gateway, 422, { class: "invalid-request", message: "no a-very-secret-word here", detail: [1, 2] });
    await gateway.advance(0);
    expect([client.status, client.received]).toEqual([
      422,
      '{"error":{"class":"invalid-request","message":"no [masked] here","detail":[1,2]}}',
    ]);
  });

  it("answers a token count whole, even if the request says stream and the model commits early", async () => {
    const gateway = new ManualGateway({ model: { timeouts: { ...TIMEOUTS, commitAfter: "1s" } } });
    const client = await gateway.ask({ stream: true }, "/alpha/count");
    await gateway.advance(2_000);
    expect(client.status).toBe(0);
    gateway.open("application/json");
    gateway.say('{"count":7}');
    gateway.call.sink.onEnd();
    await gateway.advance(0);
    expect([client.status, client.received]).toEqual([200, '{"count":7}']);
  });
});

describe("a dialect that throws", () => {
  it.each([
    { name: "before the content", pieces: [], status: 500, ending: "ended" },
    { name: "after the content", pieces: [delta("hi")], status: 200, ending: "aborted" },
  ])("$name ends its exchange and nothing else", async ({ pieces, status, ending }) => {
    const gateway = new ManualGateway();
    const client = await gateway.ask();
    gateway.open();
    expect(() => gateway.say(...pieces, record({ boom: true }))).not.toThrow();
    await gateway.advance(0);
    expect([client.status, client.ending, gateway.call.isCancelled]).toEqual([status, ending, true]);
    expect(gateway.defects).toHaveLength(1);
    expect([
      gateway.outcomes.length,
      gateway.engine.inFlight,
      gateway.engine.hasFailedTask,
      gateway.clock.enginePending,
    ]).toEqual([1, 0, false, 0]);
  });

  it("while it writes the error breaks the connection off, and the exchange still ends", async () => {
    const gateway = new ManualGateway();
    gateway.client.encodeError = () => {
      throw new Error("planned");
    };
    const client = await gateway.ask({ input: 3 });
    gateway.call.sink.onFailure({ kind: "dns", detail: "", hasResponse: false });
    await gateway.advance(1_000);
    gateway.call.sink.onFailure({ kind: "dns", detail: "", hasResponse: false });
    await gateway.advance(1_000);
    expect(client.ending).toBe("aborted");
    expect([gateway.outcomes.length, gateway.engine.inFlight, gateway.engine.hasFailedTask]).toEqual([1, 0, false]);
  });
});

describe("a gateway that closes", () => {
  it("refuses new exchanges, waits for running ones, and takes no configuration afterwards", async () => {
    const gateway = new ManualGateway();
    await gateway.ask();
    let isClosed = false;
    const closing = gateway.engine.close().then(() => {
      isClosed = true;
    });
    const late = await gateway.ask();
    expect([late.status, isClosed, gateway.calls.length]).toEqual([503, false, 1]);
    gateway.open();
    gateway.say(delta("hi"), STOP, DONE);
    gateway.call.sink.onEnd();
    await closing;
    expect(gateway.outcomes.map(({ status }) => status).sort((left, right) => left - right)).toEqual([200, 503]);
    expect(() => gateway.engine.swap(gateway.engine.snapshot)).toThrow(
      expect.objectContaining({ code: "gateway_closed" }),
    );
  });
});

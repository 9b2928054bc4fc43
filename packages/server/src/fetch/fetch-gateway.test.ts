// What only the fetch handler has: streams as bodies with bounds of their own, work that outlives its client, and a host that
// must always be given an answer.
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { BodyPool } from "@dragoman/core";
import type { BodyReading, ClientRequest, HandleOptions, Responder } from "@dragoman/core";
import { describe, expect, it, vi } from "vitest";

import type { EmbeddedGateway } from "../embedding/index.ts";
import { SILENT_LOGGER } from "../ports/index.ts";
import { fetchGateway } from "./fetch-gateway.ts";

interface Rig {
  readonly gateway: EmbeddedGateway;
  readonly options: (HandleOptions | undefined)[];
  readonly readings: Promise<BodyReading>[];
  readonly responders: Responder[];
  /** As the engine does, which keeps the request of every exchange that runs. */
  readonly requests: ClientRequest[];
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** A gateway that reads bodies of at most 8 bytes and answers with what became of that. */
function makeRig(answers: boolean = true): Rig {
  const rig = {
    options: [] as Rig["options"],
    readings: [] as Rig["readings"],
    responders: [] as Responder[],
    requests: [] as Rig["requests"],
  };
  const gateway: EmbeddedGateway = {
    handle: (request, responder, options) => {
      rig.options.push(options);
      rig.responders.push(responder);
      rig.requests.push(request);
      const reading = request.readBody(8);
      rig.readings.push(reading);
      if (!answers) return;
      void reading.then((outcome) => {
        responder.head(200, []);
        responder.end(outcome.ok ? Buffer.from(outcome.body.bytes) : Buffer.from(outcome.reason), false);
      });
    },
    encodeRefusal: (status, code) => ({ status, headers: ["x-code", code], body: Buffer.from(code) }),
    serves: () => true,
    pool: new BodyPool({ maxPooledBytes: 1_000_000, poison: true }),
    logger: SILENT_LOGGER,
  };
  return { gateway, ...rig };
}

function post(body: RequestInit["body"] & {}, init: RequestInit = {}): Request {
  return new Request("http://host/v1/x", { method: "POST", body, duplex: "half", ...init } as RequestInit);
}

const streamOf = (...pieces: readonly unknown[]): ReadableStream<Uint8Array> =>
  new ReadableStream<unknown>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  }) as ReadableStream<Uint8Array>;

describe("bodies", () => {
  it.each([
    { name: "at the bound", body: () => "12345678", text: "12345678" },
    { name: "one byte over it", body: () => "123456789", text: "too-large" },
    { name: "in pieces", body: () => streamOf(Buffer.from("1234"), Buffer.from("5678")), text: "12345678" },
    { name: "in pieces over it", body: () => streamOf(Buffer.from("12345"), Buffer.from("6789")), text: "too-large" },
    { name: "of something else than bytes", body: () => streamOf("text"), text: "malformed" },
    { name: "of wider numbers", body: () => streamOf(new Uint16Array(2)), text: "malformed" },
    {
      name: "that break",
      body: () => new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) }),
      text: "incomplete",
    },
  ])("$name", async ({ body, text }) => {
    const response = await fetchGateway(makeRig().gateway)(post(body()));
    expect(await response.text()).toBe(text);
  });

  it("announced as too large are not read", async () => {
    const pull = vi.fn<() => void>();
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const response = await fetchGateway(makeRig().gateway)(post(body, { headers: { "content-length": "9" } }));
    expect(await response.text()).toBe("too-large");
    expect(pull).not.toHaveBeenCalled();
  });

  it("that do not end in time are cancelled", async () => {
    vi.useFakeTimers();
    try {
      const cancel = vi.fn<() => void>();
      const answer = fetchGateway(makeRig().gateway)(post(new ReadableStream({ cancel })));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await (await answer).text()).toBe("timeout");
      expect(cancel).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it("whose client leaves are incomplete", async () => {
    const rig = makeRig(false);
    const controller = new AbortController();
    const request = post(new ReadableStream(), { signal: controller.signal });
    const answer = fetchGateway(rig.gateway)(request);
    await vi.waitFor(() => expect(rig.readings).toHaveLength(1));
    controller.abort();
    expect(await rig.readings[0]).toEqual({ ok: false, reason: "incomplete" });
    expect((await answer).status).toBe(499);
  });
});

describe("a client that leaves when its host has let go of the request", () => {
  it("is heard of, even after a garbage collection", async () => {
    const rig = makeRig(false);
    const { answer, abort } = callAndForget(rig.gateway);
    await vi.waitFor(() => expect(rig.responders).toHaveLength(1));
    const responder = rig.responders[0] as Responder;
    const onGone = vi.fn<() => void>();
    responder.onGone = onGone;
    responder.head(200, []);
    const response = await answer;
    await setImmediate();
    collectGarbage();
    abort();
    expect(onGone).toHaveBeenCalledOnce();
    await expect(response.text()).rejects.toThrow("aborted");
    expect(rig.requests).toHaveLength(1);
  });

  /** In a frame of its own, so that nothing on the stack of the test refers to the request. */
  function callAndForget(gateway: EmbeddedGateway): { readonly answer: Promise<Response>; readonly abort: () => void } {
    const controller = new AbortController();
    const answer = fetchGateway(gateway)(post("{}", { signal: controller.signal }));
    return { answer, abort: () => controller.abort() };
  }
});

describe("work that outlives its client", () => {
  it("is handed to waitUntil, once, and ends with the exchange", async () => {
    const rig = makeRig();
    const works: Promise<void>[] = [];
    const handler = fetchGateway(rig.gateway, { waitUntil: (work) => works.push(work) });
    await (await handler(post("{}"))).text();
    expect(works).toHaveLength(1);
    let isOver = false;
    const over = works[0]?.then(() => (isOver = true));
    await setImmediate();
    expect(isOver).toBe(false);
    rig.options[0]?.onEnd?.();
    await over;
  });

  it("is none when the client had left before", async () => {
    const rig = makeRig();
    const works: Promise<void>[] = [];
    const handler = fetchGateway(rig.gateway, { waitUntil: (work) => works.push(work) });
    expect((await handler(post("{}", { signal: AbortSignal.abort() }))).status).toBe(499);
    await Promise.all(works);
    expect(rig.options).toEqual([]);
  });
});

describe("an engine that breaks an answer off before its head", () => {
  it("is an error of the host's handler, as nothing can be said for it", async () => {
    const rig = makeRig(false);
    const answer = fetchGateway(rig.gateway)(post("{}"));
    await vi.waitFor(() => expect(rig.responders).toHaveLength(1));
    rig.responders[0]?.abort();
    await expect(answer).rejects.toThrow("fetch failed");
  });
});

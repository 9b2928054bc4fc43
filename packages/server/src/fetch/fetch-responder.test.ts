import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { FetchResponder } from "./fetch-responder.ts";

const JSON_HEAD = ["content-type", "application/json"];

function opened(signal: AbortSignal | null = null): FetchResponder {
  const responder = new FetchResponder(signal);
  responder.head(200, JSON_HEAD);
  return responder;
}

async function readerOf(responder: FetchResponder): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const { body } = await responder.response;
  if (body === null) throw new Error("no body");
  return body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
}

/** Lets every promise that is ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("whole answers", () => {
  it("have a length and need no stream", async () => {
    const responder = opened();
    responder.end(Buffer.from("{}"), true);
    const response = await responder.response;
    expect([...response.headers]).toEqual([
      ["content-length", "2"],
      ["content-type", "application/json"],
    ]);
    expect(await response.text()).toBe("{}");
  });

  it("may have no body", async () => {
    const responder = opened();
    responder.end(null, false);
    expect((await responder.response).body).toBeNull();
  });
});

describe("streamed answers", () => {
  it("have their head before their first byte", async () => {
    const responder = opened();
    expect((await responder.response).status).toBe(200);
    responder.write(Buffer.from("a"));
    responder.end(Buffer.from("b"), false);
    expect(await (await responder.response).text()).toBe("ab");
  });

  it("bring every byte once and in order, however they are cut", async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 200_000 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, async (bytes) => {
        const responder = opened();
        let next = 0;
        const give = (): void => {
          while (next < bytes.length) if (!responder.write(bytes[next++] as Uint8Array)) return;
          responder.end(null, false);
        };
        responder.onDrain = give;
        give();
        const received = Buffer.from(await (await responder.response).arrayBuffer());
        expect(received.equals(Buffer.concat(bytes))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("ask to wait at 64 KiB and to go on once they are read", async () => {
    const responder = opened();
    let drains = 0;
    responder.onDrain = () => (drains += 1);
    expect(responder.write(Buffer.alloc(65_535))).toBe(true);
    expect(responder.write(Buffer.alloc(1))).toBe(false);
    await turn();
    expect(drains).toBe(0);
    const reader = await readerOf(responder);
    await reader.read();
    await turn();
    expect(drains).toBe(1);
  });

  it("give plain Uint8Arrays", async () => {
    const responder = opened();
    responder.write(Buffer.from("a"));
    const { value } = await (await readerOf(responder)).read();
    expect(Buffer.isBuffer(value)).toBe(false);
  });
});

describe("endings", () => {
  it("that break an answer come behind what was written before", async () => {
    const responder = opened();
    responder.write(Buffer.from("all but the end"));
    responder.abort();
    const reader = await readerOf(responder);
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("all but the end");
    await expect(reader.read()).rejects.toThrow(new TypeError("terminated"));
  });

  it("that break an answer reach a reader that waits", async () => {
    const responder = opened();
    const reading = (await readerOf(responder)).read();
    responder.abort();
    await expect(reading).rejects.toThrow(new TypeError("terminated"));
  });

  it("before a head reject as fetch does", async () => {
    const responder = new FetchResponder(null);
    responder.abort();
    await expect(responder.response).rejects.toThrow(new TypeError("fetch failed"));
  });

  it("never follow each other", async () => {
    const controller = new AbortController();
    const responder = opened(controller.signal);
    let gone = 0;
    responder.onGone = () => (gone += 1);
    responder.end(Buffer.from("{}"), false);
    responder.abort();
    controller.abort();
    expect(await (await responder.response).text()).toBe("{}");
    expect(gone).toBe(0);
    expect(() => responder.end(null, false)).toThrow("ends once");
  });
});

describe("a client that leaves", () => {
  const reason = new Error("enough");
  const rows = [
    {
      name: "by its signal before the head",
      leave: async (responder: FetchResponder, controller: AbortController) => {
        controller.abort(reason);
        await expect(responder.response).rejects.toBe(reason);
      },
      isOpen: false,
    },
    {
      name: "by its signal in mid-stream",
      leave: async (responder: FetchResponder, controller: AbortController) => {
        const reader = await readerOf(responder);
        controller.abort(reason);
        await expect(reader.read()).rejects.toBe(reason);
      },
      isOpen: true,
    },
    {
      name: "by cancelling the body",
      leave: async (responder: FetchResponder) => (await readerOf(responder)).cancel(),
      isOpen: true,
    },
  ];

  it.each(rows)("$name is told once, and what is written then is dropped", async ({ leave, isOpen }) => {
    const controller = new AbortController();
    const responder = isOpen ? opened(controller.signal) : new FetchResponder(controller.signal);
    const told: string[] = [];
    responder.onLeft = () => told.push("body");
    responder.onGone = () => told.push("engine");
    await leave(responder, controller);
    controller.abort();
    responder.head(200, JSON_HEAD);
    expect(responder.write(Buffer.from("late"))).toBe(true);
    responder.end(null, false);
    expect(told).toEqual(["body", "engine"]);
    expect(responder.isGone).toBe(true);
  });
});

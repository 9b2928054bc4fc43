import { BodyPool } from "@dragoman/core";
import type { BodyReading } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { DEFAULT_HTTP_LIMITS } from "../http/http-limits.ts";
import { BodyIntake } from "./body-intake.ts";

/** Timers that run when the test says so. */
function makeHost() {
  const timers: { callback: () => void; isCancelled: boolean }[] = [];
  return {
    timers,
    host: {
      pool: new BodyPool({ maxPooledBytes: 100_000, poison: true }),
      limits: { ...DEFAULT_HTTP_LIMITS, bodyWindowMs: 100, bodyTimeoutMs: 250, minBodyBytesPerWindow: 10 },
      schedule: (_delayMs: number, callback: () => void) => {
        const timer = { callback, isCancelled: false };
        timers.push(timer);
        return { cancel: () => void (timer.isCancelled = true) };
      },
    },
  };
}

async function read(
  contentLength: number | null,
  pieces: readonly Uint8Array[],
  maxBytes: number,
): Promise<{ reading: BodyReading; rest: string }> {
  const intake = new BodyIntake(makeHost().host, contentLength);
  intake.begin(maxBytes);
  const outcome = intake.isReading && !intake.isComplete ? intake.outcome() : null;
  let rest = "";
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    rest += bytes.toString("latin1", intake.feed(bytes, 0));
  }
  if (outcome === null) return { reading: await intake.outcome(), rest };
  if (intake.isReading) intake.fail("incomplete");
  return { reading: await outcome, rest };
}

const textOf = (reading: BodyReading): string =>
  reading.ok ? Buffer.from(reading.body.bytes).toString("latin1") : reading.reason;

describe("a body", () => {
  it.each([
    { name: "with a length", contentLength: 5, input: "helloNEXT", maxBytes: 5, text: "hello", rest: "NEXT" },
    {
      name: "in chunks",
      contentLength: null,
      input: "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\nNEXT",
      maxBytes: 5,
      text: "hello",
      rest: "NEXT",
    },
    {
      name: "with a trailer",
      contentLength: null,
      input: "2\r\nhe\r\n0\r\nA: b\r\n\r\nNEXT",
      maxBytes: 5,
      text: "he",
      rest: "NEXT",
    },
    { name: "one byte over the bound", contentLength: 6, input: "", maxBytes: 5, text: "too-large", rest: "" },
    {
      name: "chunked one byte over the bound",
      contentLength: null,
      input: "6\r\nhello!\r\n0\r\n\r\n",
      maxBytes: 5,
      text: "too-large",
      rest: null,
    },
    { name: "that is cut off", contentLength: 6, input: "hello", maxBytes: 6, text: "incomplete", rest: "" },
    { name: "with broken framing", contentLength: null, input: "x\r\n", maxBytes: 5, text: "malformed", rest: null },
    {
      name: "with a framing field in its trailer",
      contentLength: null,
      input: "0\r\nContent-Length: 1\r\n\r\n",
      maxBytes: 5,
      text: "malformed",
      rest: null,
    },
  ])("$name reads the same for every cut", async ({ contentLength, input, maxBytes, text, rest }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(input.length), { maxLength: 5 }), async (cuts) => {
        const bytes = Buffer.from(input, "latin1");
        const edges = [0, ...cuts.sort((left, right) => left - right), bytes.length];
        const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        const result = await read(contentLength, pieces, maxBytes);
        // What follows a body that failed is of no use to anybody.
        expect([textOf(result.reading), rest === null ? null : result.rest]).toEqual([text, rest]);
      }),
      { numRuns: 50 },
    );
  });

  it("that has arrived needs neither promise nor timer", () => {
    const { host, timers } = makeHost();
    const intake = new BodyIntake(host, 2);
    intake.begin(10);
    intake.feed(Buffer.from("hi"), 0);
    const outcome = intake.outcome();
    expect(outcome).not.toBeInstanceOf(Promise);
    expect(timers).toEqual([]);
  });

  it("keeps its place until it is read", () => {
    const intake = new BodyIntake(makeHost().host, 2);
    expect(intake.feed(Buffer.from("hi"), 0)).toBe(0);
    expect(intake.isReading).toBe(false);
  });
});

describe("the time of a body", () => {
  it("ends with a window that brings too little", async () => {
    const { host, timers } = makeHost();
    const intake = new BodyIntake(host, 100);
    intake.begin(1000);
    const outcome = intake.outcome();
    intake.feed(Buffer.alloc(10), 0);
    timers[0]?.callback();
    expect(intake.isReading).toBe(true);
    intake.feed(Buffer.alloc(9), 0);
    timers[1]?.callback();
    expect(await outcome).toEqual({ ok: false, reason: "timeout" });
  });

  it("ends as a whole, however much each window brings", async () => {
    const { host, timers } = makeHost();
    const intake = new BodyIntake(host, 10_000);
    intake.begin(10_000);
    const outcome = intake.outcome();
    for (let window = 0; window < 3; window += 1) {
      intake.feed(Buffer.alloc(100), 0);
      timers[window]?.callback();
    }
    expect(await outcome).toEqual({ ok: false, reason: "timeout" });
    expect(timers).toHaveLength(3);
  });

  it("is not watched behind its end", async () => {
    const { host, timers } = makeHost();
    const intake = new BodyIntake(host, 2);
    intake.begin(10);
    const outcome = intake.outcome();
    intake.feed(Buffer.from("hi"), 0);
    expect(textOf(await outcome)).toBe("hi");
    expect(timers.map((timer) => timer.isCancelled)).toEqual([true]);
  });
});

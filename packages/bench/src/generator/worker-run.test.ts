// A worker's share of a run against scripted targets on loopback sockets: what went wrong is counted as what it was.
import { createServer, type Server, type Socket } from "node:net";

import { afterEach, beforeAll, describe, expect, it } from "vitest";

import { monotonicUs } from "../clock/monotonic.ts";
import type { Alarm } from "../clock/ticker.ts";
import { decodeHistogram, loadHistograms } from "../histogram/histogram.ts";
import type { LoadSpec, PreparedRequest, Tally } from "./load-spec.ts";
import { runWorker } from "./worker-run.ts";

beforeAll(loadHistograms);

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

const GOOD = 'HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"fine":true}';
const REQUEST = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
const PREPARED: PreparedRequest = {
  weight: 1,
  bytes: Buffer.from(REQUEST).toString("base64"),
  expect: "answer",
  okStatuses: [200],
};

/** A target that answers every request by `answer`; a request is exactly `REQUEST`. */
async function listen(answer: (socket: Socket, index: number) => void): Promise<number> {
  let index = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      for (let left = bytes.length; left > 0; left -= REQUEST.length) {
        answer(socket, index);
        index += 1;
      }
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function timerAlarm(onWake: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined;
  return {
    wakeAt: (deadlineUs) => {
      clearTimeout(timer);
      timer = setTimeout(onWake, Math.max(0, Math.ceil((deadlineUs - monotonicUs()) / 1000)));
    },
    close: () => clearTimeout(timer),
  };
}

function run(port: number, change: Partial<LoadSpec> = {}): Promise<Tally> {
  const spec: LoadSpec = {
    host: "127.0.0.1",
    port,
    requests: [PREPARED],
    pace: { kind: "open", rps: 100 },
    warmUpSeconds: 0,
    measureSeconds: 0.5,
    timeoutMs: 10_000,
    maxConnections: 64,
    seed: 1,
    ...change,
  };
  const startUs = monotonicUs() + 5000;
  const windowStartUs = startUs + spec.warmUpSeconds * 1_000_000;
  const times = { startUs, windowStartUs, windowEndUs: windowStartUs + spec.measureSeconds * 1_000_000 };
  return runWorker({ spec, times, worker: 0, workers: 1 }, timerAlarm);
}

function failures({ connectErrors, timeouts, brokenBodies, statuses }: Tally): number {
  return connectErrors + timeouts + brokenBodies + Object.values(statuses).reduce((sum, count) => sum + count, 0);
}

describe("open-loop run", () => {
  it("ends every offered request exactly once", async () => {
    const tally = await run(await listen((socket) => socket.write(GOOD)));
    expect(tally).toMatchObject({ offered: 50, succeeded: 50 });
    expect(failures(tally)).toBe(0);
  });

  it("shows a stall of the target in the latencies of all requests that met it", async () => {
    const stallMs = 1000;
    let releaseAtMs = 0;
    const port = await listen((socket, index) => {
      if (index === 5) releaseAtMs = performance.now() + stallMs;
      const waitMs = Math.max(0, releaseAtMs - performance.now());
      setTimeout(() => socket.write(GOOD), waitMs);
    });
    const tally = await run(port, { measureSeconds: 1 });
    const histogram = decodeHistogram(tally.latency);
    expect(tally.succeeded).toBe(100);
    // 95 requests met the stall; half of them waited half of it or longer.
    expect(histogram.valueAt(99)).toBeGreaterThan(900_000);
    expect(histogram.valueAt(50)).toBeGreaterThan(400_000);
    histogram.destroy();
  });

  it.each([
    {
      name: "a wrong status",
      answer: (socket: Socket) => void socket.write("HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\n{}"),
      expected: { statuses: { 503: 10 } },
    },
    {
      name: "a truncated body",
      answer: (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"fine'),
      expected: { brokenBodies: 10 },
    },
    {
      name: "a body that is no JSON object",
      answer: (socket: Socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
      expected: { brokenBodies: 10 },
    },
    {
      name: "a connection closed without an answer",
      answer: (socket: Socket) => void socket.destroy(),
      expected: { connectErrors: 10 },
    },
  ])("counts every fifth answer with $name", async ({ answer, expected }) => {
    const port = await listen((socket, index) => (index % 5 === 4 ? answer(socket) : void socket.write(GOOD)));
    const tally = await run(port);
    expect(tally).toMatchObject({ offered: 50, succeeded: 40, ...expected });
    expect(failures(tally)).toBe(10);
  });

  it("counts silence as timeouts, in flight and in the queue", async () => {
    const port = await listen(() => undefined);
    const tally = await run(port, { timeoutMs: 200, maxConnections: 3, measureSeconds: 0.2 });
    expect(tally).toMatchObject({ offered: 20, succeeded: 0, timeouts: 20, connectionsPeak: 3 });
    expect(tally.queuedSends).toBeGreaterThanOrEqual(15);
  });

  it("counts a target that is not there as connect errors", async () => {
    const port = await listen(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const tally = await run(port, { measureSeconds: 0.1 });
    expect(tally).toMatchObject({ offered: 10, succeeded: 0, connectErrors: 10 });
  });

  it("judges a stream by its terminator and times its events", async () => {
    const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    const event = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const port = await listen((socket, index) => {
      socket.write(head + chunk(event) + chunk(event) + (index === 3 ? "" : chunk("data: [DONE]\n\n")) + "0\r\n\r\n");
    });
    const tally = await run(port, { requests: [{ ...PREPARED, expect: "stream" }], measureSeconds: 0.1 });
    expect(tally).toMatchObject({ offered: 10, succeeded: 9, brokenBodies: 1 });
    const [ttft, gap] = [decodeHistogram(tally.ttft), decodeHistogram(tally.gap)];
    expect([ttft.count, gap.count]).toEqual([10, 10]);
    ttft.destroy();
    gap.destroy();
  });
});

describe("closed-loop run", () => {
  it("stops at its request limit", async () => {
    const port = await listen((socket) => socket.write(GOOD));
    const tally = await run(port, { pace: { kind: "closed", connections: 4, maxRequests: 37 }, measureSeconds: 20 });
    expect(tally).toMatchObject({ offered: 37, succeeded: 37 });
    expect(tally.connectionsPeak).toBeLessThanOrEqual(4);
  });
});

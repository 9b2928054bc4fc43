// The mock: its pre-rendered answers agree with themselves, its readers do not care how bytes are cut, and faults happen on demand.
import { createConnection, type Server } from "node:net";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { TrafficDialect } from "../contract/cell.ts";
import { TestClock } from "../generator/test-clock.ts";
import { AnswerReader } from "../generator/answer-reader.ts";
import { Agenda } from "./agenda.ts";
import { ANSWERS, STREAM_CONTENT_EVENTS } from "./answers.ts";
import { FaultPlan, type FaultKind } from "./faults.ts";
import { LATENCY_PROFILES, scriptedMs } from "./latency-profiles.ts";
import { RequestReader, type ReadRequest } from "./request-reader.ts";
import { createMock, type LocalMock } from "./start-mock.ts";

/** Data of the events of a streamed answer. */
function eventsOf(dialect: TrafficDialect): Record<string, unknown>[] {
  const text = Buffer.concat(ANSWERS[dialect].stream?.parts ?? []).toString();
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? "") as Record<string, unknown>);
}

interface ChatEvent {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

describe("answers", () => {
  const plainText = (dialect: TrafficDialect): string => ANSWERS[dialect].plain.parts[0]?.toString() ?? "";

  it.each([
    { dialect: "openai-chat" as const, text: (event: object) => (event as ChatEvent).choices[0]?.delta.content ?? "" },
    {
      dialect: "anthropic" as const,
      text: (event: object) => (event as { delta?: { text?: string } }).delta?.text ?? "",
    },
    {
      dialect: "openai-responses" as const,
      text: (event: object) => {
        const { type, delta } = event as { type: string; delta?: string };
        return type === "response.output_text.delta" ? (delta ?? "") : "";
      },
    },
  ])("$dialect: the assembled stream is the plain answer's text, one part per content event", ({ dialect, text }) => {
    const assembled = eventsOf(dialect).map(text).join("");
    expect(plainText(dialect)).toContain(JSON.stringify(assembled));
    expect(assembled.split(" ")).toHaveLength(STREAM_CONTENT_EVENTS);
    expect(ANSWERS[dialect].stream?.parts).toHaveLength(STREAM_CONTENT_EVENTS);
  });

  it.each(Object.keys(ANSWERS) as TrafficDialect[])(
    "%s: reports usage, so that no gateway has to count tokens",
    (dialect) => {
      expect(plainText(dialect)).toMatch(/"usage":\{"(prompt|input)_tokens":24/);
    },
  );

  it("prescribe the script's length", () => {
    expect(scriptedMs(LATENCY_PROFILES.L0, 20)).toBe(0);
    expect(scriptedMs(LATENCY_PROFILES.L1500, 1)).toBe(1500);
    expect(scriptedMs(LATENCY_PROFILES.LS, STREAM_CONTENT_EVENTS)).toBe(580);
  });
});

describe("request reader", () => {
  it.each([
    { name: "with a length", wire: "POST /v1/messages HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", body: "hello" },
    {
      name: "in chunks",
      wire: "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
      body: "hello",
    },
    { name: "without a body", wire: "GET /v1/messages HTTP/1.1\r\nhost: x\r\n\r\n", body: "" },
  ])("reads a request $name, cut anywhere and repeated", ({ wire, body }) => {
    const twice = wire + wire;
    for (let at = 0; at <= twice.length; at += 1) {
      const requests: ReadRequest[] = [];
      const reader = new RequestReader({
        onRequest: (request) => void requests.push(request),
        onContinue: () => undefined,
        onBroken: () => expect.unreachable(),
      });
      reader.feed(Buffer.from(twice.slice(0, at)));
      reader.feed(Buffer.from(twice.slice(at)));
      expect(requests.map((request) => [request.target, Buffer.concat(request.body).toString()])).toEqual([
        ["/v1/messages", body],
        ["/v1/messages", body],
      ]);
    }
  });
});

describe("fault plan", () => {
  it("hits every n-th call as often as asked, then is healthy", () => {
    const plan = new FaultPlan();
    plan.arm([{ fault: { kind: "close" }, every: 3, count: 2 }]);
    expect(Array.from({ length: 9 }, () => plan.next()?.kind)).toEqual([
      undefined,
      undefined,
      "close",
      undefined,
      undefined,
      "close",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("agenda", () => {
  it("runs actions in order of time, never early, also those added later", () => {
    const clock = new TestClock();
    const agenda = new Agenda(clock.now, clock.createAlarm);
    const ran: [number, number][] = [];
    const times = [500, 100, 300, 300, 900, 200];
    for (const atUs of times) agenda.add(atUs, () => ran.push([atUs, clock.nowUs]));
    agenda.add(150, () => agenda.add(250, () => ran.push([250, clock.nowUs])));
    clock.run();
    expect(ran.map(([planned]) => planned)).toEqual([100, 200, 250, 300, 300, 500, 900]);
    for (const [planned, actual] of ran) expect(actual).toBeGreaterThanOrEqual(planned);
  });
});

describe("server", () => {
  let mock: LocalMock;
  let server: Server;
  let port: number;

  beforeEach(async () => {
    const clock = new TestClock();
    mock = createMock((onWake) => {
      const alarm = clock.createAlarm(onWake);
      return {
        close: () => alarm.close(),
        wakeAt: (deadlineUs) => void (alarm.wakeAt(deadlineUs), setImmediate(() => clock.run())),
      };
    }, clock.now);
    server = mock.server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
  });

  afterEach(async () => {
    mock.close();
    await new Promise((resolve) => server.close(resolve));
  });

  interface Answer {
    status: number;
    body: string;
    end: "complete" | "broken" | "closed";
  }

  function call(path: string, body = "{}", method = "POST"): Promise<Answer> {
    return new Promise((resolve) => {
      const answer: Answer = { status: 0, body: "", end: "closed" };
      const socket = createConnection({ host: "127.0.0.1", port });
      const reader = new AnswerReader({
        onStatus: (status) => void (answer.status = status),
        onBody: (bytes) => void (answer.body += bytes.toString()),
        onEnd: () => {
          answer.end = "complete";
          socket.destroy();
        },
        onBroken: () => void (answer.end = "broken"),
      });
      socket.on("data", (bytes) => reader.feed(bytes as Buffer));
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (answer.end !== "complete") reader.close();
        resolve(answer);
      });
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  }

  it.each([
    { path: "/v1/chat/completions", holds: "chat.completion" },
    { path: "/v1/responses", holds: '"object":"response"' },
    { path: "/v1/embeddings", holds: '"embedding":[' },
    { path: "/v1/messages", holds: '"type":"message"' },
    { path: "/any/prefix/v1/chat/completions?x=1", holds: "chat.completion" },
  ])("answers $path", async ({ path, holds }) => {
    const { status, body, end } = await call(path);
    expect({ status, end }).toEqual({ status: 200, end: "complete" });
    expect(body).toContain(holds);
  });

  it.each([
    { path: "/v1/chat/completions", terminator: "data: [DONE]\n\n" },
    { path: "/v1/messages", terminator: '{"type":"message_stop"}\n\n' },
    { path: "/v1/responses", terminator: "response.completed" },
  ])("streams $path when asked, under each latency script", async ({ path, terminator }) => {
    for (const profile of ["L0", "L1500", "LS"] as const) {
      await mock.control.setProfile(profile);
      const { body, end } = await call(path, '{"model":"m", "stream" : true}');
      expect(end).toBe("complete");
      expect(body).toContain(terminator);
    }
  });

  it("lists models and refuses unknown paths", async () => {
    expect((await call("/v1/models", "", "GET")).body).toContain("gpt-4o-mini");
    expect((await call("/v1/other")).status).toBe(404);
    expect((await mock.control.counts()).unknownTargets).toBe(1);
  });

  const faults: { readonly fault: FaultKind; readonly expected: Partial<Answer>; readonly stream?: boolean }[] = [
    { fault: { kind: "status", status: 429, retryAfterSeconds: 2 }, expected: { status: 429, end: "complete" } },
    { fault: { kind: "close" }, expected: { status: 0, end: "closed" } },
    { fault: { kind: "delay", delayMs: 700 }, expected: { status: 200, end: "complete" } },
    { fault: { kind: "truncate" }, expected: { status: 200, end: "broken" } },
    { fault: { kind: "truncate", parts: 3 }, expected: { status: 200, end: "broken" }, stream: true },
    { fault: { kind: "reset", parts: 2 }, expected: { status: 200, end: "broken" }, stream: true },
    { fault: { kind: "no-terminator" }, expected: { status: 200, end: "complete" }, stream: true },
    { fault: { kind: "error-event" }, expected: { status: 200, end: "complete" }, stream: true },
    { fault: { kind: "garbage" }, expected: { status: 200, end: "complete", body: "<html>not json</html>" } },
  ];

  it.each(faults)("fails on demand: $fault", async ({ fault, expected, stream }) => {
    await mock.control.arm([{ fault, count: 1 }]);
    const body = stream === true ? '{"stream":true}' : "{}";
    const answer = await call("/v1/chat/completions", body);
    expect(answer).toMatchObject(expected);
    expect(answer.body.includes("[DONE]")).toBe(false);
    expect(await call("/v1/chat/completions", body)).toMatchObject({ status: 200, end: "complete" });
  });

  it("counts calls, keeps details only when asked, and sees a caller that gives up", async () => {
    await call("/v1/messages");
    expect(await mock.control.details()).toEqual([]);
    await mock.control.resetCalls(true);
    await call("/v1/messages", '{"model":"m"}');
    const [logged] = await mock.control.details();
    expect(logged).toMatchObject({ method: "POST", target: "/v1/messages", body: '{"model":"m"}' });
    expect(logged?.headers).toContainEqual(["host", "x"]);
    await mock.control.arm([{ fault: { kind: "hang" }, count: 1 }]);
    const socket = createConnection({ host: "127.0.0.1", port });
    socket.write("POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n");
    while ((await mock.control.counts()).calls < 2) await new Promise(setImmediate);
    socket.destroy();
    while ((await mock.control.counts()).disconnects < 1) await new Promise(setImmediate);
    expect(await mock.control.counts()).toEqual({ calls: 2, unknownTargets: 0, disconnects: 1, faults: 1 });
  });
});

import { createServer as createHttpServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Alarm } from "../clock/ticker.ts";
import { monotonicUs } from "../clock/monotonic.ts";
import { createMock } from "../mock/start-mock.ts";
import { createExternalTarget } from "../external/external-target.ts";
import { createRelay } from "../relay/relay-server.ts";
import type { Destination } from "./exchange.ts";
import { printTable } from "./command.ts";
import { CHECKS, runConform, type ConformResult } from "./run-conform.ts";

/** An alarm of plain timers: milliseconds are precise enough for checks that only ask what came first. */
function createTimerAlarm(onWake: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined;
  return {
    wakeAt: (deadlineUs) => {
      clearTimeout(timer);
      timer = setTimeout(onWake, Math.max(0, (deadlineUs - monotonicUs()) / 1000));
    },
    close: () => clearTimeout(timer),
  };
}

const mock = createMock(createTimerAlarm);
const servers: (Server | NetServer)[] = [mock.server];

async function listen(server: Server | NetServer): Promise<Destination> {
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

/** A gateway that hides every failure: it buffers answers, and whatever the upstream did it ends them as whole ones. */
function createFlatterer(upstream: Destination): Server {
  return createHttpServer((request, response) => {
    const body: Buffer[] = [];
    request.on("data", (chunk: Buffer) => body.push(chunk));
    request.on("end", () => {
      const answer: Buffer[] = [];
      const isStreamed = Buffer.concat(body).includes('"stream":true');
      const finish = (): void => {
        if (response.headersSent) return;
        response.writeHead(200, { "content-type": isStreamed ? "text/event-stream" : "application/json" });
        const text = Buffer.concat(answer).toString();
        response.end(isStreamed && !text.includes("[DONE]") ? `${text}data: [DONE]\n\n` : text);
      };
      const call = httpRequest(
        { ...upstream, method: "POST", path: request.url, headers: request.headers, agent: false },
        (reply) => {
          reply.on("data", (chunk: Buffer) => answer.push(chunk));
          reply.on("error", finish);
          reply.on("end", finish);
        },
      );
      call.on("error", finish);
      call.end(Buffer.concat(body));
    });
  });
}

async function conform(
  gateway: Destination,
  upstreamAddress: Destination,
): Promise<ReadonlyMap<string, ConformResult["outcome"]>> {
  const { traffic } = createExternalTarget({ "external.key": "sk-client" });
  const results = await runConform({ gateway, traffic, upstream: mock.control, upstreamAddress }, () => undefined);
  return new Map(results.map(({ check, dialect, outcome }) => [`${check} ${dialect}`, outcome]));
}

let upstream: Destination;
beforeAll(async () => {
  upstream = await listen(mock.server);
});
afterAll(() => {
  mock.close();
  for (const server of servers) server.close();
});

describe("runConform", () => {
  it("finds that a blind relay passes everything on and checks nothing", { timeout: 60_000 }, async () => {
    const relay = createRelay(upstream.host, upstream.port);
    servers.push(relay);
    const outcomes = await conform(await listen(relay), upstream);
    expect(outcomes.size).toBe(CHECKS.flatMap(({ dialects }) => dialects).length);
    const kept = [
      "answer openai-chat",
      "stream anthropic",
      "stream-incremental openai-chat",
      "large-body anthropic",
      "stream-error anthropic",
      "client-leaves openai-chat",
    ];
    const broken = [
      "no-key openai-chat",
      "unknown-key anthropic",
      "key-stays openai-chat",
      "unknown-model anthropic",
      "translate anthropic",
      "upstream-garbage openai-chat",
      "upstream-closes anthropic",
    ];
    const withVerdict = (names: readonly string[], verdict: string): string[] =>
      names.filter((name) => outcomes.get(name)?.verdict === verdict);
    expect(withVerdict(kept, "pass")).toEqual(kept);
    expect(withVerdict(broken, "fail")).toEqual(broken);
    // The relay cuts where the upstream cut: nothing broken looks whole.
    expect(outcomes.get("stream-truncated openai-chat")).toMatchObject({
      verdict: "pass",
      detail: "the connection is cut, no terminator",
    });
  });

  it("finds a gateway out that buffers streams and makes broken answers look whole", { timeout: 60_000 }, async () => {
    const flatterer = createFlatterer(upstream);
    servers.push(flatterer);
    const outcomes = await conform(await listen(flatterer), upstream);
    expect(outcomes.get("answer openai-chat")).toMatchObject({ verdict: "pass" });
    expect(outcomes.get("stream-incremental openai-chat")).toMatchObject({
      verdict: "fail",
      detail: expect.stringContaining("held back") as unknown,
    });
    expect(outcomes.get("stream-truncated openai-chat")).toMatchObject({
      verdict: "fail",
      detail: "the broken stream ends like a whole one",
    });
    expect(outcomes.get("upstream-truncates openai-chat")).toMatchObject({
      verdict: "fail",
      detail: expect.stringContaining("whole one with status 200") as unknown,
    });
    expect(outcomes.get("upstream-500 openai-chat")).toMatchObject({
      verdict: "fail",
      detail: "status 200 instead of 5xx",
    });
  });
});

describe("printTable", () => {
  it("prints a line per result and the count of each verdict", () => {
    const lines: string[] = [];
    const result = (verdict: "pass" | "fail" | "n/a"): ConformResult => ({
      check: "c",
      title: "t",
      dialect: "anthropic",
      outcome: { verdict, detail: "d" },
    });
    printTable([result("pass"), result("fail"), result("n/a")], { print: (line) => lines.push(line) });
    expect(lines).toEqual([
      "pass  anthropic  t  d",
      "FAIL  anthropic  t  d",
      "n/a   anthropic  t  d",
      "1 passed, 1 failed, 1 not applicable",
    ]);
  });
});

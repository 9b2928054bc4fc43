// Hosts: placement, supervision with the last words, readiness, and the agent's token.
import { createServer, type Server } from "node:http";

import { afterEach, describe, expect, it } from "vitest";

import { AgentHost } from "./agent-host.ts";
import { createAgentServer } from "./agent-server.ts";
import type { Host } from "./host.ts";
import { LocalHost } from "./local-host.ts";
import { findOnPath, place } from "./pinning.ts";
import type { LaunchPlan, Target } from "../contract/target.ts";
import { CONTROL_TARGET } from "../relay/control-target.ts";

const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("placement", () => {
  const line = { command: "node", args: ["a.js"] };

  it.each([
    {
      name: "nothing asked",
      placement: { cpus: [], realtimePriority: undefined },
      path: process.env["PATH"],
      expected: /^node a\.js$/,
    },
    {
      name: "tools missing",
      placement: { cpus: [1], realtimePriority: 1 },
      path: "/nowhere",
      expected: /^node a\.js$/,
    },
  ])("leaves a command alone: $name", ({ placement, path, expected }) => {
    const { command, args } = place(line, placement, path);
    expect([command, ...args].join(" ")).toMatch(expected);
  });

  it.runIf(findOnPath("taskset", process.env["PATH"]) !== undefined)("pins to the given cores", () => {
    const { command, args } = place(line, { cpus: [2, 5], realtimePriority: undefined }, process.env["PATH"]);
    expect([command, ...args].join(" ")).toMatch(/taskset -c 2,5 node a\.js$/);
  });
});

/** A target whose process runs a script of this test. */
function scripted(script: string, change: Partial<Extract<LaunchPlan, { kind: "process" }>> = {}): Target {
  return {
    ...CONTROL_TARGET,
    id: "scripted",
    plan: ({ listenPort }) => ({
      kind: "process",
      command: process.execPath,
      args: ["-e", script],
      environment: { PORT: String(listenPort) },
      files: [],
      ready: { path: "/ready", timeoutMs: 10_000 },
      settleMs: 0,
      workers: 1,
      ...change,
    }),
  };
}

function hostOf(target: Target): LocalHost {
  return new LocalHost({
    address: "127.0.0.1",
    environment: { PATH: process.env["PATH"], SECRET: "s" },
    findTarget: () => target,
  });
}

const LAUNCH = {
  target: "scripted",
  options: {},
  executable: "",
  mockHost: "127.0.0.1",
  mockPort: 1,
  cpus: [],
  cores: 1,
};
const SERVE =
  'require("http").createServer((q, s) => s.end(JSON.stringify(process.env))).listen(process.env.PORT, "127.0.0.1")';

describe("local host", () => {
  it("starts a target with its own environment and files only, samples it, and stops it", async () => {
    const host = hostOf(scripted(SERVE, { files: [{ name: "conf/a.txt", content: "x" }] }));
    const started = await host.startTarget(LAUNCH);
    const environment = (await (await fetch(`http://127.0.0.1:${started.port}/`)).json()) as Record<string, string>;
    expect(environment["SECRET"]).toBeUndefined();
    expect(environment["PATH"]).toBe(process.env["PATH"]);
    expect(await host.sample(started.handle)).toMatchObject({ source: "process-tree", processes: 1 });
    expect((await host.sample(started.handle))?.rssBytes).toBeGreaterThan(1_000_000);
    expect(await host.ended(started.handle)).toBeUndefined();
    await host.stop(started.handle);
    expect(await host.sample(started.handle)).toBeUndefined();
    await expect(fetch(`http://127.0.0.1:${started.port}/`)).rejects.toThrow("fetch failed");
  });

  it("says how a target that ends before it is ready ended, with its last words", async () => {
    const host = hostOf(scripted('console.error("bad config: line 3"); process.exit(7)'));
    await expect(host.startTarget(LAUNCH)).rejects.toThrow(
      "it did not become ready: ended with code 7: bad config: line 3",
    );
  });

  it("gives up on a target that is never ready", async () => {
    const host = hostOf(scripted("setInterval(() => {}, 1000)", { ready: { path: "/", timeoutMs: 200 } }));
    await expect(host.startTarget(LAUNCH)).rejects.toThrow("last answered nothing");
  });

  it("notices a target that dies later", async () => {
    const script =
      'require("http").createServer((q, s) => s.end("", () => q.url === "/die" && process.exit(9))).listen(process.env.PORT, "127.0.0.1")';
    const host = hostOf(scripted(script));
    const started = await host.startTarget(LAUNCH);
    await fetch(`http://127.0.0.1:${started.port}/die`).catch(() => undefined);
    let end = await host.ended(started.handle);
    while (end === undefined) {
      await new Promise(setImmediate);
      end = await host.ended(started.handle);
    }
    expect(end).toBe("ended with code 9");
    await host.stop(started.handle);
  });

  it("attaches to a target that somebody else runs", async () => {
    const port = await listen(createServer((_, response) => response.end("{}")));
    const plan: LaunchPlan = {
      kind: "attached",
      origin: `http://127.0.0.1:${port}`,
      pid: process.pid,
      ready: { path: "/", timeoutMs: 1000 },
    };
    const host = hostOf({ ...CONTROL_TARGET, plan: () => plan });
    const started = await host.startTarget(LAUNCH);
    expect(started).toMatchObject({ host: "127.0.0.1", port });
    expect((await host.sample(started.handle))?.processes).toBeGreaterThan(0);
    await host.stop(started.handle);
  });
});

describe("agent", () => {
  const TOKEN = "a-token-of-some-length";
  const fake = {
    cpus: async () => [0, 1],
    ended: async (handle: string) => (handle === "gone" ? "ended with code 1" : undefined),
    stop: async () => {
      throw new Error("nothing to stop");
    },
  } as unknown as Host;

  it("passes calls on and brings values and errors back", async () => {
    const port = await listen(createAgentServer(fake, TOKEN));
    const agent = new AgentHost({ host: "127.0.0.1", port, token: TOKEN });
    expect(await agent.cpus()).toEqual([0, 1]);
    expect(await agent.ended("gone")).toBe("ended with code 1");
    expect(await agent.ended("here")).toBeUndefined();
    await expect(agent.stop("x")).rejects.toThrow(`agent 127.0.0.1:${port}: nothing to stop`);
  });

  it.each([
    { name: "another token", authorization: "Bearer wrong", path: "/cpus", status: 401 },
    { name: "no token", authorization: undefined, path: "/cpus", status: 401 },
    { name: "a method that is not offered", authorization: `Bearer ${TOKEN}`, path: "/constructor", status: 400 },
  ])("refuses $name", async ({ authorization, path, status }) => {
    const port = await listen(createAgentServer(fake, TOKEN));
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: "[]" });
    expect(response.status).toBe(status);
  });
});

// Two operating-system processes on one server, and a server that dies and comes back.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";

import { useValkey } from "../../../../tests/services/valkey.ts";
import {
  createLedgerAdmission,
  createLimitDirectory,
  LeaseHolder,
  type LedgerAdmission,
  type LimitConfig,
} from "../../src/index.ts";
import { createValkeyCounters } from "../../src/valkey/index.ts";
import { TestChild } from "./child-process.ts";
import type { CallerOrder, CallerReport } from "./children/caller.ts";

const valkey = await useValkey();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const isReady = (message: unknown): message is "ready" => message === "ready";
const isReport = (message: unknown): message is CallerReport => typeof message === "object";

let prefixes = 0;
const newPrefix = (): string => `test ${process.pid} ${(prefixes += 1)}`;

async function connect(url: string): Promise<Redis> {
  const client = new Redis(url, { maxRetriesPerRequest: 0, enableOfflineQueue: false, retryStrategy: () => 20 });
  // Losses are what the counters tell of.
  client.on("error", () => undefined);
  ends.push(() => client.disconnect());
  await once(client, "ready");
  return client;
}

describe.skipIf(valkey === null)("two processes on one server", () => {
  it.each<{ readonly name: string; readonly limit: LimitConfig; readonly fitting: number; readonly code: string }>([
    { name: "100 requests", limit: { requests: 100, per: "week" }, fitting: 100, code: "rate_limited" },
    { name: "100 requests in a sliding hour", limit: { requests: 100, per: "1h" }, fitting: 100, code: "rate_limited" },
    // The worst that a call can cost: 100 tokens in and 50 out at one USD a million, and ten nano-USD for rounding.
    { name: "a budget of 40 calls", limit: { usd: 0.006_1, per: "1h" }, fitting: 40, code: "budget_exceeded" },
    { name: "7 calls at once", limit: { parallel: 7 }, fitting: 7, code: "rate_limited" },
  ])("admit exactly what fits of 400 simultaneous requests under $name", async ({ limit, fitting, code }) => {
    const prefix = newPrefix();
    const order: CallerOrder = {
      url: valkey?.url ?? "",
      prefix,
      limits: { owners: { team: { limits: [limit] } } },
      calls: 200,
    };
    const children = [0, 1].map(() => new TestChild("caller.ts", JSON.stringify(order)));
    ends.push(...children.map((child) => async () => child.kill()));
    for (const child of children) await child.next(isReady);
    for (const child of children) child.process.send("go");
    const reports = await Promise.all(children.map(async (child) => child.next(isReport)));
    expect(reports.reduce((sum, { admitted }) => sum + admitted, 0)).toBe(fitting);
    expect(new Set(reports.flatMap(({ refusals }) => refusals))).toEqual(new Set([code]));
    const held = reports.reduce((sum, { heldNanoUsd }) => sum + heldNanoUsd, 0);
    expect(held).toBeLessThanOrEqual((limit.usd ?? 1) * 1e9);
    const client = await connect(valkey?.url ?? "");
    const keys = await client.keys(`{${prefix}}:*`);
    expect(keys).toHaveLength(1);
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
  });
});

interface Node {
  readonly admission: LedgerAdmission;
  readonly leases: LeaseHolder;
  readonly log: string[];
}

async function startNode(url: string, onDown: "open" | "closed"): Promise<Node> {
  const log: string[] = [];
  const clock = {
    nowMs: () => Date.now(),
    schedule: (delayMs: number, run: () => void) => {
      const timer = setTimeout(run, delayMs);
      return { cancel: () => clearTimeout(timer) };
    },
  };
  const leases = new LeaseHolder({
    source: createValkeyCounters({ client: await connect(url), holder: "node", prefix: newPrefix() }),
    clock,
    onDown,
    waitMs: 2_000,
    flushMs: 20,
    logger: { info: (_, text) => log.push(text), warn: (_, text) => log.push(text) },
  });
  ends.push(() => leases.close());
  const limits = createLimitDirectory({ keys: { app: [{ requests: 10, per: "1h" }] } });
  const admission = createLedgerAdmission({ clock, leases, limits, sink: { append: () => undefined } });
  return { admission, leases, log };
}

let requests = 0;

/** Holds a call and ends it; the code of its refusal, or null. */
async function call({ admission }: Node): Promise<string | null> {
  const principal = { id: "app", owner: null, tags: [], models: ["*"], debug: false };
  const opened = await admission.open(principal, { requestId: `${(requests += 1)}`, startedMs: Date.now() });
  if (!opened.ok) return "not opened";
  const refusal = await opened.ticket.hold({ model: "chat", estimateInputTokens: () => 1 });
  opened.ticket.close();
  return refusal?.error.code ?? null;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}

describe.skipIf(valkey?.startOwn === undefined || valkey.startOwn === null)("a server that dies and comes back", () => {
  it.each<{ readonly onDown: "open" | "closed"; readonly meanwhile: readonly (string | null)[] }>([
    { onDown: "closed", meanwhile: ["ledger_unavailable"] },
    { onDown: "open", meanwhile: [null] },
  ])("is told of once, and again when it is back; meanwhile nodes are $onDown", async ({ onDown, meanwhile }) => {
    const server = await valkey?.startOwn?.();
    if (server === undefined) throw new Error("no server");
    const node = await startNode(server.url, onDown);
    expect(await call(node)).toBeNull();
    // So small a limit leaves no reserve: every call has to ask.
    await server.kill();
    const outcomes = [await call(node), await call(node), await call(node)];
    expect([...new Set(outcomes)]).toEqual(meanwhile);
    expect(node.log).toHaveLength(1);
    await server.restart();
    await until(() => !node.leases.isDown);
    expect(await call(node)).toBeNull();
    expect(node.log).toEqual([expect.stringContaining("cannot be counted"), expect.stringContaining("again")]);
    for (const { spent, held } of node.admission.standings("key", "app")) {
      expect(spent).toBeGreaterThan(0);
      expect(held).toBe(0);
    }
  });

  it("learns the script anew", async () => {
    const server = await valkey?.startOwn?.();
    if (server === undefined) throw new Error("no server");
    const node = await startNode(server.url, "closed");
    expect(await call(node)).toBeNull();
    await (await connect(server.url)).script("FLUSH");
    expect(await call(node)).toBeNull();
  });
});

describe.skipIf(valkey === null)("a node that is lost", () => {
  it("has what it leased counted as spent, and its slots free, when it was not heard of for long", async () => {
    const prefix = newPrefix();
    const client = await connect(valkey?.url ?? "");
    const lost = createValkeyCounters({ client, holder: "lost", prefix, leaseMs: 300 });
    const other = createValkeyCounters({ client, holder: "other", prefix, leaseMs: 300 });
    const nothing = { epoch: 1, lease: 0, spent: 0, heard: 0, recent: 0, recentAtMs: 0, earlierAtMs: 0, spare: 0 };
    const limit = { scope: "key" as const, id: "app" };
    const reports = [
      {
        ...nothing,
        amount: 10,
        limit: {
          ...limit,
          name: "requests",
          dimension: "requests" as const,
          window: { kind: "calendar" as const, unit: "month" as const },
        },
      },
      { ...nothing, amount: 4, limit: { ...limit, name: "parallel", dimension: "parallel" as const, window: null } },
    ];
    const ask = [
      [0, 7],
      [1, 4],
    ] as const;
    expect((await lost.trade({ seq: 1, sentMs: 0, reports, asks: [ask] })).answers).toEqual([null]);
    const told = async (seq: number) => (await other.trade({ seq, sentMs: 0, reports, asks: [] })).grants;
    expect(await told(1)).toMatchObject([
      { spent: 0, leases: 7 },
      { spent: 0, leases: 4 },
    ]);
    let seq = 1;
    await until(async () => (await told((seq += 1)))[1]?.leases === 0);
    expect(await told((seq += 1))).toMatchObject([
      { spent: 7, leases: 0 },
      { spent: 0, leases: 0 },
    ]);
  });
});

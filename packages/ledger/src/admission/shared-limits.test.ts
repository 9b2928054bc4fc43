// Limits that several processes share through leases of one bank: the door, the source out of reach, and processes that die.
import type { AdmissionRefusal, Ticket } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { spendsOfEntry, spendsOfHold, type DatedSpend } from "../counters/index.ts";
import { FakeCluster, type FakeProcess, type ProcessOptions } from "./fixtures/fake-cluster.ts";
import { call, principal, TARGET, used } from "./fixtures/fake-ledger.ts";
import { createLimitDirectory } from "./limit-directory.ts";

interface Begun {
  readonly ticket: Ticket | null;
  readonly refusal: AdmissionRefusal | null;
}

/** Starts a call and leaves it running. */
async function begin(cluster: FakeCluster, process: FakeProcess, tokens: number): Promise<Begun> {
  const ticket = await cluster.open(process, principal());
  const refusal = ticket === null ? null : ((await ticket.hold(call(tokens))) ?? (await ticket.attempt("d", TARGET)));
  return { ticket, refusal };
}

/** Runs a call to its end while time passes; the code of its refusal, or null. */
async function run(cluster: FakeCluster, process: FakeProcess, tokens: number, waitMs = 50): Promise<string | null> {
  const begun = begin(cluster, process, tokens);
  await cluster.time.pass(waitMs);
  const { ticket, refusal } = await begun;
  const nowMs = cluster.time.nowMs();
  if (refusal === null)
    ticket?.settle({
      rule: "actual",
      deploymentId: "d",
      provider: "p",
      upstreamModel: "m",
      upstreamRequestId: null,
      usage: used(tokens),
      deliveredBytes: 0,
      startedMs: nowMs,
      endedMs: nowMs,
    });
  ticket?.close();
  return ticket === null ? "not opened" : (refusal?.error.code ?? null);
}

const REQUESTS = "key\napp\nrequests\nday";
const TEN = { keys: { app: [{ requests: 10, per: "day" }] } };
const TOKENS = "key\napp\ntokens\nday";

describe("a limit of several processes", () => {
  it("admits exactly 100 requests of 400 that come at once", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ requests: 100, per: "day" }] } }, () => 3);
    const processes = Array.from({ length: 4 }, () => cluster.start());
    const outcomes: (string | null)[] = [];
    for (let index = 0; index < 400; index += 1) {
      const process = processes[index % 4] as FakeProcess;
      void begin(cluster, process, 1).then(({ refusal }) => outcomes.push(refusal?.error.code ?? null));
      if (index % 16 === 0) await cluster.time.pass(2);
    }
    await cluster.time.pass(2_000);
    expect(outcomes).toHaveLength(400);
    expect(outcomes.filter((code) => code === null)).toHaveLength(100);
    expect(new Set(outcomes)).toEqual(new Set([null, "rate_limited"]));
  });

  it("answers at once while the reserve of the process lasts", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ requests: 1_000, per: "day" }, { parallel: 100 }] } });
    const process = cluster.start();
    expect(await run(cluster, process, 1)).toBeNull();
    const opened = process.admission.open(principal(), { requestId: "r", startedMs: 0 });
    if (opened instanceof Promise || !opened.ok) throw new Error("not at once");
    expect(opened.ticket.hold(call(1))).toBeNull();
    opened.ticket.close();
  });

  it("refuses at once, with the window's end, when it was told that all is spent", async () => {
    const cluster = new FakeCluster(TEN);
    const [one, other] = [cluster.start(), cluster.start()];
    for (let index = 0; index < 10; index += 1) expect(await run(cluster, one, 1)).toBeNull();
    await cluster.time.pass(500);
    expect(await run(cluster, other, 1)).toBe("rate_limited");
    const ticket = await cluster.open(other, principal());
    const refusal = ticket?.hold(call(1));
    if (refusal instanceof Promise) throw new Error("not at once");
    expect(refusal?.error).toMatchObject({
      retryAfterMs: Date.parse("2026-12-01") - cluster.time.nowMs() - 1,
      details: { scope: "key", limit: "requests", resetsAt: "2026-11-30T23:59:59.999Z" },
    });
  });

  it("lets calls in again when the window has turned", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ requests: 1, per: "minute" }] } });
    const [one, other] = [cluster.start(), cluster.start()];
    expect([await run(cluster, one, 1), await run(cluster, other, 1)]).toEqual([null, "rate_limited"]);
    await cluster.time.pass(60_000);
    expect([await run(cluster, other, 1), await run(cluster, one, 1)]).toEqual([null, "rate_limited"]);
  });

  it("counts what running calls hold against the next window, whoever runs them", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ tokens: 100, per: "minute" }] } });
    const [one, other] = [cluster.start(), cluster.start()];
    void begin(cluster, one, 80);
    await cluster.time.pass(60_000);
    expect([await run(cluster, other, 21), await run(cluster, other, 20)]).toEqual(["rate_limited", null]);
  });

  it("tells what all processes have spent in a caller's standings", async () => {
    const cluster = new FakeCluster(TEN);
    const [one, other] = [cluster.start(), cluster.start()];
    for (let index = 0; index < 3; index += 1) await run(cluster, one, 1);
    await cluster.time.pass(500);
    const begun = begin(cluster, other, 1);
    await cluster.time.pass(50);
    const { ticket } = await begun;
    expect(ticket?.limitStandings?.()).toMatchObject([{ dimension: "requests", limit: 10, remaining: 6 }]);
  });

  it("takes over a limit that is changed while calls run", async () => {
    const cluster = new FakeCluster(TEN);
    const process = cluster.start();
    for (let index = 0; index < 10; index += 1) await run(cluster, process, 1);
    expect(await run(cluster, process, 1)).toBe("rate_limited");
    process.admission.replace({ limits: createLimitDirectory({ keys: { app: [{ requests: 11, per: "day" }] } }) });
    expect([await run(cluster, process, 1), await run(cluster, process, 1)]).toEqual([null, "rate_limited"]);
    process.admission.replace({ limits: createLimitDirectory({}) });
    expect(await run(cluster, process, 1)).toBeNull();
    await cluster.time.pass(1_000);
    expect(cluster.bank.standing(REQUESTS)).toEqual({ spent: 11, leased: 0 });
  });

  it("counts what was spent before a window turned in the window that it was spent in, though it is told after", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ tokens: 100_000, per: "minute" }] } });
    const process = cluster.start();
    await cluster.time.pass(49_950);
    expect(await run(cluster, process, 100, 20)).toBeNull();
    await cluster.time.pass(40);
    expect(await run(cluster, process, 50, 1)).toBeNull();
    expect(cluster.bank.standing("key\napp\ntokens\nminute")?.spent).toBe(0);
    await cluster.time.pass(1_000);
    expect(cluster.bank.standing("key\napp\ntokens\nminute")?.spent).toBe(50);
  });

  it("keeps as much reserve as it uses, so that most calls need not ask", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ requests: 10_000, per: "day" }] } });
    const process = cluster.start();
    let asked = 0;
    for (let index = 0; index < 100; index += 1) {
      const ticket = await cluster.open(process, principal());
      const held = ticket?.hold(call(1));
      if (held instanceof Promise) asked += 1;
      await cluster.time.pass(10);
      ticket?.close();
    }
    expect(asked).toBeLessThan(10);
  });

  it("gives an idle reserve back by itself", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ requests: 1_000, per: "day" }] } });
    await run(cluster, cluster.start(), 1);
    expect(cluster.bank.standing(REQUESTS)?.leased).toBeGreaterThan(0);
    await cluster.time.pass(1_000);
    expect(cluster.bank.standing(REQUESTS)).toEqual({ spent: 1, leased: 0 });
  });

  it("gives everything back when a process ends in order", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ requests: 1_000, per: "day" }] } });
    const process = cluster.start();
    await run(cluster, process, 1, 3);
    const closed = process.leases.close();
    await cluster.time.pass(50);
    await closed;
    expect(cluster.bank.standing(REQUESTS)).toEqual({ spent: 1, leased: 0 });
  });
});

describe("a primary that does not answer", () => {
  async function silenced(options: ProcessOptions): Promise<{ cluster: FakeCluster; process: FakeProcess }> {
    const cluster = new FakeCluster({ keys: { app: [{ tokens: 1_000, per: "day" }] } });
    const process = cluster.start(() => options);
    expect(await run(cluster, process, 400)).toBeNull();
    await cluster.time.pass(1_000);
    process.wire.isSilent = true;
    return { cluster, process };
  }

  it("lets nothing in when it is closed, after one wait, and says so once", async () => {
    const { cluster, process } = await silenced({ onDown: "closed" });
    expect(await run(cluster, process, 10, 300)).toBe("ledger_unavailable");
    expect(await run(cluster, process, 10, 0)).toBe("ledger_unavailable");
    await cluster.time.pass(5_000);
    expect(process.log).toHaveLength(1);
    process.wire.isSilent = false;
    await cluster.time.pass(2_000);
    expect(process.log).toEqual([expect.stringContaining("refused"), expect.stringContaining("again")]);
    expect(await run(cluster, process, 10)).toBeNull();
  });

  it("lets the process count alone when it is open, and is told all of it once it is back", async () => {
    const { cluster, process } = await silenced({ onDown: "open" });
    expect(await run(cluster, process, 300, 300)).toBeNull();
    expect([await run(cluster, process, 301, 0), await run(cluster, process, 300, 0)]).toEqual(["rate_limited", null]);
    expect(cluster.bank.standing(TOKENS)?.spent).toBe(400);
    await cluster.time.pass(3_000);
    process.wire.isSilent = false;
    await cluster.time.pass(3_000);
    expect(cluster.bank.standing(TOKENS)).toEqual({ spent: 1_000, leased: 0 });
    expect(process.log).toEqual([expect.stringContaining("on its own"), expect.stringContaining("again")]);
  });

  it("hears once of what it was told, though every answer was lost", async () => {
    const cluster = new FakeCluster({ keys: { app: [{ tokens: 1_000, per: "day" }] } });
    const process = cluster.start(() => ({ onDown: "open" }));
    expect(await run(cluster, process, 100, 3)).toBeNull();
    // What is sent arrives; what comes back does not.
    process.wire.isFarSilent = true;
    await cluster.time.pass(5_000);
    expect(await run(cluster, process, 100, 0)).toBeNull();
    await cluster.time.pass(5_000);
    expect(cluster.bank.standing(TOKENS)?.spent).toBe(200);
    process.wire.isFarSilent = false;
    await cluster.time.pass(5_000);
    expect(cluster.bank.standing(TOKENS)).toEqual({ spent: 200, leased: 0 });
  });
});

describe("a process that dies", () => {
  async function killed(): Promise<{ cluster: FakeCluster; dead: FakeProcess; spends: DatedSpend[] }> {
    const spends: DatedSpend[] = [];
    const cluster = new FakeCluster({ keys: { app: [{ tokens: 1_000, per: "day" }, { parallel: 1 }] } });
    const dead = cluster.start(() => ({
      sink: {
        seal: null,
        refusal: () => null,
        hold: (hold) => void spends.push(...spendsOfHold(hold)),
        attempt: () => undefined,
        append: (entry) => void spends.push(...spendsOfEntry(entry)),
        close: () => undefined,
      },
    }));
    expect(await run(cluster, dead, 100)).toBeNull();
    void begin(cluster, dead, 500);
    await cluster.time.pass(20);
    dead.wire.cut();
    return { cluster, dead, spends };
  }

  it("has its slots free at once, and what it leased once its account is settled", async () => {
    const { cluster, dead, spends } = await killed();
    const process = cluster.start();
    expect([await run(cluster, process, 501), await run(cluster, process, 1)]).toEqual(["rate_limited", null]);
    cluster.bank.settle(dead.name, spends);
    expect(await run(cluster, process, 800)).toBeNull();
    await cluster.time.pass(1_000);
    expect(cluster.bank.standing(TOKENS)).toEqual({ spent: 901, leased: 0 });
  });

  it("is settled once", async () => {
    const { cluster, dead, spends } = await killed();
    cluster.bank.settle(dead.name, spends);
    const settled = cluster.bank.standing(TOKENS);
    cluster.bank.settle(dead.name, spends);
    expect(cluster.bank.standing(TOKENS)).toEqual(settled);
    expect(settled).toEqual({ spent: 100, leased: 0 });
  });

  it("does not keep others waiting that called its reserve back", async () => {
    const cluster = new FakeCluster(TEN);
    const [one, other] = [cluster.start(), cluster.start()];
    for (let index = 0; index < 9; index += 1) expect(await run(cluster, one, 1, 2)).toBeNull();
    one.wire.isSilent = true;
    const begun = begin(cluster, other, 1);
    await cluster.time.pass(20);
    one.wire.cut();
    await cluster.time.pass(2);
    expect((await begun).ticket).not.toBeNull();
  });
});

describe("banks that lease from a bank themselves", () => {
  const machines = (limits: Parameters<typeof createLimitDirectory>[0]): readonly FakeCluster[] => {
    const above = new FakeCluster(limits, () => 2);
    return [above, new FakeCluster(limits, () => 1, above), new FakeCluster(limits, () => 1, above)];
  };

  it("admit exactly what fits of all machines together", async () => {
    const [above, ...below] = machines({ keys: { app: [{ requests: 100, per: "day" }] } });
    const processes = below.flatMap((cluster) => [1, 2].map(() => ({ cluster, process: cluster.start() })));
    const outcomes: (string | null)[] = [];
    for (let index = 0; index < 400; index += 1)
      for (const { cluster, process } of processes.slice(index % 4, (index % 4) + 1))
        void begin(cluster, process, 1).then(({ refusal }) => outcomes.push(refusal?.error.code ?? null));
    await above?.time.pass(3_000);
    expect(outcomes).toHaveLength(400);
    expect(outcomes.filter((code) => code === null)).toHaveLength(100);
    expect(above?.bank.standing(REQUESTS)).toEqual({ spent: 100, leased: 0 });
  });

  it("count what runs on one machine against the next window of the other", async () => {
    const [above, one, other] = machines({ keys: { app: [{ tokens: 100, per: "minute" }] } });
    if (above === undefined || one === undefined || other === undefined) throw new Error("no machines");
    void begin(one, one.start(), 80);
    await above.time.pass(60_000);
    const process = other.start();
    expect([await run(other, process, 21), await run(other, process, 20)]).toEqual(["rate_limited", null]);
  });

  it("let their workers know that the server cannot be reached", async () => {
    const [above, one] = machines(TEN);
    if (above === undefined || one === undefined) throw new Error("no machines");
    const process = one.start();
    expect(await run(one, process, 1)).toBeNull();
    await above.time.pass(1_000);
    for (const wire of above.wires) wire.isSilent = true;
    expect(await run(one, process, 1, 400)).toBe("ledger_unavailable");
    for (const wire of above.wires) wire.isSilent = false;
    await above.time.pass(5_000);
    expect(await run(one, process, 1)).toBeNull();
  });

  it("settle a worker that died with what it spent, up to the server", async () => {
    const [above, one] = machines(TEN);
    if (above === undefined || one === undefined) throw new Error("no machines");
    const spends: DatedSpend[] = [];
    const dead = one.start(() => ({
      sink: {
        seal: null,
        refusal: () => null,
        hold: (hold) => void spends.push(...spendsOfHold(hold)),
        attempt: () => undefined,
        append: () => undefined,
        close: () => undefined,
      },
    }));
    expect(await run(one, dead, 1, 30)).toBeNull();
    dead.wire.cut();
    await above.time.pass(1_000);
    expect(above.bank.standing(REQUESTS)).toEqual({ spent: 0, leased: 1 });
    one.bank.settle(dead.name, spends);
    await above.time.pass(1_000);
    expect(above.bank.standing(REQUESTS)).toEqual({ spent: 1, leased: 0 });
  });
});

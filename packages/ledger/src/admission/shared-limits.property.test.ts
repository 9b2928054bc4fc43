// Random schedules over several processes that share limits through one bank: messages take their time, processes die and come.
import type { AdmissionRefusal, HoldRequest, MaybeAsync, Settlement, Ticket } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { LimitConfig } from "../limits/index.ts";
import { ClusterTruth, type Watched } from "./fixtures/cluster-truth.ts";
import { FakeCluster, type FakeProcess } from "./fixtures/fake-cluster.ts";
import { call, principal, TARGET, used } from "./fixtures/fake-ledger.ts";
import type { LimitsConfig } from "./limit-directory.ts";

const RUNS = 7_500;
const PROCESSES = 3;

const SETTLEMENT: Omit<Settlement, "usage" | "startedMs" | "endedMs"> = {
  rule: "actual",
  deploymentId: "d",
  provider: "p",
  upstreamModel: "m",
  upstreamRequestId: null,
  deliveredBytes: 0,
};

const amount = fc.integer({ min: 200, max: 8_000 });
const limit: fc.Arbitrary<LimitConfig> = fc.oneof(
  fc.record({ usd: amount.map((micro) => micro / 1e6), per: fc.constantFrom("minute", "day", "1m") }),
  fc.record({ tokens: amount, per: fc.constantFrom("minute", "hour", "30s") }),
  fc.record({ requests: fc.integer({ min: 1, max: 12 }), per: fc.constantFrom("minute", "day", "10s") }),
);
const limits: fc.Arbitrary<readonly LimitConfig[]> = fc.oneof(
  // Most scopes have no limits in a run, or hardly a call would pass all of them.
  { weight: 6, arbitrary: fc.constant([]) },
  { weight: 3, arbitrary: limit.map((each) => [each]) },
  { weight: 1, arbitrary: fc.constantFrom(2, 4).map((parallel) => [{ parallel }]) },
  {
    weight: 1,
    arbitrary: fc
      .record({ usd: amount, tokens: amount })
      .map(({ usd, tokens }) => [{ usd: usd / 1e6, per: "hour" }, { tokens, per: "1m" }, { parallel: 6 }]),
  },
);
const config = fc.record({
  k1: limits,
  k2: limits,
  team: limits,
  eachKey: limits,
  chat: limits,
  d: limits,
  global: limits,
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("open" as const),
      process: fc.nat(PROCESSES - 1),
      key: fc.constantFrom("k1", "k2"),
      input: fc.nat(600),
      output: fc.nat(600),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      ticket: fc.nat(3),
      share: fc.nat(100),
      isLast: fc.nat(3).map((value) => value === 0),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 7, 40, 150, 900, 61_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), process: fc.nat(PROCESSES - 1) }) },
);
const schedule = fc.array(step, { minLength: 16, maxLength: 44, size: "max" });
/** Delays of messages, used in turn. */
const delays = fc.array(fc.nat(20), { minLength: 1, maxLength: 12 });

type Config = typeof config extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Call {
  readonly process: FakeProcess;
  readonly ticket: Ticket;
  readonly key: string;
  readonly request: HoldRequest;
  state: "opened" | "asking" | "held" | "attempting" | "closed";
  startedMs: number;
}

function limitsConfig({ k1, k2, team, eachKey, chat, d, global }: Config): LimitsConfig {
  return {
    keys: { k1, k2 },
    owners: { team: { limits: team, eachKey } },
    models: { chat },
    deployments: { d },
    global,
  };
}

function watched({ k1, k2, team, eachKey, chat, d, global }: Config): readonly Watched[] {
  return [
    { scope: "key", id: "k1", limits: k1 },
    { scope: "key", id: "k2", limits: k2 },
    { scope: "owner", id: "team", limits: team },
    { scope: "each-key", id: "k1", limits: eachKey },
    { scope: "each-key", id: "k2", limits: eachKey },
    { scope: "model", id: "chat", limits: chat },
    { scope: "deployment", id: "d", limits: d },
    { scope: "global", id: "", limits: global },
  ];
}

/** Plays a schedule. `share` is what calls take of what was held for them, in hundredths. */
class ClusterPlay {
  readonly cluster: FakeCluster;
  readonly truth: ClusterTruth;
  readonly #config: Config;
  readonly #calls: Call[] = [];
  readonly #processes: FakeProcess[] = [];
  refused = 0;

  constructor(each: Config, delaysMs: readonly number[]) {
    let message = 0;
    this.#config = each;
    this.cluster = new FakeCluster(limitsConfig(each), () => delaysMs[(message += 1) % delaysMs.length] ?? 0);
    this.truth = new ClusterTruth(this.cluster.time, watched(each));
    for (let index = 0; index < PROCESSES; index += 1) this.#processes.push(this.#start());
  }

  async take(each: Step): Promise<void> {
    switch (each.kind) {
      case "open":
        void this.#open(each);
        return;
      case "move": {
        const running = this.#calls.filter(({ state }) => state !== "closed");
        const moved = running[each.ticket % running.length];
        if (moved !== undefined) this.#move(moved, each);
        return;
      }
      case "kill":
        this.#kill(each.process);
        return;
      case "wait":
        await this.cluster.time.pass(each.ms);
    }
  }

  /** Ends all calls, lets everything be told, and compares what the bank knows with what happened. */
  async finish(): Promise<void> {
    while (this.#calls.some(({ state }) => state !== "closed")) {
      await this.cluster.time.pass(300);
      for (const each of this.#calls) if (each.state !== "closed") this.#move(each, { share: 50, isLast: true });
    }
    await this.cluster.time.pass(1_000);
    for (const {
      scope,
      id,
      limit: { dimension, per, window },
      spent,
    } of this.truth.standings()) {
      const standing = this.cluster.bank.standing(`${scope}\n${id}\n${dimension}\n${per}`);
      const what = `${scope} ${id} ${dimension} per ${per}`;
      const counted = standing?.spent ?? 0;
      if (window.kind === "calendar" ? counted !== spent : counted < spent)
        throw new Error(`${what}: ${counted} counted, ${spent} spent`);
      if ((standing?.leased ?? 0) !== 0) throw new Error(`${what}: ${standing?.leased} leased when all had ended`);
    }
  }

  #start(): FakeProcess {
    return this.cluster.start((name) => ({ sink: this.truth.recorder(name), hold: "worst" }));
  }

  async #open({ process: index, key, input, output }: Step & { kind: "open" }): Promise<void> {
    const process = this.#processes[index] as FakeProcess;
    const ticket = await this.cluster.open(process, principal({ id: key }));
    if (!this.#processes.includes(process)) return;
    if (ticket === null) {
      this.refused += 1;
      return;
    }
    const request = call(input, { maxOutputTokens: output, bodyBytes: 50 });
    this.#calls.push({ process, ticket, key, request, state: "opened", startedMs: 0 });
    this.#checkSlots();
  }

  #move(each: Call, { share, isLast }: { readonly share: number; readonly isLast: boolean }): void {
    const { ticket, request } = each;
    if (each.state === "opened") this.#ask(each, ticket.hold(request), "held");
    else if (each.state === "held" && !isLast) this.#ask(each, ticket.attempt("d", TARGET), "attempting");
    else if (each.state === "held") this.#close(each);
    else if (each.state === "attempting") {
      const nowMs = this.cluster.time.nowMs();
      const usage = used(
        Math.floor((request.estimateInputTokens() * share) / 100),
        Math.floor(((request.maxOutputTokens ?? 0) * share) / 100),
      );
      ticket.settle({ ...SETTLEMENT, usage, startedMs: each.startedMs, endedMs: nowMs });
      each.state = "held";
    }
  }

  #ask(each: Call, answer: MaybeAsync<AdmissionRefusal | null>, next: "held" | "attempting"): void {
    const read = (refusal: AdmissionRefusal | null): void => {
      if (each.state === "closed") return;
      each.state = next;
      each.startedMs = this.cluster.time.nowMs();
      if (refusal === null) return this.#checkSlots();
      this.refused += 1;
      this.#close(each);
    };
    each.state = "asking";
    if (answer instanceof Promise) void answer.then(read);
    else read(answer);
  }

  #close(each: Call): void {
    each.state = "closed";
    each.ticket.close();
  }

  #kill(index: number): void {
    const process = this.#processes[index] as FakeProcess;
    this.truth.kill(process.name);
    for (const each of this.#calls) if (each.process === process) each.state = "closed";
    this.#processes[index] = this.#start();
    process.wire.cut();
    this.cluster.time.schedule(50, () => this.cluster.bank.settle(process.name, this.truth.replay(process.name)));
  }

  /** No more calls run at once than may. */
  #checkSlots(): void {
    const running = this.#calls.filter(({ state }) => state !== "closed");
    const held = running.filter(({ state }) => state === "held" || state === "attempting");
    const of = (key: string): number => running.filter((each) => each.key === key).length;
    const { k1, k2, team, eachKey, chat, d, global } = this.#config;
    const counts: readonly (readonly [readonly LimitConfig[], number])[] = [
      [k1, of("k1")],
      [k2, of("k2")],
      [team, running.length],
      [eachKey, Math.max(of("k1"), of("k2"))],
      [chat, held.length],
      [d, held.filter(({ state }) => state === "attempting").length],
      [global, running.length],
    ];
    for (const [configs, count] of counts)
      for (const { parallel } of configs)
        if (parallel !== undefined && count > parallel)
          this.truth.violations.push(`${count} calls of ${parallel} at once`);
  }
}

describe("any schedule of several processes", () => {
  it("keeps spent + held + estimate within every limit at each admission over all of them, and loses nothing", async () => {
    let settled = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(config, schedule, delays, async (limitsOf, steps, delaysMs) => {
        const play = new ClusterPlay(limitsOf, delaysMs);
        for (const each of steps) await play.take(each);
        await play.finish();
        if (play.truth.violations.length > 0) throw new Error(play.truth.violations.join("; "));
        settled += play.truth.settled;
        refused += play.refused;
      }),
      { numRuns: RUNS },
    );
    // A run in which nothing was let in, or nothing refused, would prove nothing.
    expect(Math.min(settled, refused)).toBeGreaterThan(RUNS / 2);
  });

  it("loses and doubles nothing when calls take more than was held for them", async () => {
    let overdrawn = 0;
    await fc.assert(
      fc.asyncProperty(config, schedule, delays, async (limitsOf, steps, delaysMs) => {
        const play = new ClusterPlay(limitsOf, delaysMs);
        for (const each of steps) await play.take(each.kind === "move" ? { ...each, share: each.share * 4 } : each);
        await play.finish();
        overdrawn += play.truth.overdrawn;
      }),
      { numRuns: 1_500 },
    );
    expect(overdrawn).toBeGreaterThan(300);
  });
});

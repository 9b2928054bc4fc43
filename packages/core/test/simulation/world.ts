/**
 * One gateway with its upstreams, clients and account under a virtual clock: many exchanges at once, configuration swapped under
 * them, then a shutdown. `simulate` returns what went wrong; equal seeds give equal runs.
 */
import {
  BodyPool,
  compileConfig,
  ConfigValidator,
  DialectRegistry,
  GatewayEngine,
  type GatewayConfig,
  type HeaderList,
  type Logger,
  type Snapshot,
  type TimeoutsConfig,
} from "../../src/index.ts";
import { CountedBody } from "./counted-body.ts";
import { makeAdmission, type CountedTicket } from "./counting-admission.ts";
import { FaultyUpstream, type SentCall } from "./faulty-upstream.ts";
import { FlightyClient } from "./flighty-client.ts";
import { findViolations, hear, USAGE_GRACE_MS, type SeenExchange } from "./invariants.ts";
import { SeededRandom } from "../../../../tests/random/seeded-random.ts";
import { ALPHA, BETA, BOOM, makeClient, makeKind, makeProvider } from "./tiny-dialect.ts";
import { VirtualClock } from "./virtual-clock.ts";

const REGISTRY = new DialectRegistry(
  [ALPHA, BETA].map((words) => ({ client: makeClient(words), provider: makeProvider(words) })),
  [
    makeKind("alpha-kind", ["alpha"], "drain"),
    makeKind("beta-kind", ["beta"], "cancel"),
    makeKind("both-kind", ["beta", "alpha"], "drain"),
  ],
);
const VALIDATOR = new ConfigValidator();

const TIMEOUTS: TimeoutsConfig = { connect: "1s", firstContent: "3s", idle: "2s", total: "20s" };

const CONFIG: GatewayConfig = {
  version: 1,
  server: {
    maxBody: "4KiB",
    maxHeldResponseBytes: "4KiB",
    limits: { maxQueue: "16KiB" },
    sse: { keepAlive: "1s", maxRecord: "4KiB" },
    headers: { debug: "on" },
  },
  providers: {
    pa: { kind: "alpha-kind", credentials: ["secret-one", "secret-two"] },
    pb: { kind: "beta-kind", baseUrl: "https://beta.example" },
    pab: {
      kind: "both-kind",
      baseUrl: "https://both.example",
      credentials: ["secret-three"],
      profile: { extends: "plain", normalize: true },
    },
  },
  models: {
    chat: {
      aliases: ["talk"],
      deployments: [
        { id: "a", provider: "pa", model: "x", weight: 2, capabilities: { contextWindow: 1_000 } },
        { id: "b", provider: "pb", model: "y", capabilities: { contextWindow: 8_000 } },
        { id: "ab", provider: "pab", model: "z", tier: 2, capabilities: { contextWindow: 4_000 } },
      ],
      timeouts: TIMEOUTS,
    },
    early: {
      deployments: [
        { id: "a", provider: "pa", model: "x" },
        { id: "b2", provider: "pb", model: "y2", tier: 2, disconnect: { mode: "drain", maxMs: 500, maxBytes: "1KiB" } },
      ],
      timeouts: { ...TIMEOUTS, commitAfter: "500ms" },
      attempts: 3,
    },
    alone: { deployments: [{ id: "ab2", provider: "pab", model: "w" }], timeouts: TIMEOUTS },
  },
};

const MODELS = ["chat", "talk", "early", "alone"] as const;

const LAST_GENERATION = 4;

/** No exchange may take longer: its body, its total time, and a slow client at the end of it. */
const LONGEST_MS = 600_000;

/** What a run did, for the test that asks whether it has met everything. */
export interface SimulationReport {
  readonly violations: readonly string[];
  readonly exchanges: readonly SeenExchange[];
}

function compile(generation: number): Snapshot {
  const result = compileConfig(CONFIG, { registry: REGISTRY, generation, validator: VALIDATOR });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.snapshot;
}

class World {
  readonly violations: string[] = [];
  readonly exchanges: SeenExchange[] = [];
  readonly clock = new VirtualClock();
  readonly upstream: FaultyUpstream;
  readonly engine: GatewayEngine;
  readonly #random: SeededRandom;
  readonly #pool = new BodyPool({ maxPooledBytes: 1 << 20, poison: true });
  readonly #tickets: CountedTicket[] = [];
  readonly #byInput = new Map<string, SeenExchange>();
  #starting: SeenExchange | null = null;
  #defects = 0;

  constructor(seed: number) {
    const random = new SeededRandom(seed);
    this.#random = random;
    const onViolation = (message: string): void => {
      this.violations.push(message);
    };
    this.upstream = new FaultyUpstream({
      clock: this.clock,
      random,
      onSend: (call) => this.#onSend(call),
      onViolation,
    });
    this.engine = new GatewayEngine({
      registry: REGISTRY,
      snapshot: compile(1),
      ports: {
        clock: this.clock.engine,
        random: { next: () => random.next(), id: (length) => this.#nameExchange(random.id(length)) },
        hasher: { sha256Hex: (text) => text },
        logger: this.#makeLogger(),
        upstream: this.upstream,
        admission: makeAdmission(random, this.#tickets, onViolation),
      },
      makeAuthenticator: () => ({
        authenticate: (secret) =>
          secret === "good" ? { id: "app", owner: null, tags: [], models: ["*"], debug: false } : null,
      }),
      observers: [
        {
          onOutcome: (outcome) => {
            const seen = this.exchanges.find((each) => each.requestId === outcome.requestId);
            if (seen === undefined) onViolation("an outcome of no exchange");
            seen?.outcomes.push(outcome);
          },
        },
      ],
      limits: {
        maxGateBytes: 4_096,
        maxErrorBytes: 2_048,
        usageGraceMs: USAGE_GRACE_MS,
        clientStallMs: 4_000,
        trailingMs: 300,
        maxRetryAfterMs: 5_000,
        maxCooldownMs: 10_000,
        maxResponseBytes: 16_384,
      },
      userAgent: "simulation",
    });
  }

  /** Starts `count` exchanges within `spanMs`, swaps the configuration under them and runs until all have ended. */
  async run(count: number, spanMs: number): Promise<void> {
    for (let index = 0; index < count; index++)
      this.clock.schedule(this.#random.integer(spanMs), () => this.#startExchange(index));
    for (let swaps = 1; swaps < LAST_GENERATION; swaps++)
      this.clock.schedule(this.#random.integer(spanMs), () => this.engine.swap(compile(this.engine.generation + 1)));
    const isOver = (): boolean =>
      this.engine.generation === LAST_GENERATION &&
      this.exchanges.length === count &&
      this.exchanges.every((seen) => seen.outcomes.length > 0);
    if (!(await this.clock.run(isOver, spanMs + LONGEST_MS))) this.violations.push("an exchange never ended");
  }

  /** Lets what still trails come to rest; then nothing may be left over. */
  async finish(): Promise<void> {
    const closing = this.engine.close();
    await this.clock.run(() => this.upstream.isClosed, LONGEST_MS);
    await closing;
    if (this.clock.enginePending > 0) this.violations.push(`${this.clock.enginePending} timers are left`);
    let isRested = false;
    // Releases of cancelled calls, and time for every breaker, cooldown and resting credential to be over.
    this.clock.schedule(LONGEST_MS, () => {
      isRested = true;
    });
    await this.clock.run(() => isRested, LONGEST_MS * 2);
    if (this.engine.inFlight > 0) this.violations.push(`${this.engine.inFlight} tasks are left`);
    if (this.engine.hasFailedTask) this.violations.push("a task failed");
    this.#checkHealth();
    this.#checkDefects();
    for (const seen of this.exchanges) {
      seen.ticket = this.#tickets.find((ticket) => ticket.requestId === seen.requestId) ?? null;
      this.violations.push(...findViolations(seen));
    }
  }

  #startExchange(index: number): void {
    const random = this.#random;
    const words = random.chance(0.6) ? ALPHA : BETA;
    const input = `i${index}.${"v".repeat(
      random.pick([
        [4, 4],
        [1, 700],
      ]),
    )}`;
    const model = random.pick([
      [20, MODELS[random.integer(MODELS.length)] as string],
      [1, "unknown"],
    ]);
    const members = JSON.stringify({
      model,
      stream: random.chance(0.7),
      ...(random.chance(0.1) ? { fancy: true } : {}),
      input,
    });
    const body = new CountedBody(this.#pool, random.chance(0.02) ? members.slice(0, -1) : members, () =>
      this.#onFree(seen),
    );
    const headers: HeaderList = random.chance(0.97) ? ["Authorization", "good", "cookie", "private"] : [];
    const [method, operation] = random.pick<readonly ["POST" | "GET", string]>([
      [30, ["POST", "generate"]],
      [3, ["POST", "count"]],
      [1, ["GET", "models"]],
      [1, ["GET", "models/talk"]],
      [1, ["GET", "generate"]],
      [1, ["POST", "nowhere"]],
    ]);
    const client = new FlightyClient({
      clock: this.clock,
      random,
      method,
      path: `/${words.id}/${operation}`,
      headers,
      body,
      onViolation: (message) => this.violations.push(message),
    });
    const seen: SeenExchange = {
      name: `exchange ${index}`,
      words,
      client,
      body,
      calls: [],
      outcomes: [],
      requestId: "",
      ticket: null,
    };
    this.exchanges.push(seen);
    this.#byInput.set(input, seen);
    this.#starting = seen;
    this.engine.handle(client, client);
    this.#starting = null;
  }

  #nameExchange(id: string): string {
    if (this.#starting?.requestId === "") this.#starting.requestId = `req_${id}`;
    return id;
  }

  #onSend(call: SentCall): void {
    const seen = this.#byInput.get(call.input);
    if (seen === undefined) {
      this.violations.push("a call of no exchange: was its body overwritten?");
      return;
    }
    const { client } = seen;
    const violate = (message: string): void => {
      this.violations.push(`${seen.name}: ${message}`);
    };
    if (client.state === "gone" || client.state === "ended" || client.state === "aborted")
      violate(`a call although the client is ${client.state}`);
    if (client.state === "open" && hear(seen.words, client.received).hasContent) violate("a call after the commit");
    if (call.headers.some((item) => item === "cookie" || item === "private" || item === "good"))
      violate("a header of the client went upstream");
    seen.calls.push(call);
  }

  #onFree(seen: SeenExchange): void {
    if (seen.calls.some((call) => !call.isReleased))
      this.violations.push(`${seen.name}: the body was freed before all its calls had let go`);
  }

  #makeLogger(): Logger {
    const ignore = (): void => undefined;
    return {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: (fields, message) => {
        this.#defects += 1;
        if (!String(fields["error"]).includes(BOOM)) this.violations.push(`${message}: ${String(fields["error"])}`);
      },
    };
  }

  #checkDefects(): void {
    const planted = this.exchanges
      .flatMap((seen) => seen.calls)
      .filter((call) => call.script.name.includes("boom")).length;
    if (this.#defects > planted) this.violations.push(`${this.#defects} defects were reported and ${planted} planted`);
  }

  /** After a long rest every deployment must be open for at least one call again: no probe was lost. */
  #checkHealth(): void {
    for (const model of MODELS) {
      const explained = this.engine.explain({
        dialect: "alpha",
        body: Buffer.from(JSON.stringify({ model, input: "x" })),
      });
      if (!explained.ok) this.violations.push(`explain: ${explained.error.message}`);
      else if (explained.plan.some((verdict) => verdict.retryAfterMs !== null))
        this.violations.push(`a deployment of ${model} never recovers`);
    }
  }
}

/** Runs one seeded world of `count` exchanges. */
export async function simulate(seed: number, count: number): Promise<SimulationReport> {
  const world = new World(seed);
  await world.run(count, 30_000);
  await world.finish();
  return { violations: world.violations, exchanges: world.exchanges };
}

// A gateway in this process with nothing real around it but the body pool: a fake clock, a fake upstream, fake clients.
import { BodyPool } from "@dragoman/core";
import type { DeploymentConfig, EngineLimits, ExchangeOutcome, GatewayConfig, ModelConfig, PooledBody } from "@dragoman/core";

import { createGateway } from "../../src/create-gateway.ts";
import type { Gateway } from "../../src/create-gateway.ts";
import { FakeClient } from "./fake-client.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeUpstream } from "./fake-upstream.ts";
import { RecordingAdmission } from "./recording-admission.ts";
import { PATH_OF } from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

/** Breakers that no proof can open. */
export const NEVER_OPEN = {
  consecutiveFailures: 1e9,
  failureRate: 2,
  minCalls: 1e9,
  windowMs: 30_000,
  openMs: 1,
  maxOpenMs: 1,
  probes: 1,
} as const;

/** Who calls in the proofs. */
export const PROOF_PRINCIPAL = { id: "proof", owner: null, tags: [], models: ["*"], debug: false } as const;

/** A deployment of the account of a dialect. */
export function deployment(id: string, provider: ProofDialect, more: Partial<DeploymentConfig> = {}): DeploymentConfig {
  return { id, provider, model: `up-${id}`, capabilities: { defaultMaxOutputTokens: 1024 }, ...more };
}

/** One account of each dialect, and the given models. */
export function proofConfig(
  urls: Readonly<Record<ProofDialect, string>>,
  models: Readonly<Record<string, ModelConfig>>,
  server: GatewayConfig["server"] = {},
): GatewayConfig {
  return {
    version: 1,
    server,
    providers: {
      chat: { kind: "openai", baseUrl: `${urls.chat}/v1`, credentials: ["chat-credential"] },
      messages: { kind: "anthropic", baseUrl: urls.messages, credentials: ["messages-credential"] },
    },
    models,
    telemetry: { requestLog: false },
  };
}

/** A pool that overwrites what is released and knows how much of its memory is out. */
export class WatchedPool extends BodyPool {
  readonly #counter: { allocatedBytes: number };

  constructor() {
    const counter = { allocatedBytes: 0 };
    super({
      maxPooledBytes: Number.MAX_SAFE_INTEGER,
      poison: true,
      allocate: (size) => {
        counter.allocatedBytes += size;
        return Buffer.allocUnsafeSlow(size);
      },
    });
    this.#counter = counter;
  }

  /** Bytes of buffers that were taken and not given back. Bodies over 4 MiB are never given back to a pool. */
  get missingBytes(): number {
    return this.#counter.allocatedBytes - this.pooledBytes;
  }
}

/** Puts a text into a body of the pool. */
export function bodyOf(pool: BodyPool, text: string | Uint8Array): PooledBody {
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const collector = pool.collect(bytes.byteLength, Number.MAX_SAFE_INTEGER);
  collector.push(bytes);
  return collector.finish();
}

/** A gateway with fakes on all sides. */
export interface EngineStack {
  readonly gateway: Gateway;
  readonly clock: FakeClock;
  readonly upstream: FakeUpstream;
  readonly admission: RecordingAdmission;
  readonly pool: WatchedPool;
  readonly outcomes: ExchangeOutcome[];
  /** Sends a request and lets the engine run as far as it comes by itself. */
  ask(dialect: ProofDialect, body: string | Uint8Array): Promise<FakeClient>;
  /** What is left over now that everything should be at rest; empty when nothing is. */
  leftovers(): string[];
}

export async function startEngine(
  models: Readonly<Record<string, ModelConfig>>,
  options: { readonly limits?: Partial<EngineLimits>; readonly server?: GatewayConfig["server"] } = {},
): Promise<EngineStack> {
  const clock = new FakeClock();
  const upstream = new FakeUpstream();
  const admission = new RecordingAdmission();
  const pool = new WatchedPool();
  const outcomes: ExchangeOutcome[] = [];
  const origin = "http://upstream.invalid";
  const gateway = await createGateway(proofConfig({ chat: origin, messages: origin }, models, options.server), {
    clock,
    upstream,
    admission,
    breaker: NEVER_OPEN,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  gateway.events.on("outcome", (outcome) => outcomes.push(outcome));
  return {
    gateway,
    clock,
    upstream,
    admission,
    pool,
    outcomes,
    ask: async (dialect, body) => {
      const client = new FakeClient(PATH_OF[dialect], bodyOf(pool, body));
      gateway.handle(client.request, client, { principal: PROOF_PRINCIPAL });
      await clock.advance(0);
      return client;
    },
    leftovers: () => [
      ...(gateway.inFlight === 0 ? [] : [`${gateway.inFlight} task(s)`]),
      ...(clock.pendingTimers === 0 ? [] : [`${clock.pendingTimers} timer(s)`]),
      ...(pool.missingBytes === 0 ? [] : [`${pool.missingBytes} byte(s) of bodies`]),
      ...(gateway.hasFailedTask ? ["a failed task"] : []),
      ...upstream.calls.flatMap((call, index) => (call.isOver && call.isReleased ? [] : [`call ${index}`])),
      ...admission.imbalances,
      ...(outcomes.length === admission.tickets.length ? [] : [`${outcomes.length} outcome(s) of ${admission.tickets.length}`]),
    ],
  };
}

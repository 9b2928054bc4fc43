// A gateway in this process with nothing real around it but the body pool: a fake clock, a fake upstream, fake clients.
import { BodyPool, compileConfig, ConfigValidator, DialectRegistry, GatewayEngine } from "@dragoman/core";
import type {
  Admission,
  Clock,
  DeploymentConfig,
  EngineLimits,
  ExchangeOutcome,
  GatewayConfig,
  Hook,
  ModelConfig,
  PooledBody,
  Snapshot,
  UpstreamClient,
} from "@dragoman/core";
import { BUILT_IN_DIALECTS, BUILT_IN_KINDS } from "@dragoman/dialects";

import { createNodeRandom, NODE_HASHER, SILENT_LOGGER } from "../../src/ports/index.ts";
import { FakeClient } from "./fake-client.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeUpstream } from "./fake-upstream.ts";
import { RecordingAdmission } from "./recording-admission.ts";
import { PATH_OF } from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

/** Breakers that no proof can open. */
const NEVER_OPEN = {
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
  #missingBytes = 0;

  constructor() {
    super({ maxPooledBytes: 64 * 1024 * 1024, poison: true });
  }

  /** Bytes of buffers that were taken and not given back. */
  get missingBytes(): number {
    return this.#missingBytes;
  }

  override take(size: number): Uint8Array {
    const buffer = super.take(size);
    this.#missingBytes += buffer.length;
    return buffer;
  }

  override give(buffer: Uint8Array): void {
    this.#missingBytes -= buffer.length;
    super.give(buffer);
  }
}

/** Puts a text into a body of the pool. */
export function bodyOf(pool: BodyPool, text: string | Uint8Array): PooledBody {
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const collector = pool.collect(bytes.byteLength, Number.MAX_SAFE_INTEGER);
  collector.push(bytes);
  return collector.finish();
}

// Compiling the schema costs more than a whole proof; it holds no state.
const VALIDATOR = new ConfigValidator();
const REGISTRY = new DialectRegistry(BUILT_IN_DIALECTS, BUILT_IN_KINDS);

function compile(config: GatewayConfig): Snapshot {
  const compiled = compileConfig(config, { registry: REGISTRY, generation: 1, validator: VALIDATOR });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.snapshot;
}

/** What a bare engine is made from; everything else is this process's own. */
export interface BareEngineOptions {
  readonly config: GatewayConfig;
  readonly clock: Clock;
  readonly upstream: UpstreamClient;
  readonly admission: Admission;
  readonly onOutcome: (outcome: ExchangeOutcome) => void;
  readonly limits?: Partial<EngineLimits>;
  readonly hooks?: readonly Hook[];
}

/** An engine over the built-in dialects that lets everybody in. */
export function makeEngine(options: BareEngineOptions): GatewayEngine {
  const { clock, upstream, admission, limits, hooks, onOutcome } = options;
  return new GatewayEngine({
    registry: REGISTRY,
    snapshot: compile(options.config),
    ports: { clock, random: createNodeRandom(), hasher: NODE_HASHER, logger: SILENT_LOGGER, upstream, admission },
    makeAuthenticator: () => ({ authenticate: () => PROOF_PRINCIPAL }),
    observers: [{ onOutcome }],
    breaker: NEVER_OPEN,
    userAgent: "dragoman/proofs",
    ...(limits === undefined ? {} : { limits }),
    ...(hooks === undefined ? {} : { hooks }),
  });
}

/** A gateway with fakes on all sides. */
export interface EngineStack {
  readonly gateway: GatewayEngine;
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

/** Starts an engine on fakes. */
export function startEngine(
  models: Readonly<Record<string, ModelConfig>>,
  options: { readonly limits?: Partial<EngineLimits>; readonly server?: GatewayConfig["server"] } = {},
): EngineStack {
  const clock = new FakeClock();
  const upstream = new FakeUpstream();
  const admission = new RecordingAdmission();
  const pool = new WatchedPool();
  const outcomes: ExchangeOutcome[] = [];
  const origin = "http://upstream.invalid";
  const gateway = makeEngine({
    config: proofConfig({ chat: origin, messages: origin }, models, options.server),
    clock,
    upstream,
    admission,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
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
      ...(outcomes.length === admission.tickets.length
        ? []
        : [`${outcomes.length} outcome(s) of ${admission.tickets.length}`]),
    ],
  };
}

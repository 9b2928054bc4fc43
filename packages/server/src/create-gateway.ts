/**
 * The composition root: an engine with this process's clock, randomness and upstream client. Opens no port, reads no file and
 * installs no signal handler.
 */
import { EventEmitter } from "eventemitter3";
import {
  BodyPool,
  compileConfig,
  ConfigValidator,
  DialectRegistry,
  FREE_ADMISSION,
  GatewayEngine,
  GatewayError,
  type Admission,
  type Authenticator,
  type BreakerLimits,
  type Clock,
  type ConfigFolder,
  type ConfigProblem,
  type DialectRegistration,
  type EngineLimits,
  type ExchangeOutcome,
  type Explanation,
  type ExplainRequest,
  type GatewayConfig,
  type Hook,
  type Logger,
  type ProviderKind,
  type Random,
  type SecretResolver,
  type Snapshot,
  type UpstreamClient,
} from "@dragoman/core";
import { BUILT_IN_DIALECTS, BUILT_IN_KINDS } from "@dragoman/dialects";

import { checkConfig } from "./config-file/check-config.ts";
import { completePrincipal } from "./embedding/index.ts";
import type { EmbeddedGateway, HostPrincipal } from "./embedding/index.ts";
import { createInProcessFetch } from "./fetch/in-process-fetch.ts";
import { KeyRing } from "./keys/index.ts";
import { createNodeClock, createNodeRandom, NODE_HASHER, SILENT_LOGGER } from "./ports/index.ts";
import { VERSION } from "./version.ts";
import { createWireClient } from "./wire/index.ts";

/** What a host may replace or add. Everything has a default. */
export interface CreateGatewayOptions {
  /** Dialects beside the built-in ones. */
  readonly dialects?: readonly DialectRegistration[];
  /** Provider kinds beside the built-in ones. */
  readonly kinds?: readonly ProviderKind[];
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly upstream?: UpstreamClient;
  readonly admission?: Admission;
  /** Who a credential belongs to; by default the keys of the configuration. */
  readonly authenticator?: Authenticator;
  /** Resolves `env:` and `file:` references in the configuration. Embedded gateways have none unless the host gives one. */
  readonly resolveSecret?: SecretResolver;
  /** Where the configuration's relative paths start from, and who reads its price file. None unless the host gives one. */
  readonly folder?: ConfigFolder;
  /** Guardrails, policies and observers, called in this order. */
  readonly hooks?: readonly Hook[];
  readonly limits?: Partial<EngineLimits>;
  readonly breaker?: BreakerLimits;
  /** Where front ends gather request bodies; by default a pool that keeps 16 MiB of released memory. */
  readonly pool?: BodyPool;
}

/** Events of a gateway. Handlers run synchronously after an exchange and must not throw. */
export interface GatewayEvents {
  /** Once per exchange, whatever became of its client. */
  outcome: (outcome: ExchangeOutcome) => void;
  /** A configuration took the place of the one before; its generation. */
  reconfigured: (generation: number) => void;
}

/** A gateway as one caller sees it. */
export interface GatewayClient {
  /** For the `fetch` option of an SDK: requests end in this process, whatever host their URL names. */
  readonly fetch: typeof globalThis.fetch;
}

/** A running gateway. */
export interface Gateway extends EmbeddedGateway {
  /** The gateway for one caller of this process, without a socket: `new OpenAI({ fetch: gateway.as({ id }).fetch })`. */
  as(principal: HostPrincipal): GatewayClient;
  /** The plan of a request with every verdict; sends nothing. */
  explain(request: ExplainRequest): Explanation;
  /** Compiles and swaps a configuration. Throws `config_invalid` with all problems and keeps the old one. */
  reconfigure(config: GatewayConfig): void;
  /** Refuses new requests and waits for running ones. */
  close(): Promise<void>;
  /** From now on new requests are refused; running ones go on. */
  drain(): void;
  /** Ends what still runs: clients that wait get an error, and upstream calls whose client has left are cut. */
  cutShort(): void;
  readonly snapshot: Snapshot;
  readonly inFlight: number;
  readonly hasFailedTask: boolean;
  readonly events: EventEmitter<GatewayEvents>;
}

const POOLED_BODY_BYTES = 16 * 1024 * 1024;

/** Lists a configuration's problems in one message, each with its path. */
function describeProblems(problems: readonly ConfigProblem[]): string {
  return problems.map(({ path, message }) => `${path === "" ? "/" : path}: ${message}`).join("\n");
}

/**
 * Makes a gateway from a configuration. Rejects with `config_invalid` (`details.problems` holds every problem with its path)
 * when it does not compile.
 */
export function createGateway(config: GatewayConfig, options: CreateGatewayOptions = {}): Promise<Gateway> {
  return Promise.resolve().then(() => composeGateway(config, options));
}

function composeGateway(config: GatewayConfig, options: CreateGatewayOptions): Gateway {
  const registry = new DialectRegistry(
    [...BUILT_IN_DIALECTS, ...(options.dialects ?? [])],
    [...BUILT_IN_KINDS, ...(options.kinds ?? [])],
  );
  const validator = new ConfigValidator();
  const compile = (source: GatewayConfig, generation: number): Snapshot => {
    const result = compileConfig(source, {
      registry,
      generation,
      validator,
      check: checkConfig,
      ...(options.folder === undefined ? {} : { folder: options.folder }),
      ...(options.resolveSecret === undefined ? {} : { resolveSecret: options.resolveSecret }),
    });
    if (result.ok) return result.snapshot;
    throw new GatewayError("config_invalid", `The configuration is invalid:\n${describeProblems(result.problems)}`, {
      details: { problems: result.problems },
    });
  };
  const events = new EventEmitter<GatewayEvents>();
  const logger = options.logger ?? SILENT_LOGGER;
  const engine = new GatewayEngine({
    registry,
    snapshot: compile(config, 1),
    ports: {
      clock: options.clock ?? createNodeClock(),
      random: options.random ?? createNodeRandom(),
      hasher: NODE_HASHER,
      logger,
      upstream: options.upstream ?? createWireClient(),
      admission: options.admission ?? FREE_ADMISSION,
    },
    makeAuthenticator: (snapshot) => options.authenticator ?? new KeyRing(snapshot.keys),
    observers: [{ onOutcome: (outcome) => events.emit("outcome", outcome) }],
    userAgent: `dragoman/${VERSION}`,
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.breaker === undefined ? {} : { breaker: options.breaker }),
  });
  const embedded: EmbeddedGateway = {
    handle: (request, responder, handleOptions) => engine.handle(request, responder, handleOptions),
    encodeRefusal: (status, code, message, path, headers) => engine.encodeRefusal(status, code, message, path, headers),
    serves: (method, path) => engine.serves(method, path),
    pool: options.pool ?? new BodyPool({ maxPooledBytes: POOLED_BODY_BYTES }),
    logger,
  };
  return {
    ...embedded,
    as: (principal) => ({ fetch: createInProcessFetch(embedded, completePrincipal(principal)) }),
    explain: (request) => engine.explain(request),
    reconfigure: (next) => {
      engine.swap(compile(next, engine.generation + 1));
      events.emit("reconfigured", engine.generation);
    },
    close: () => engine.close(),
    drain: () => engine.drain(),
    cutShort: () => engine.cutShort(),
    get snapshot() {
      return engine.snapshot;
    },
    get inFlight() {
      return engine.inFlight;
    },
    get hasFailedTask() {
      return engine.hasFailedTask;
    },
    events,
  };
}

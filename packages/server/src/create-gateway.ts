/**
 * The composition root: an engine with this process's clock, randomness and upstream client. Opens no port, reads no file and
 * installs no signal handler.
 */
import { EventEmitter } from "eventemitter3";
import {
  compileConfig,
  ConfigValidator,
  DialectRegistry,
  FREE_ADMISSION,
  GatewayEngine,
  GatewayError,
  type Admission,
  type Authenticator,
  type BreakerLimits,
  type ClientRequest,
  type Clock,
  type ConfigProblem,
  type DialectRegistration,
  type EncodedRefusal,
  type EngineLimits,
  type ExchangeOutcome,
  type Explanation,
  type ExplainRequest,
  type GatewayConfig,
  type HandleOptions,
  type HeaderList,
  type Logger,
  type ProviderKind,
  type Random,
  type Responder,
  type SecretResolver,
  type Snapshot,
  type UpstreamClient,
} from "@dragoman/core";
import { BUILT_IN_DIALECTS, BUILT_IN_KINDS } from "@dragoman/dialects";

import { KeyRing } from "./keys/index.ts";
import { createNodeRandom, NODE_CLOCK, NODE_HASHER, SILENT_LOGGER } from "./ports/index.ts";
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
  readonly limits?: Partial<EngineLimits>;
  readonly breaker?: BreakerLimits;
}

/** Events of a gateway. Handlers run synchronously after an exchange and must not throw. */
export interface GatewayEvents {
  outcome: (outcome: ExchangeOutcome) => void;
}

/** A running gateway. */
export interface Gateway {
  /** Takes one request; front ends call it. */
  handle(request: ClientRequest, responder: Responder, options?: HandleOptions): void;
  /** The plan of a request with every verdict; sends nothing. */
  explain(request: ExplainRequest): Explanation;
  /** Compiles and swaps a configuration. Throws `config_invalid` with all problems and keeps the old one. */
  reconfigure(config: GatewayConfig): void;
  /** Encodes a front end's refusal in the envelope that the path and headers point to. */
  encodeRefusal(status: number, code: string, message: string, path: string, headers: HeaderList): EncodedRefusal;
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
      ...(options.resolveSecret === undefined ? {} : { resolveSecret: options.resolveSecret }),
    });
    if (result.ok) return result.snapshot;
    throw new GatewayError("config_invalid", `The configuration is invalid:\n${describeProblems(result.problems)}`, {
      details: { problems: result.problems },
    });
  };
  const events = new EventEmitter<GatewayEvents>();
  const engine = new GatewayEngine({
    registry,
    snapshot: compile(config, 1),
    ports: {
      clock: options.clock ?? NODE_CLOCK,
      random: options.random ?? createNodeRandom(),
      hasher: NODE_HASHER,
      logger: options.logger ?? SILENT_LOGGER,
      upstream: options.upstream ?? createWireClient(),
      admission: options.admission ?? FREE_ADMISSION,
    },
    makeAuthenticator: (snapshot) => options.authenticator ?? new KeyRing(snapshot.keys),
    observers: [{ onOutcome: (outcome) => events.emit("outcome", outcome) }],
    userAgent: `dragoman/${VERSION}`,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.breaker === undefined ? {} : { breaker: options.breaker }),
  });
  return {
    handle: (request, responder, handleOptions) => engine.handle(request, responder, handleOptions),
    explain: (request) => engine.explain(request),
    reconfigure: (next) => engine.swap(compile(next, engine.generation + 1)),
    encodeRefusal: (status, code, message, path, headers) => engine.encodeRefusal(status, code, message, path, headers),
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

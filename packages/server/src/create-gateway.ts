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
import type { LedgerAlert, LedgerEntry, LedgerStore, Scope, Standing } from "@dragoman/ledger";

import { checkConfig } from "./config-file/check-config.ts";
import { completePrincipal } from "./embedding/index.ts";
import type { EmbeddedGateway, HostPrincipal } from "./embedding/index.ts";
import { createInProcessFetch } from "./fetch/in-process-fetch.ts";
import { AddressThrottle, KeyRing } from "./keys/index.ts";
import { openGatewayLedger, type GatewayLedger } from "./ledger/gateway-ledger.ts";
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
  /** In the place of the ledger, whose options below then mean nothing. */
  readonly admission?: Admission;
  /**
   * A folder for the journal and the SQLite store, which belongs to this gateway alone; over `ledger.dataDir`. Without either the
   * ledger is in memory and writes no file.
   */
  readonly dataDir?: string;
  /** Used when neither `dataDir` nor the configuration names a folder. */
  readonly defaultDataDir?: string;
  /** Called for every entry of the ledger, in the turn in which its attempt was settled. Must not throw. */
  readonly onEntry?: (entry: LedgerEntry) => void;
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
  /** A share of a limit was reached (`soft`), or a limit refused a call (`hard`); each once per window. */
  alert: (alert: LedgerAlert) => void;
}

/** A gateway's ledger as its host sees it. */
export interface LedgerView {
  /** Entries, keys and owners. In memory, where the gateway has no data folder, it keeps no entries: `onEntry` hears of them. */
  readonly store: LedgerStore;
  /** Spent and held of one scope's limits; empty where there are none. */
  standings(scope: Scope, id: string): readonly Standing[];
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
  /** Entries, keys and owners, and what limits leave; null when the host brought its own admission. */
  readonly ledger: LedgerView | null;
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
 * Makes a gateway from a configuration. Rejects with `config_invalid` (`details.problems` holds every problem with its path) when it
 * does not compile, or when another process uses its data folder.
 */
export async function createGateway(config: GatewayConfig, options: CreateGatewayOptions = {}): Promise<Gateway> {
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
  const clock = options.clock ?? createNodeClock();
  const random = options.random ?? createNodeRandom();
  const snapshot = compile(config, 1);
  let stopServing = (): void => undefined;
  const ledger =
    options.admission === undefined
      ? await openGatewayLedger({
          snapshot,
          host: { dataDir: options.dataDir ?? null, defaultDataDir: options.defaultDataDir ?? null },
          clock,
          random,
          logger,
          onEntry: options.onEntry ?? null,
          onAlert: (alert) => void events.emit("alert", alert),
          onFolderLost: () => stopServing(),
        })
      : null;
  const upstream = options.upstream ?? createWireClient();
  const engine = new GatewayEngine({
    registry,
    snapshot,
    ports: {
      clock,
      random,
      hasher: NODE_HASHER,
      logger,
      upstream: ledger?.gate(upstream) ?? upstream,
      admission: options.admission ?? ledger?.admission ?? FREE_ADMISSION,
    },
    makeAuthenticator: (generation) =>
      options.authenticator ?? ledger?.authenticator(generation) ?? new KeyRing(generation.keys),
    authThrottle: new AddressThrottle(),
    observers: [{ onOutcome: (outcome) => events.emit("outcome", outcome) }],
    userAgent: `dragoman/${VERSION}`,
    ...(ledger === null ? {} : { readiness: () => ledger.readiness() }),
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.breaker === undefined ? {} : { breaker: options.breaker }),
  });
  stopServing = () => engine.drain();
  const embedded: EmbeddedGateway = {
    handle: (request, responder, handleOptions) => engine.handle(request, responder, handleOptions),
    encodeRefusal: (status, code, message, path, headers) => engine.encodeRefusal(status, code, message, path, headers),
    serves: (method, path) => engine.serves(method, path),
    pool: options.pool ?? new BodyPool({ maxPooledBytes: POOLED_BODY_BYTES }),
    logger,
  };
  let closing: Promise<void> | null = null;
  return {
    ...embedded,
    ledger,
    as: (principal) => ({ fetch: createInProcessFetch(embedded, completePrincipal(principal)) }),
    explain: (request) => engine.explain(request),
    reconfigure: (next) => {
      const compiled = compile(next, engine.generation + 1);
      ledger?.use(compiled);
      engine.swap(compiled);
      events.emit("reconfigured", engine.generation);
    },
    close: () => (closing ??= closeInOrder(engine, ledger)),
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

/** Entries come until the last exchange has ended. */
async function closeInOrder(engine: GatewayEngine, ledger: GatewayLedger | null): Promise<void> {
  await engine.close();
  await ledger?.close();
}

/**
 * The engine behind its ports: takes client requests, runs exchanges, explains plans, changes configuration, closes. It opens
 * nothing and reads nothing itself.
 */
import { GenerationHolder, type Snapshot } from "../config/index.ts";
import type { DialectRegistry, HeaderList } from "../dialect/index.ts";
import { GatewayError } from "../errors/index.ts";
import type { NeutralError } from "../ir/index.ts";
import { ScannerPool } from "../json/index.ts";
import { DEFAULT_BACKOFF, HealthBoard, RetryBudget, type BackoffLimits, type BreakerLimits } from "../route/index.ts";
import { buildJsonHeaders } from "./answer-headers.ts";
import { HookRunner } from "./hook-runner.ts";
import type { Hook } from "./hook.ts";
import { limitsOf, type Engine } from "./engine.ts";
import { Exchange } from "./exchange.ts";
import { explainRequest, type ExplainRequest, type Explanation } from "./explain.ts";
import {
  internalFailure,
  invalidRequest,
  shuttingDown,
  unauthorized,
  unknownPath,
  unknownRoute,
  wrongMethod,
} from "./failures.ts";
import { DEFAULT_ENGINE_LIMITS, type EngineLimits } from "./limits.ts";
import { answerLocalRoute, isLocalRoute, type PartsReadiness } from "./local-routes.ts";
import type { Observer } from "./outcome.ts";
import { runExchange } from "./pipeline.ts";
import { RunningList } from "./running-exchanges.ts";
import type { Authenticator, AuthThrottle, ClientRequest, Ports, Principal, Responder } from "./ports.ts";
import { TaskTracker } from "./task-tracker.ts";

/** What an engine is made from. */
export interface GatewayEngineOptions {
  readonly registry: DialectRegistry;
  readonly snapshot: Snapshot;
  readonly ports: Ports;
  /** Makes the look-up of client keys for a snapshot; called once per generation. */
  readonly makeAuthenticator: (snapshot: Snapshot) => Authenticator;
  /** Default: failed authentications are not counted. */
  readonly authThrottle?: AuthThrottle;
  readonly observers?: readonly Observer[];
  /** Guardrails, policies and observers of the host, called in this order. */
  readonly hooks?: readonly Hook[];
  readonly limits?: Partial<EngineLimits>;
  readonly breaker?: BreakerLimits;
  readonly backoff?: BackoffLimits;
  readonly userAgent: string;
  /** Asked by every readiness probe. Default: nothing stands against serving. */
  readonly readiness?: () => PartsReadiness;
}

/** What an embedding host says about a request that it hands over. */
export interface HandleOptions {
  /** Who is calling; without it the request's credential decides. Null: the host knows nobody, which is a 401. */
  readonly principal?: Principal | null;
  /** Called once when nothing of the exchange runs any more, also when it outlived its client. Must not throw. */
  readonly onEnd?: () => void;
}

/** A refusal that a front end gives before there is an exchange. */
export interface EncodedRefusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** One gateway. A request keeps the configuration that it began with; once draining or closed, new requests are refused. */
export class GatewayEngine {
  readonly #engine: Engine;
  readonly #authenticators = new Map<Snapshot, Authenticator>();
  readonly #limitsBySnapshot = new WeakMap<Snapshot, EngineLimits>();
  #state: "open" | "draining" | "closed" = "open";
  readonly #running = new RunningList<Exchange>();
  #hasFailedTask = false;
  readonly #readiness: () => PartsReadiness;

  constructor(options: GatewayEngineOptions) {
    const { ports } = options;
    this.#readiness = options.readiness ?? (() => ALL_READY);
    const startedMs = ports.clock.nowMs();
    const hashSeed = Math.floor(ports.random.next() * 0x1_0000_0000);
    this.#engine = {
      registry: options.registry,
      ports,
      generations: new GenerationHolder(options.snapshot, (retired) => this.#authenticators.delete(retired)),
      authenticatorOf: (snapshot) => this.#authenticator(snapshot, options.makeAuthenticator),
      authThrottle: options.authThrottle ?? null,
      health: new HealthBoard(options.breaker),
      retryBudget: new RetryBudget(startedMs),
      backoff: options.backoff ?? DEFAULT_BACKOFF,
      limits: { ...DEFAULT_ENGINE_LIMITS, ...options.limits },
      scanners: new ScannerPool({ hashSeed }),
      answerScanners: new ScannerPool({ hashSeed, duplicates: "last-wins" }),
      tracker: new TaskTracker((error, name) => {
        this.#hasFailedTask = true;
        ports.logger.error(
          { task: name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
          "a task of the gateway failed",
        );
      }),
      hooks: new HookRunner(options.hooks ?? [], ports.clock, ports.logger),
      observers: options.observers ?? [],
      startedMs,
      userAgent: options.userAgent,
    };
  }

  /** Exchanges and other work that has not ended. */
  get inFlight(): number {
    return this.#engine.tracker.size;
  }

  /** Whether a task ever failed inside the gateway; a defect if so. */
  get hasFailedTask(): boolean {
    return this.#hasFailedTask;
  }

  get generation(): number {
    return this.#engine.generations.current().generation;
  }

  get snapshot(): Snapshot {
    return this.#engine.generations.current();
  }

  /** Takes one client request. Returns at once; everything that follows goes through the responder. */
  handle(request: ClientRequest, responder: Responder, options: HandleOptions = {}): void {
    if (isLocalRoute(request.method, request.path)) {
      const parts = this.#readiness();
      answerLocalRoute(request, responder, { isOpen: this.#state === "open", generation: this.generation, parts });
      options.onEnd?.();
      return;
    }
    const { registry, generations, tracker } = this.#engine;
    const routed = registry.route(request.method, request.path, request.query, request.headers);
    const snapshot = generations.acquire();
    const exchange = new Exchange({
      engine: this.#engine,
      snapshot,
      limits: this.#limits(snapshot),
      client: routed.client,
      route: routed.found ? routed.match : null,
      request,
      responder,
      principal: options.principal ?? null,
    });
    let refusal: NeutralError | null = null;
    if (this.#state !== "open") refusal = shuttingDown();
    else if (!routed.found) refusal = routed.allow === null ? unknownRoute(request.method) : wrongMethod(routed.allow);
    else if (options.principal === null) refusal = unauthorized("The request does not say who is calling.");
    this.#running.add(exchange);
    tracker.add("exchange", this.#run(exchange, refusal, options.onEnd));
  }

  /** Whether a request to this raw path is answered with anything but a 404; also true where only another method is served. */
  serves(method: string, path: string): boolean {
    if (isLocalRoute(method, path)) return true;
    const routed = this.#engine.registry.route(method, path, "", NO_HEADERS);
    return routed.found || routed.allow !== null;
  }

  /**
   * Encodes a refusal of a front end (a malformed head, a timeout) in the envelope of the dialect that the path and headers
   * point to.
   */
  encodeRefusal(status: number, code: string, message: string, path: string, headers: HeaderList): EncodedRefusal {
    const { registry, ports } = this.#engine;
    const client = registry.claimant(path, headers);
    const requestId = `req_${ports.random.id(24)}`;
    const error: NeutralError = refusalError(status, code, message);
    const encoded = client.encodeError(error, { requestId, hasFallenBack: false });
    const common = buildJsonHeaders({
      client,
      requestId,
      generation: this.generation,
      upstreamRequestId: null,
      rateLimits: null,
      debug: null,
    });
    return { status, headers: common, body: encoded.body };
  }

  /** The plan of a request with every verdict; sends nothing. */
  explain(request: ExplainRequest): Explanation {
    return explainRequest(this.#engine, this.#engine.generations.current(), request);
  }

  /** Makes a compiled configuration the current one. Requests in flight keep theirs. */
  swap(snapshot: Snapshot): void {
    if (this.#state === "closed")
      throw new GatewayError("gateway_closed", "The gateway is closed; it takes no new configuration.");
    this.#engine.generations.swap(snapshot);
    this.#engine.health.retainDeployments((id) => snapshot.deployments.has(id));
  }

  /** From now on new requests are refused and readiness is off; running exchanges go on. */
  drain(): void {
    if (this.#state === "open") this.#state = "draining";
  }

  /** Ends what still runs: clients that wait get an error, and upstream calls whose client has left are cut. For shutdowns. */
  cutShort(): void {
    for (const exchange of this.#running.members()) exchange.expire(shuttingDown());
  }

  /** Drains and resolves when nothing runs any more. The upstream client is closed last. */
  async close(): Promise<void> {
    this.drain();
    await this.#engine.tracker.idle();
    if (this.#state === "closed") return;
    this.#state = "closed";
    await this.#engine.ports.upstream.close();
  }

  async #run(exchange: Exchange, refusal: NeutralError | null, onEnd?: () => void): Promise<void> {
    try {
      await runExchange(exchange, refusal);
    } finally {
      this.#running.remove(exchange);
      this.#engine.generations.release(exchange.snapshot);
      onEnd?.();
    }
  }

  /** Computed once per generation. */
  #limits(snapshot: Snapshot): EngineLimits {
    let limits = this.#limitsBySnapshot.get(snapshot);
    if (limits === undefined) {
      limits = limitsOf(this.#engine, snapshot);
      this.#limitsBySnapshot.set(snapshot, limits);
    }
    return limits;
  }

  #authenticator(snapshot: Snapshot, make: (snapshot: Snapshot) => Authenticator): Authenticator {
    let authenticator = this.#authenticators.get(snapshot);
    if (authenticator === undefined) {
      authenticator = make(snapshot);
      this.#authenticators.set(snapshot, authenticator);
    }
    return authenticator;
  }
}

const NO_HEADERS: HeaderList = [];

const ALL_READY: PartsReadiness = { isReady: true, facts: {} };

/** A front end knows statuses; the class decides what a dialect's envelope calls the error. */
function refusalError(status: number, code: string, message: string): NeutralError {
  if (status === 500) return internalFailure();
  return status === 404 ? unknownPath(message) : invalidRequest(message, code);
}

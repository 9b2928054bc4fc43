/**
 * One client request and all that happens for it, from the first byte to its one ending. Owned by the gateway, not by the
 * socket: it outlives a client that leaves. Every field is set in the constructor, `null` for "not yet".
 */
import type { Snapshot } from "../config/index.ts";
import type { AnswerContext, ClientDialect, HeaderList, Issue, RequestHead, RouteMatch } from "../dialect/index.ts";
import type { NeutralError, NeutralRequest, Operation } from "../ir/index.ts";
import type { Document, ScannerPool } from "../json/index.ts";
import type { PlanCandidate } from "../route/index.ts";
import { announcesBody } from "./announced-body.ts";
import type { AttemptHost, AttemptView } from "./attempt-host.ts";
import type { Attempt } from "./attempt.ts";
import { ClientAnswers, type AnswerSource } from "./client-answers.ts";
import { Deadline, Deadlines, type DeadlineName } from "./deadlines.ts";
import { Delivery, type DeliveryHost } from "./delivery.ts";
import type { Engine } from "./engine.ts";
import { EventTaps } from "./event-taps.ts";
import type { ExchangeTiming } from "./exchange-timing.ts";
import type { HookView } from "./hook.ts";
import { upstreamTimeout } from "./failures.ts";
import type { EngineLimits } from "./limits.ts";
import type { ExchangeOutcome } from "./outcome.ts";
import type {
  BodyBuffer,
  ClientRequest,
  Clock,
  Principal,
  Responder,
  Settlement,
  Ticket,
  UpstreamClient,
} from "./ports.ts";
import { RequestBody } from "./request-body.ts";

/** What an exchange starts from. */
export interface ExchangeStart {
  readonly engine: Engine;
  readonly snapshot: Snapshot;
  readonly limits: EngineLimits;
  readonly client: ClientDialect;
  readonly route: RouteMatch | null;
  readonly request: ClientRequest;
  readonly responder: Responder;
  /** Set when the embedding host says who is calling. */
  readonly principal: Principal | null;
}

const NO_HEAD: RequestHead = { model: "", modelNode: -1, stream: false, facts: null };

export class Exchange implements AttemptHost, DeliveryHost, AnswerSource {
  readonly requestId: string;
  readonly startedMs: number;
  readonly engine: Engine;
  readonly snapshot: Snapshot;
  readonly limits: EngineLimits;
  readonly client: ClientDialect;
  readonly route: RouteMatch | null;
  readonly request: ClientRequest;
  readonly delivery: Delivery;
  readonly deadlines: Deadlines;
  readonly requestBody: RequestBody;
  readonly answers: ClientAnswers;
  principal: Principal | null;
  ticket: Ticket | null = null;
  /** Whom a trusted caller names as its own user. */
  endUser: string | null = null;
  /** Kept for callers that see the diagnostic headers. */
  timing: ExchangeTiming | null = null;
  head: RequestHead = NO_HEAD;
  neutral: NeutralRequest | null = null;
  neutralError: NeutralError | null = null;
  attempt: Attempt | null = null;
  candidate: PlanCandidate | null = null;
  readonly settlements: Settlement[] = [];
  issues: readonly Issue[] = [];
  deploymentsTried = 0;
  attemptsStarted = 0;
  hasUnreadBody: boolean;
  /** Why no time is left for this exchange; null while there is. */
  expiry: NeutralError | null = null;
  /** Place in the gateway's list of running exchanges. */
  runningSlot = -1;
  #isUnderPressure = false;
  #isClientReleased = false;
  #wakeUp: (() => void) | null = null;
  readonly #counts: Record<string, number> = {};
  readonly #delivered: Promise<void>;
  #resolveDelivered: (() => void) | null = null;

  constructor(start: ExchangeStart) {
    const { engine } = start;
    this.engine = engine;
    this.snapshot = start.snapshot;
    this.limits = start.limits;
    this.client = start.client;
    this.route = start.route;
    this.request = start.request;
    this.principal = start.principal;
    this.requestId = `req_${engine.ports.random.id(24)}`;
    this.startedMs = engine.ports.clock.nowMs();
    this.hasUnreadBody = announcesBody(start.request);
    this.requestBody = new RequestBody(engine.scanners);
    this.answers = new ClientAnswers(this);
    this.deadlines = new Deadlines(engine.ports.clock, (name) => this.#onDue(name));
    this.#delivered = new Promise((resolve) => {
      this.#resolveDelivered = resolve;
    });
    this.delivery = new Delivery(start.responder, start.limits.maxQueuedBytes, this);
  }

  // --- shared with attempts

  get clock(): Clock {
    return this.engine.ports.clock;
  }
  get upstream(): UpstreamClient {
    return this.engine.ports.upstream;
  }
  get answerScanners(): ScannerPool {
    return this.engine.answerScanners;
  }
  get userAgent(): string {
    return this.engine.userAgent;
  }
  get clientHeaders(): HeaderList {
    return this.request.headers;
  }
  get keepAliveMs(): number {
    return this.limits.keepAliveMs;
  }
  /** Whether the caller sees diagnostic headers. Known once it is known who calls. */
  get isDebug(): boolean {
    const { debugHeaders } = this.snapshot.server;
    return debugHeaders === "on" || (debugHeaders === "key" && this.principal?.debug === true);
  }
  /** The client is to be answered with a stream. */
  get isStream(): boolean {
    return this.head.stream && this.operation === "generate";
  }
  get isClientGone(): boolean {
    return this.delivery.isGone;
  }
  get operation(): Operation {
    const operation = this.route?.operation;
    return operation === "count-tokens" || operation === "embed" ? operation : "generate";
  }
  get body(): BodyBuffer {
    return this.requestBody.buffer;
  }
  get document(): Document | null {
    return this.requestBody.document;
  }
  get upstreamRequestId(): string | null {
    return this.attempt?.upstreamRequestId ?? null;
  }

  /** No attempt can follow. */
  onCommit(): void {
    this.neutral = null;
    this.requestBody.release();
  }

  answerContext(candidate: PlanCandidate): AnswerContext {
    return {
      requestId: this.requestId,
      createdSeconds: Math.floor(this.startedMs / 1000),
      makeId: (prefix) => prefix + this.engine.ports.random.id(24),
      facts: this.head.facts,
      upstreamModel: candidate.deployment.model,
      toolMap: candidate.encoded.toolMap,
      options: candidate.deployment.options,
      count: (name) => this.count(name),
    };
  }

  count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  openAnswer(attempt: AttemptView, isStream: boolean): void {
    this.answers.open(isStream, attempt.upstreamRequestId);
    this.deadlines.clear(Deadline.commitAfter);
    if (isStream) this.deadlines.set(Deadline.keepAlive, this.keepAliveMs);
  }

  answerWhole(attempt: AttemptView, body: Uint8Array): void {
    this.answers.whole(body, attempt.upstreamRequestId);
  }

  /** What hooks are told of this exchange. */
  hookView(): HookView | null {
    if (this.principal === null) return null;
    return {
      requestId: this.requestId,
      principal: this.principal,
      model: this.head.model,
      clientDialect: this.client.id,
      operation: this.operation,
      isStream: this.head.stream,
    };
  }

  openTaps(): EventTaps | null {
    const view = this.engine.hooks.hasEventHooks ? this.hookView() : null;
    return view === null ? null : EventTaps.open(this.engine.hooks, view);
  }

  approveCommit(attempt: AttemptView): Promise<NeutralError | null> | null {
    const view = this.engine.hooks.hasCommitHooks ? this.hookView() : null;
    if (view === null) return null;
    const { deployment } = attempt.candidate;
    return this.engine.hooks
      .runCommitHooks({ ...view, deploymentId: deployment.id, usage: attempt.usage })
      .then((decision) => (decision.kind === "continue" ? null : decision.error));
  }

  /** Puts a hook's body in the place of the client's; everything that follows reads the new one. */
  replaceBody(body: BodyBuffer): void {
    this.neutral = null;
    this.neutralError = null;
    this.requestBody.keep(body);
  }

  /** Something threw that should not have: a defect, for the log. */
  reportDefect(thrown: unknown): void {
    this.engine.ports.logger.error(
      { requestId: this.requestId, error: describeThrown(thrown) },
      "an exchange failed inside the gateway",
    );
  }

  // --- the client's side

  onPressure(isHigh: boolean): void {
    this.#isUnderPressure = isHigh;
    if (isHigh) this.deadlines.set(Deadline.stall, this.limits.clientStallMs);
    else if (!this.delivery.isEnding) this.deadlines.clear(Deadline.stall);
    this.attempt?.onPressure(isHigh);
  }

  onProgress(): void {
    if (this.deadlines.isSet(Deadline.stall)) this.deadlines.set(Deadline.stall, this.limits.clientStallMs);
  }

  onGone(): void {
    this.#releaseClient();
    this.deadlines.clear(Deadline.stall);
    this.deadlines.clear(Deadline.keepAlive);
    this.#resolveDelivered?.();
    this.#wakeUp?.();
    this.attempt?.onClientGone();
  }

  onDelivered(): void {
    this.#releaseClient();
    this.deadlines.clear(Deadline.stall);
    this.deadlines.clear(Deadline.keepAlive);
    this.#resolveDelivered?.();
  }

  /**
   * The loop of attempts settles as soon as it hears the result. It may be told second, when an upstream answers while the call is
   * still being sent, so the seal comes one step after the result.
   */
  sealing(): Promise<boolean> | null {
    const seal = this.ticket?.seal ?? null;
    return seal === null || this.attempt === null ? null : this.attempt.result.then(() => undefined).then(seal);
  }

  /** The client has its answer or is gone, and holds no place any more; what the upstream still does goes on without it. */
  #releaseClient(): void {
    if (this.#isClientReleased) return;
    this.#isClientReleased = true;
    this.ticket?.releaseClient();
  }

  /** Resolves when the client has its answer, or is gone. */
  delivered(): Promise<void> {
    return this.#delivered;
  }

  /** Waits between attempts; ends early when the client leaves or the exchange's time is over. */
  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.clock.schedule(delayMs, () => this.#wakeUp?.());
      this.#wakeUp = () => {
        this.#wakeUp = null;
        timer.cancel();
        resolve();
      };
    });
  }

  /** No time is left: a running attempt is broken off, none follows, and a client that waits gets an error. */
  expire(reason: NeutralError): void {
    this.expiry = reason;
    this.#wakeUp?.();
    this.attempt?.onTimeout(reason);
  }

  /** Gives everything back. Called once, last. */
  close(): ExchangeOutcome {
    this.deadlines.stop();
    this.onCommit();
    const last = this.settlements.at(-1) ?? null;
    return {
      requestId: this.requestId,
      generation: this.snapshot.generation,
      clientDialect: this.client.id,
      operation: this.route?.operation ?? "none",
      principalId: this.principal?.id ?? null,
      model: this.head.model === "" ? null : this.head.model,
      isStream: this.isStream,
      status: this.answers.status,
      error: this.answers.error,
      isClientGone: this.isClientGone,
      deploymentId: this.candidate?.deployment.id ?? null,
      attempts: this.settlements,
      usage: last?.usage ?? null,
      stopWord: this.attempt?.stopWord ?? null,
      issues: this.issues,
      startedMs: this.startedMs,
      endedMs: this.clock.nowMs(),
      counts: this.#counts,
    };
  }

  #onDue(name: DeadlineName): void {
    switch (name) {
      case Deadline.total:
        this.expire(upstreamTimeout(true));
        return;
      case Deadline.life:
        this.attempt?.onTimeout(upstreamTimeout(false));
        return;
      case Deadline.keepAlive:
        if (!this.#isUnderPressure) this.delivery.push(this.client.keepAlive);
        this.deadlines.set(Deadline.keepAlive, this.keepAliveMs);
        return;
      case Deadline.usageGrace:
        this.attempt?.onUsageGrace();
        return;
      case Deadline.stall:
        this.count("client_stalled");
        this.delivery.cutOff();
        return;
      case Deadline.drain:
        this.attempt?.onDrainOver();
        return;
      case Deadline.commitAfter:
        this.#openWaiting();
        return;
    }
  }

  /** The client gets its status and keep-alives while nothing has come yet; falling back stays possible. */
  #openWaiting(): void {
    if (!this.delivery.isIdle) return;
    this.answers.open(true, null);
    this.delivery.push(this.client.keepAlive);
    this.deadlines.set(Deadline.keepAlive, this.keepAliveMs);
  }
}

/** Stack for the log: code positions and messages of our own errors, never body content. */
const describeThrown = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

/**
 * One upstream call of an exchange, from sending to its single settlement.
 *
 * sending → reading → settled. Before the commit everything for the client is held in the gate, and a failure leaves no trace;
 * after it this attempt is the answer. `settled` is reached exactly once; the connection may end a moment later (`trailing`).
 */
import type { DecodeContext, HeaderList } from "../dialect/index.ts";
import type { Credential } from "../config/index.ts";
import type { NeutralError, Usage } from "../ir/index.ts";
import type { PlanCandidate } from "../route/index.ts";
import { CommitGate } from "../stream/index.ts";
import { ErrorReader, type ErrorAnswer } from "./answer-error.ts";
import { readUpstreamRequestId } from "./answer-headers.ts";
import type { AnswerOutlet, AnswerReader } from "./answer-reader.ts";
import { TranslateStreamReader } from "./answer-translate-stream.ts";
import type { AttemptHost, AttemptResult, AttemptView } from "./attempt-host.ts";
import { chooseReader } from "./choose-reader.ts";
import { CommitApproval } from "./commit-approval.ts";
import { Deadline } from "./deadlines.ts";
import { brokenAnswer, internalFailure, transportFailure } from "./failures.ts";
import { TapFailure } from "./event-taps.ts";
import { hookFailure } from "./hook-runner.ts";
import type { Settlement, UpstreamFailure, UpstreamRequest, UpstreamSink } from "./ports.ts";
import { settlementRule } from "./settlement.ts";
import { TransportHandle } from "./transport-handle.ts";
import { buildUpstreamHeaders } from "./upstream-headers.ts";

export class Attempt implements UpstreamSink, AnswerOutlet, AttemptView {
  readonly candidate: PlanCandidate;
  upstreamRequestId: string | null = null;
  usage: Usage | null = null;
  stopWord: string | null = null;
  hasContent = false;
  contentTokens: number | null = null;
  readonly #host: AttemptHost;
  readonly #credential: Credential | null;
  readonly #gate: CommitGate;
  readonly #resolve: (result: AttemptResult) => void;
  /** Resolves once, when the attempt is settled for the exchange. */
  readonly result: Promise<AttemptResult>;
  readonly #startedMs: number;
  #endedMs: number;
  #state: "sending" | "reading" | "settled" = "sending";
  #reader: AnswerReader | null = null;
  #isCommitted = false;
  #isStream = false;
  #isFullySent = false;
  #isOwnAbort = false;
  #isComplete = false;
  #isAbandoned = false;
  readonly #transport: TransportHandle;
  readonly #approval: CommitApproval = new CommitApproval();
  #drainBytes: number = Number.POSITIVE_INFINITY;

  constructor(host: AttemptHost, candidate: PlanCandidate, credential: Credential | null) {
    this.#host = host;
    this.candidate = candidate;
    this.#credential = credential;
    this.#startedMs = host.clock.nowMs();
    this.#endedMs = this.#startedMs;
    this.#gate = new CommitGate(host.limits.maxGateBytes);
    this.#transport = new TransportHandle(host.clock);
    let resolve!: (result: AttemptResult) => void;
    this.result = new Promise((settle) => {
      resolve = settle;
    });
    this.#resolve = resolve;
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** Sends the call. The body stays retained until the transport has let go of it. */
  start(): void {
    const { deployment, encoded } = this.candidate;
    this.#isStream = this.#host.head.stream && this.#host.operation === "generate";
    if (this.#isStream) this.#expectLife();
    const request: UpstreamRequest = {
      origin: deployment.provider.origin,
      method: "POST",
      path: deployment.provider.basePath + encoded.path,
      headers: buildUpstreamHeaders({
        deployment,
        credential: this.#credential,
        dialectHeaders: encoded.headers,
        clientHeaders: this.#host.clientHeaders,
        isStream: this.#isStream,
        userAgent: this.#host.userAgent,
      }),
      body: encoded.body.parts,
      bodyLength: encoded.body.byteLength,
      connectTimeoutMs: deployment.timeouts.connectMs,
    };
    this.#host.body.retain();
    this.#host.timing?.markSend();
    try {
      const call = this.#host.upstream.send(request, this);
      this.#transport.begin(call, this.#state === "settled");
    } catch (thrown) {
      // What could not be written was never sent: no transport will report on it.
      this.#host.body.release();
      this.#failByDefect(thrown);
    }
  }

  // --- what the transport reports

  onSent(): void {
    this.#isFullySent = true;
  }

  onReleased(): void {
    this.#host.body.release();
  }

  onHead(status: number, headers: HeaderList): void {
    if (this.#state === "settled") return;
    this.#state = "reading";
    this.#host.timing?.markAnswer();
    this.upstreamRequestId = readUpstreamRequestId(headers);
    this.#touchLife();
    try {
      this.#reader = this.#chooseReader(status, headers);
    } catch (thrown) {
      this.#onThrown(thrown);
    }
  }

  onData(chunk: Uint8Array): void {
    if (this.#state === "settled") return;
    this.#touchLife();
    if (this.#host.isClientGone) {
      this.#drainBytes -= chunk.byteLength;
      if (this.#drainBytes < 0) {
        this.#abandon();
        return;
      }
    }
    const reader = this.#reader;
    if (reader === null) return;
    try {
      reader.data(chunk);
    } catch (thrown) {
      this.#onThrown(thrown);
    }
    this.#expectUsage();
  }

  onEnd(): void {
    this.#transport.end();
    this.#endReader();
  }

  onFailure(failure: UpstreamFailure): void {
    this.#transport.end();
    if (this.#state !== "settled") this.#breakOff(transportFailure(failure));
  }

  // --- what a reader does with the answer

  write(bytes: Uint8Array): void {
    if (this.#state === "settled" || this.#approval.defer(() => this.write(bytes))) return;
    if (this.#isCommitted) {
      this.#host.delivery.push(bytes);
      // Only what the client sees is a sign of life for it: an upstream's pings may end here.
      if (this.#isStream && this.#host.delivery.isOpen)
        this.#host.deadlines.set(Deadline.keepAlive, this.#host.keepAliveMs);
    } else if (!this.#gate.hold(bytes))
      this.#breakOff(brokenAnswer("The provider's stream brings no content within the allowed size."));
  }

  commit(): void {
    if (this.#isCommitted || this.#state === "settled" || this.#approval.isPending) return;
    this.#whenApproved(() => this.#openGate());
  }

  #openGate(): void {
    this.#isCommitted = true;
    const held = this.#gate.open();
    this.#host.openAnswer(this, this.#isStream);
    for (const bytes of held) this.#host.delivery.push(bytes);
    this.#host.onCommit();
    this.#touchLife();
  }

  whole(body: Uint8Array): void {
    if (this.#state !== "settled") this.#whenApproved(() => this.#deliverWhole(body));
  }

  #deliverWhole(body: Uint8Array): void {
    this.#isCommitted = true;
    this.#isComplete = true;
    this.#host.onCommit();
    this.#host.answerWhole(this, body);
    this.#settle({ kind: "answered" });
  }

  complete(): void {
    // A reader goes on to the end of its chunk also when a write of it was too much and has failed the attempt.
    if (this.#state === "settled" || this.#approval.defer(() => this.complete())) return;
    this.#isComplete = true;
    this.#host.delivery.end();
    this.#settle({ kind: "answered" });
  }

  fail(error: NeutralError, forwarded: boolean): void {
    if (this.#state === "settled" || this.#approval.defer(() => this.fail(error, forwarded))) return;
    if (!this.#isCommitted) {
      this.#gate.discard();
      this.#settle({ kind: "failed", error, answer: null });
      this.#transport.cancel();
      return;
    }
    this.#settle({ kind: "broken", error });
    this.#transport.cancel();
    if (!forwarded) this.#tellClient(error);
    this.#host.delivery.end();
  }

  /**
   * Lets the commit hooks decide before the client sees anything. Without hooks that is at once; with them the upstream is paused,
   * and what its reader still does with the rest of a read waits in order until they have decided.
   */
  #whenApproved(commit: () => void): void {
    const approval = this.#host.approveCommit(this);
    if (approval === null) {
      commit();
      return;
    }
    this.#transport.holdBack();
    void this.#approval.decide(approval, (error, deferred) => this.#onApproval(error, [commit, ...deferred]));
  }

  #onApproval(error: NeutralError | null, actions: readonly (() => void)[]): void {
    if (this.#state === "settled") return;
    if (error !== null) {
      this.#isOwnAbort = true;
      this.fail(error, false);
      return;
    }
    try {
      for (const action of actions) action();
    } catch (thrown) {
      this.#onThrown(thrown);
    }
    this.#transport.goOn();
  }

  // --- what the exchange reports

  /** The client reads too slowly, or has caught up. While the upstream is paused its idle timer stands still. */
  onPressure(isHigh: boolean): void {
    if (this.#state === "settled") return;
    if (!isHigh) {
      this.#resume();
      return;
    }
    this.#transport.pause();
    this.#host.deadlines.clear(Deadline.life);
    this.#host.deadlines.clear(Deadline.usageGrace);
  }

  /** The client is gone: reads on for usage, or cancels, as the deployment says. */
  onClientGone(): void {
    if (this.#state === "settled") return;
    const { mode, maxMs, maxBytes } = this.candidate.deployment.disconnect;
    if (mode === "cancel" || maxMs === 0) {
      this.#abandon();
      return;
    }
    this.#drainBytes = maxBytes;
    this.#host.deadlines.set(Deadline.drain, maxMs);
    this.#resume();
  }

  /** Our own patience is over: with the upstream's silence, with the whole exchange, or because the gateway stops. */
  onTimeout(error: NeutralError): void {
    if (this.#state === "settled") return;
    this.#isOwnAbort = true;
    this.#breakOff(error);
  }

  /** A stopped stream brought no usage in time: it is over all the same. */
  onUsageGrace(): void {
    this.#endReader();
  }

  onDrainOver(): void {
    if (this.#state !== "settled") this.#abandon();
  }

  /** A settled answer whose connection is still open gets `delayMs` to end, so that it can be kept; then it is cut. */
  trail(delayMs: number, onOver: () => void): void {
    this.#transport.trail(delayMs, onOver);
  }

  get hasTrailingConnection(): boolean {
    return this.#transport.isOpen;
  }

  /** The attempt's line for the account. Only when it is settled, or was never started. */
  settlement(): Settlement {
    return {
      rule: settlementRule({
        isComplete: this.#isComplete,
        hasContent: this.hasContent,
        isClientGone: this.#host.isClientGone,
        isAbandoned: this.#isAbandoned,
        isOwnAbort: this.#isOwnAbort,
        isFullySent: this.#isFullySent,
        usage: this.usage,
      }),
      deploymentId: this.candidate.deployment.id,
      provider: this.candidate.deployment.provider.id,
      upstreamModel: this.candidate.deployment.model,
      upstreamRequestId: this.upstreamRequestId,
      usage: this.usage,
      deliveredBytes: this.#host.delivery.deliveredBytes,
      startedMs: this.#startedMs,
      endedMs: this.#endedMs,
      providerDialect: this.candidate.provider.id,
      contentTokens: this.contentTokens,
    };
  }

  #chooseReader(status: number, headers: HeaderList): AnswerReader | null {
    const { provider, deployment } = this.candidate;
    const { client, head, limits, operation } = this.#host;
    const profile = deployment.profiles.get(provider.id) ?? {};
    const context: DecodeContext = {
      profile,
      upstreamModel: deployment.model,
      headers,
      count: (name) => this.#host.count(name),
    };
    if (status >= 400)
      return new ErrorReader({
        status,
        headers,
        provider,
        context,
        maxBytes: limits.maxErrorBytes,
        nowMs: this.#host.clock.nowMs(),
        onError: (answer) => this.#failWithAnswer(answer),
      });
    const chosen = chooseReader(
      status,
      headers,
      { operation, isStream: this.#isStream, isForward: this.candidate.isForward },
      {
        outlet: this,
        client,
        provider,
        head,
        decodeContext: context,
        answerContext: this.#host.answerContext(this.candidate),
        limits,
        taps: operation === "generate" ? this.#host.openTaps() : null,
        secrets: deployment.provider.credentials.map((credential) => credential.secret),
        scanners: this.#host.answerScanners,
      },
    );
    if (chosen.ok) return chosen.reader;
    this.fail(chosen.error, false);
    return null;
  }

  #failWithAnswer(answer: ErrorAnswer): void {
    if (this.#state === "settled") return;
    this.#gate.discard();
    this.#settle({ kind: "failed", error: answer.error, answer });
    if (!answer.isWhole) this.#transport.cancel();
  }

  /** Ended from outside: the reader's encoder, where there is one, knows how its stream breaks. */
  #breakOff(error: NeutralError): void {
    try {
      if (this.#isCommitted && this.#reader instanceof TranslateStreamReader) {
        this.#reader.breakOff(error);
        this.fail(error, true);
      } else {
        this.fail(error, false);
      }
    } catch (thrown) {
      this.#failByDefect(thrown);
    }
  }

  #endReader(): void {
    if (this.#state === "settled") return;
    try {
      this.#reader?.end();
    } catch (thrown) {
      this.#onThrown(thrown);
    }
  }

  /** A hook that must not fail has failed, or dialect code threw. */
  #onThrown(thrown: unknown): void {
    this.#isOwnAbort = true;
    if (thrown instanceof TapFailure) this.#breakOff(hookFailure());
    else this.#failByDefect(thrown);
  }

  /**
   * Dialect code threw. That ends this attempt and goes no further: the callers are transports and timers. Its objects are in an
   * unknown state, so nothing more is asked of them.
   */
  #failByDefect(thrown: unknown): void {
    this.#host.reportDefect(thrown);
    this.#reader = null;
    if (this.#isCommitted) this.#host.delivery.abort();
    this.fail(internalFailure(), true);
  }

  /** After the commit: an error event in a stream; a transfer that is visibly broken otherwise. */
  #tellClient(error: NeutralError): void {
    if (this.#isStream)
      this.#host.delivery.push(this.#host.client.encodeStreamError(error, { requestId: this.#host.requestId }));
    else this.#host.delivery.abort();
  }

  #abandon(): void {
    this.#isAbandoned = true;
    this.#gate.discard();
    this.#settle({ kind: "abandoned" });
    this.#transport.cancel();
  }

  #resume(): void {
    this.#transport.resume();
    this.#touchLife();
    this.#expectUsage();
  }

  /** A stopped stream gets a bounded time for its usage, in which a pause does not count. */
  #expectUsage(): void {
    if (this.#state === "settled" || this.#transport.isPaused || this.#reader?.isStopped !== true) return;
    const { deadlines, limits } = this.#host;
    if (!deadlines.isSet(Deadline.usageGrace)) deadlines.set(Deadline.usageGrace, limits.usageGraceMs);
  }

  #settle(result: AttemptResult): void {
    if (this.#state === "settled") return;
    this.#state = "settled";
    this.#endedMs = this.#host.clock.nowMs();
    const { deadlines } = this.#host;
    deadlines.clear(Deadline.life);
    deadlines.clear(Deadline.usageGrace);
    deadlines.clear(Deadline.drain);
    this.#resolve(result);
  }

  #expectLife(): void {
    const { firstContentMs, idleMs } = this.candidate.deployment.timeouts;
    this.#host.deadlines.set(Deadline.life, (this.#isCommitted ? idleMs : firstContentMs) ?? Number.POSITIVE_INFINITY);
  }

  #touchLife(): void {
    if (!this.#isStream || this.#transport.isPaused || this.#state === "settled") return;
    this.#expectLife();
  }
}

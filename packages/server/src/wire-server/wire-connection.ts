// One client connection of the own front end: open → closing (its last answer is under way) → lingering → gone. One exchange at a time;
// the bytes of pipelined requests wait unparsed but for the next head, and the socket is paused when too many wait. Time is counted in
// the server's sweeps, so that a request costs no timer.

import type { Socket } from "node:net";

import type { ClientRequest, Responder } from "@dragoman/core";

import type { BodySource } from "../http/body-reader.ts";
import type { Schedule } from "../http/connection.ts";
import type { HttpLimits } from "../http/http-limits.ts";
import type { ConnectionProblem } from "../http/node-handler.ts";
import { encodeRawAnswer } from "../http/refusal.ts";
import type { EncodedRefusal, Refusal } from "../http/refusal.ts";
import { pathOf } from "../http/request-target.ts";
import { checkRequestHead } from "../http/strict-request.ts";
import type { RequestHead } from "../http/strict-request.ts";
import type { TurnWriter, TurnWrites } from "../wire/turn-writes.ts";
import { AnswerWriter } from "./answer-bytes.ts";
import { BodyIntake } from "./body-intake.ts";
import { ConnectionInput, HEAD_REFUSALS } from "./connection-input.ts";
import { LingeringClose } from "./lingering-close.ts";
import { WireExchange } from "./wire-exchange.ts";
import type { ExchangeHost } from "./wire-exchange.ts";

/** What a connection needs of its server. */
export interface ConnectionHost {
  readonly limits: HttpLimits;
  readonly pool: BodySource;
  readonly schedule: Schedule;
  readonly turnWrites: TurnWrites;
  readonly isDraining: boolean;
  readonly date: string;
  readonly keepAliveSeconds: number;
  /** Sweeps since the server started. */
  readonly tick: number;
  handle(request: ClientRequest, responder: Responder): void;
  /** Null when the encoder threw, which was reported. */
  encode(refusal: Refusal): EncodedRefusal | null;
  report(kind: ConnectionProblem["kind"], detail: string, cause: unknown): void;
}

/** State of one client connection. */
export class WireConnection implements ExchangeHost, TurnWriter {
  readonly writer: AnswerWriter = new AnswerWriter();
  readonly #host: ConnectionHost;
  readonly #socket: Socket;
  readonly #input: ConnectionInput = new ConnectionInput();
  #state: "open" | "closing" | "lingering" | "gone" = "open";
  #exchange: WireExchange | null = null;
  /** A pipelined request's head, read while the exchange before it runs. */
  #next: RequestHead | null = null;
  /** What made the input unusable: the answer under way is the last. */
  #broken: "malformed" | "timeout" | null = null;
  #hasEnded = false;
  #isPaused = false;
  #isFlushScheduled = false;
  #isStartScheduled = false;
  #listensToDrain = false;
  #hasServed = false;
  /** The sweep since which a head, or a next request, is waited for. */
  #waitingSince: number;
  #lingering: LingeringClose | null = null;

  constructor(host: ConnectionHost, socket: Socket) {
    this.#host = host;
    this.#socket = socket;
    this.#waitingSince = host.tick;
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    // A half-closed client cannot be told from one that left, so the end of its input ends the exchange too.
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error: Error) => this.#host.report("connection-error", error.message, error));
    socket.on("close", () => this.#onClose());
    socket.on("timeout", () => this.#onStalled());
  }

  // --- for the exchange

  get pool(): BodySource {
    return this.#host.pool;
  }
  get date(): string {
    return this.#host.date;
  }
  get keepAliveSeconds(): number {
    return this.#host.keepAliveSeconds;
  }
  get isLastAnswer(): boolean {
    return this.#host.isDraining || this.#broken !== null || this.#state !== "open";
  }
  get bufferedBytes(): number {
    return this.#socket.writableLength + this.writer.byteLength;
  }

  get remoteAddress(): string | null {
    return this.#socket.remoteAddress ?? null;
  }
  get hasWaitingInput(): boolean {
    return this.#input.byteLength > 0 || this.#next !== null;
  }
  get inputFailure(): "malformed" | "timeout" | "incomplete" | null {
    return this.#broken ?? (this.#hasEnded ? "incomplete" : null);
  }

  scheduleFlush(): boolean {
    if (this.bufferedBytes >= this.#host.limits.bufferBytes) return this.#send();
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      this.#host.turnWrites.add(this);
    }
    return true;
  }

  flush(): void {
    this.#send();
  }

  sendContinue(): void {
    // Behind an answer that is still to leave in this turn.
    this.writer.addText("HTTP/1.1 100 Continue\r\n\r\n");
    this.#send();
  }

  resumeBody(): void {
    this.#advance();
    this.#steerInput();
  }

  finish(exchange: WireExchange, closes: boolean): void {
    if (closes) {
      this.close();
      return;
    }
    this.scheduleFlush();
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#hasServed = true;
    this.#waitingSince = this.#host.tick;
    if (this.hasWaitingInput || this.#isPaused) this.#scheduleStart();
  }

  /** Destroys the connection at once. With `withReset` the client sees a reset even where it would take an end for a clean one. */
  destroy(options: { readonly withReset: boolean }): void {
    this.#stopAdmitting();
    const socket = this.#socket;
    // Only a plain TCP socket can be reset; a TLS client notices the missing close_notify.
    if (options.withReset && !("encrypted" in socket)) socket.resetAndDestroy();
    else socket.destroy();
  }

  // --- for the server

  /** Whether no exchange runs and no part of a head has arrived. */
  get isIdle(): boolean {
    return this.#exchange === null && !this.hasWaitingInput;
  }

  /** Looks for a head that is too slow and a connection that is idle for too long; once a sweep. */
  sweep(headTicks: number, idleTicks: number): void {
    if (this.#state !== "open" || this.#exchange !== null || this.#next !== null || this.bufferedBytes > 0) return;
    const waited = this.#host.tick - this.#waitingSince;
    if (this.#input.byteLength === 0 && this.#hasServed) {
      if (waited > idleTicks) this.#socket.destroy();
    } else if (waited > headTicks) this.#refuse(HEAD_REFUSALS["too-slow"]);
  }

  /** The server closes: what waits for nothing ends at once, what is left of an answer goes out first. */
  closeIfIdle(): void {
    if (!this.isIdle || this.#state !== "open") return;
    if (this.#isFlushing) this.close();
    else this.#socket.destroy();
  }

  /** Ends our side, and lingers until the client ends its own. */
  close(): void {
    if (this.#state === "lingering" || this.#state === "gone") return;
    this.#stopAdmitting();
    this.#send();
    this.#state = "lingering";
    this.#input.clear();
    this.#lingering = new LingeringClose(this.#socket, this.#host);
  }

  /** Sends what one turn has gathered. */
  flushTurn(): void {
    this.#isFlushScheduled = false;
    this.#exchange?.flushHead();
    this.#send();
  }

  /** Starts what waited for the answer before it. */
  startNext(): void {
    this.#isStartScheduled = false;
    if (this.#state !== "open") return;
    this.#advance();
    this.#steerInput();
  }

  #scheduleStart(): void {
    if (this.#isStartScheduled) return;
    this.#isStartScheduled = true;
    // Not in this turn: a client that has sent a thousand requests at once would have them all before anybody else has one.
    setImmediate(startWaiting, this);
  }

  #send(): boolean {
    const { writer } = this;
    if (writer.byteLength === 0) return !this.#socket.writableNeedDrain;
    const writes = writer.take();
    const socket = this.#socket;
    if (writes.length === 1) socket.write(writes[0] as Uint8Array);
    else {
      socket.cork();
      for (const bytes of writes) socket.write(bytes);
      socket.uncork();
    }
    // An ended answer has no engine timer left: the socket's own, which sees the kernel take bytes, watches a client that stalls.
    if (this.#isFlushing) socket.setTimeout(this.#host.limits.flushTimeoutMs);
    if (!socket.writableNeedDrain) return true;
    this.#listenToDrain();
    return false;
  }

  #listenToDrain(): void {
    if (this.#listensToDrain) return;
    this.#listensToDrain = true;
    this.#socket.on("drain", () => {
      this.#socket.setTimeout(0);
      if (this.#exchange === null) this.#scheduleStart();
      else this.#exchange.onDrain?.();
    });
  }

  #onData(chunk: Buffer): void {
    this.#lingering?.drop(chunk.length);
    if (this.#state !== "open" || this.#broken !== null) return;
    // The first byte of a request starts its head's time.
    if (this.isIdle && this.#hasServed) this.#waitingSince = this.#host.tick;
    this.#input.push(chunk);
    this.#advance();
    this.#steerInput();
  }

  /** Consumes input as far as the exchange under way allows. */
  #advance(): void {
    const exchange = this.#exchange;
    if (exchange !== null && exchange.intake !== null && !exchange.intake.isComplete) {
      const { intake } = exchange;
      if (!intake.isReading) return;
      this.#input.feed(intake);
      if (!intake.isReading && !intake.isComplete) this.#broken = "malformed";
      if (!intake.isComplete) return;
    }
    if (this.#next === null && this.#state === "open" && this.#broken === null) this.#next = this.#takeHead();
    if (this.#next === null || this.#exchange !== null || this.#state !== "open") return;
    // A client that reads no answers gets no further ones: they would only fill our memory.
    if (this.#socket.writableNeedDrain) {
      this.#listenToDrain();
      return;
    }
    const head = this.#next;
    this.#next = null;
    this.#serve(head);
  }

  #takeHead(): RequestHead | null {
    const head = this.#input.takeHead(this.#host.limits.maxHeadBytes);
    if (typeof head !== "string") return head;
    if (head !== "incomplete") this.#breakInput(HEAD_REFUSALS[head]);
    return null;
  }

  /** Nothing more is read. An answer under way is not disturbed: it is the connection's last. */
  #breakInput(refusal: Refusal): void {
    this.#broken = "malformed";
    if (this.#exchange === null) this.#refuse(refusal);
    else this.#host.report("refused", refusal.message, null);
  }

  #refuse(refusal: Refusal): void {
    const host = this.#host;
    host.report("refused", refusal.message, null);
    this.#stopAdmitting();
    const encoded = host.encode(refusal);
    if (encoded === null) {
      this.#socket.destroy();
      return;
    }
    this.writer.add(encodeRawAnswer(refusal.status, encoded, host.date));
    this.close();
  }

  #serve(head: RequestHead): void {
    const host = this.#host;
    const check = checkRequestHead(head, host.limits.maxHeaderCount);
    if (!check.ok) {
      const { status, code, message } = check;
      this.#refuse({ status, code, message, path: pathOf(head.target), headers: head.headers });
      return;
    }
    const intake = check.hasBody ? new BodyIntake(host, check.contentLength) : null;
    const exchange = new WireExchange(this, { head, check, intake });
    this.#exchange = exchange;
    try {
      host.handle(exchange, exchange);
    } catch (cause) {
      host.report("handler-threw", "The engine threw.", cause);
      if (exchange.isUnanswered) this.#answerDefect(exchange);
      else exchange.abort();
    }
  }

  #answerDefect(exchange: WireExchange): void {
    const { path, headers } = exchange;
    const encoded = this.#host.encode({ status: 500, code: "internal", message: "The gateway failed.", path, headers });
    if (encoded === null) {
      this.destroy({ withReset: false });
      return;
    }
    exchange.replaceHead(500, encoded.headers);
    exchange.end(encoded.body, true);
  }

  /** Pauses the socket while half of the bound waits, and resumes it when less does: the socket's own buffer still takes as much. */
  #steerInput(): void {
    if (this.#state !== "open") return;
    const isWaiting = this.#exchange !== null || this.#next !== null;
    const isFull = isWaiting && this.#input.byteLength >= this.#host.limits.bufferBytes / 2;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }

  #stopAdmitting(): void {
    if (this.#state === "open") this.#state = "closing";
    this.#next = null;
  }

  /** Whether all that is left of the last exchange is what its client has not read. */
  get #isFlushing(): boolean {
    return (this.#exchange === null || this.#exchange.isOver) && this.bufferedBytes > 0;
  }

  /** The socket's own timer, set for what was left to flush: with an exchange under way the engine's timers decide. */
  #onStalled(): void {
    if (this.#isFlushing) this.#socket.destroy();
    else this.#socket.setTimeout(0);
  }

  #onEnd(): void {
    this.#hasEnded = true;
    if (this.#isFlushing) this.close();
    if (this.#lingering !== null) {
      this.#lingering.onEnd();
      return;
    }
    this.#evict();
    this.#socket.destroy();
  }

  #onClose(): void {
    this.#lingering?.cancel();
    this.#evict();
  }

  #evict(): void {
    if (this.#state === "gone") return;
    this.#state = "gone";
    this.#next = null;
    this.#input.clear();
    this.#exchange?.onConnectionGone();
  }
}

function startWaiting(connection: WireConnection): void {
  connection.startNext();
}

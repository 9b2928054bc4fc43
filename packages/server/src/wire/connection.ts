// One upstream socket and the call on it: connecting → active ⇄ idle → closed. Invariants: one call at a time; back to idle only
// after a complete answer to a completely sent request with nothing behind it; bytes or an end of input while idle destroy the
// socket; a call is released only once the kernel has its bytes or the socket is closed.

import type { OnReadOpts, Socket } from "node:net";

import { classifyError, describeEarlyEnd, describeError } from "./failure.ts";
import type { ConnectionStage, FailureKind } from "./failure.ts";
import { HeldInput } from "./held-input.ts";
import { gatherWrites } from "./request-bytes.ts";
import { ResponseParser } from "./response-parser.ts";
import type { ParserLimits, ResponseReceiver } from "./response-parser.ts";
import type { TurnWriter, TurnWrites } from "./turn-writes.ts";
import type { CallCarrier, WireCall } from "./wire-call.ts";

/** What a connection needs of its client. */
export interface ConnectionOwner {
  readonly limits: ParserLimits;
  readonly idleTimeoutMs: number;
  readonly staleWindowMs: number;
  /** Shared by all sockets: libuv reads into it and calls back before it reads again, for any socket (`uv__read`; TLS copies). */
  readonly readBuffer: Buffer;
  /** Overwrites the read buffer after each use, so that a kept chunk shows. */
  readonly isReadBufferPoisoned: boolean;
  readonly turnWrites: TurnWrites;
  open(origin: WireCall["origin"], onread: OnReadOpts): Socket;
  /** Keeps an idle connection; false when it must be destroyed. */
  park(connection: Connection): boolean;
  /** Sends a call again, on a fresh connection. */
  resend(call: WireCall): void;
  /** An idle connection is of no use any more. */
  unpark(connection: Connection): void;
  /** The socket is closed. */
  forget(connection: Connection): void;
}

const POISON = 0xdb;
const NOTHING = Buffer.alloc(0);
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Carries calls over one socket. */
export class Connection implements CallCarrier, ResponseReceiver, TurnWriter {
  readonly poolKey: string;
  idleUntilMs: number = 0;

  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  readonly #held: HeldInput = new HeldInput();
  readonly #onWritten: (error?: Error | null) => void;
  #call: WireCall | null;
  #stage: ConnectionStage = "connecting";
  #isIdle = false;
  #isClosing = false;
  #isReused = false;
  #isResending = false;
  #isFeeding = false;
  #startedMs = 0;
  #connectTimer: NodeJS.Timeout | null;

  constructor(owner: ConnectionOwner, call: WireCall) {
    this.#owner = owner;
    this.#call = call;
    call.carrier = this;
    this.poolKey = call.origin.key;
    this.#parser = new ResponseParser(owner.limits, this);
    this.#onWritten = (error) => {
      if (error === undefined || error === null) this.#confirmSent();
    };
    const isTls = call.origin.protocol === "https:";
    const socket = owner.open(call.origin, {
      buffer: owner.readBuffer,
      callback: (length) => this.#onRead(length),
    });
    this.#socket = socket;
    this.#connectTimer = setTimeout(giveUpConnecting, Math.min(call.connectTimeoutMs, MAX_TIMER_MS), this);
    if (isTls) {
      socket.once("connect", () => {
        this.#stage = "handshake";
      });
    }
    socket.once(isTls ? "secureConnect" : "connect", () => this.#onConnected());
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error: Error) => this.#onError(error));
    socket.on("close", () => this.#onClose());
  }

  /** Carries another call. Only while idle. */
  start(call: WireCall): void {
    this.#call = call;
    call.carrier = this;
    this.#isIdle = false;
    this.#isReused = true;
    this.#stage = "before the answer";
    this.#startedMs = performance.now();
    this.#parser.begin();
    this.#socket.ref();
    this.#write(call);
  }

  /** Whether the socket can still carry a call. */
  get isUsable(): boolean {
    return !this.#isClosing && !this.#socket.destroyed;
  }

  /** Destroys an idle connection that the pool gave up. */
  discard(): void {
    this.#isIdle = false;
    this.#destroy();
  }

  /** Destroys the connection of a cancelled call. */
  abandon(): void {
    this.#destroy();
  }

  pauseReading(): void {
    // Before the connection stands, a pause would stop the TLS handshake; it takes effect afterwards.
    if (this.#isConnected) this.#socket.pause();
  }

  resumeReading(): void {
    if (this.#isFeeding) this.#socket.resume();
    else if (this.#isConnected && this.#held.scheduleFlush()) process.nextTick(flushHeld, this);
  }

  get isHalted(): boolean {
    const call = this.#call;
    return call === null || call.isPaused || call.isOver;
  }

  receiveHead(status: number, headers: readonly string[]): void {
    this.#call?.sink.onHead(status, headers);
  }

  receiveData(chunk: Uint8Array): void {
    this.#call?.sink.onData(chunk);
  }

  /** The time to connect is over. */
  failConnecting(): void {
    this.#fail(
      "connect-timeout",
      this.#stage === "handshake" ? "timeout during the TLS handshake" : "timeout while connecting",
    );
  }

  /** Delivers what was held back, then what it was waiting for. */
  flush(): void {
    const held = this.#held;
    held.isFlushScheduled = false;
    const call = this.#call;
    if (call === null || this.isHalted) return;
    while (!held.isEmpty) {
      const bytes = held.take();
      this.#consume(bytes, bytes.length);
      if (this.isHalted) return;
    }
    // The answer may have been completed by the bytes before the pause.
    this.#consume(NOTHING, 0);
    if (this.isHalted) return;
    if (held.failure !== null) call.fail(held.failure.kind, held.failure.detail);
    else if (held.hasEnd) this.#finishInput();
    else this.#socket.resume();
  }

  /** Lets go of the request that was written in this turn. */
  flushTurn(): void {
    this.#socket.uncork();
  }

  get #isConnected(): boolean {
    return this.#stage !== "connecting" && this.#stage !== "handshake";
  }

  #destroy(): void {
    this.#isClosing = true;
    if (this.#isIdle) {
      this.#isIdle = false;
      this.#owner.unpark(this);
    }
    this.#socket.destroy();
  }

  #stopConnectTimer(): void {
    if (this.#connectTimer === null) return;
    clearTimeout(this.#connectTimer);
    this.#connectTimer = null;
  }

  #onConnected(): void {
    this.#stopConnectTimer();
    const call = this.#call;
    if (call === null || this.#isClosing) return;
    this.#stage = "before the answer";
    if (call.isPaused) this.#socket.pause();
    this.#write(call);
  }

  #write(call: WireCall): void {
    const socket = this.#socket;
    const writes = gatherWrites(call.head, call.body, call.bodyLength);
    const last = writes.length - 1;
    socket.cork();
    for (let index = 0; index < last; index += 1) socket.write(writes[index] as Uint8Array);
    socket.write(writes[last] as Uint8Array, this.#onWritten);
    this.#owner.turnWrites.add(this);
  }

  #confirmSent(): void {
    const call = this.#call;
    if (call === null || this.#isResending) return;
    call.markSent();
    this.#releaseIfSafe(call);
  }

  /** A reused connection may turn out to be stale until its first byte; the body is needed again then. */
  #releaseIfSafe(call: WireCall): void {
    if (call.isSent && (!this.#isReused || call.hasResponse)) call.release();
  }

  #onRead(length: number): boolean {
    const { readBuffer, isReadBufferPoisoned } = this.#owner;
    const call = this.#call;
    if (call === null || this.#isClosing) this.#destroy();
    else {
      if (!call.hasResponse) {
        call.hasResponse = true;
        this.#stage = "inside the answer";
        this.#releaseIfSafe(call);
      }
      // TLS may hand over what it has decrypted after a pause.
      if (call.isPaused || this.#held.isFlushScheduled) this.#held.append(readBuffer, 0, length);
      else this.#consume(readBuffer, length);
    }
    if (isReadBufferPoisoned) readBuffer.fill(POISON, 0, length);
    return true;
  }

  /** Parses and delivers; what a pause leaves over is held back. */
  #consume(bytes: Buffer, end: number): void {
    const next = this.#feed(bytes, end);
    const call = this.#call;
    if (call === null || call.isOver) return;
    if (call.isPaused) {
      if (next < end) this.#held.putBack(bytes.subarray(next, end), bytes === this.#owner.readBuffer);
    } else if (this.#parser.failure !== null) {
      this.#fail("protocol", `the answer broke HTTP: ${this.#parser.failure}`);
    } else if (this.#parser.isDone) {
      this.#finish(call, next < end || !this.#held.isEmpty);
    }
  }

  #feed(bytes: Buffer, end: number): number {
    this.#isFeeding = true;
    try {
      return this.#parser.feed(bytes, 0, end);
    } catch (error) {
      // A sink that throws loses its place in the bytes: this connection cannot be read on.
      if (this.#call !== null) this.#call.isOver = true;
      this.#destroy();
      throw error;
    } finally {
      this.#isFeeding = false;
    }
  }

  #finish(call: WireCall, hasExtraBytes: boolean): void {
    const parser = this.#parser;
    const keepMs = Math.min(this.#owner.idleTimeoutMs, parser.keepAliveMs);
    const isReusable =
      call.isSent && parser.isPersistent && keepMs > 0 && !hasExtraBytes && !this.#held.hasEnd && !this.#isClosing;
    call.isOver = true;
    if (isReusable) {
      this.#call = null;
      call.carrier = null;
      // A pause may still stand when what was held back completed the answer. An idle connection has to hear its peer.
      if (this.#socket.isPaused()) this.#socket.resume();
      this.idleUntilMs = performance.now() + keepMs;
      this.#isIdle = this.#owner.park(this);
      if (this.#isIdle) this.#socket.unref();
      else this.#destroy();
    } else this.#destroy();
    call.sink.onEnd();
  }

  #fail(kind: FailureKind, detail: string): void {
    this.#destroy();
    const call = this.#call;
    if (call === null || call.isOver) return;
    if (this.#mustWait(call)) this.#held.failure = { kind, detail };
    else call.fail(kind, detail);
  }

  /** Whether an outcome has to wait for a resume or a delivery, because something comes before it. */
  #mustWait(call: WireCall): boolean {
    const held = this.#held;
    return held.isFlushScheduled || (call.isPaused && (!held.isEmpty || held.hasEnd || this.#parser.isDone));
  }

  /** The peer is gone. A reused connection that never answered was stale: the call moves on once this socket is closed. */
  #lose(kind: FailureKind, detail: string): void {
    const call = this.#call;
    if (
      call !== null &&
      this.#isReused &&
      !call.isOver &&
      !call.isPaused &&
      !call.isResent &&
      !call.hasResponse &&
      performance.now() - this.#startedMs <= this.#owner.staleWindowMs
    ) {
      call.isResent = true;
      this.#isResending = true;
      this.#destroy();
    } else this.#fail(kind, detail);
  }

  #onEnd(): void {
    const call = this.#call;
    if (call === null || this.#isClosing) {
      this.#destroy();
      return;
    }
    // An end before the connection stands comes with an error of its own.
    if (!this.#isConnected) return;
    this.#held.hasEnd = true;
    if (!call.isPaused && !this.#held.isFlushScheduled) this.#finishInput();
  }

  #finishInput(): void {
    const call = this.#call;
    if (call === null || call.isOver) return;
    if (this.#parser.finish()) this.#finish(call, false);
    else this.#lose("reset", describeEarlyEnd(this.#stage));
  }

  #onError(error: Error): void {
    if (!this.#isClosing) this.#lose(classifyError(error, this.#stage), describeError(error, this.#stage));
  }

  #onClose(): void {
    this.#stopConnectTimer();
    this.#isClosing = true;
    const call = this.#call;
    if (call !== null && this.#isResending && !call.isOver) {
      this.#call = null;
      call.isSent = false;
      this.#owner.resend(call);
    } else if (call !== null) {
      if (!this.#mustWait(call)) call.fail("reset", describeEarlyEnd(this.#stage));
      call.release();
    }
    this.#owner.forget(this);
  }
}

function giveUpConnecting(connection: Connection): void {
  connection.failConnecting();
}

function flushHeld(connection: Connection): void {
  connection.flush();
}

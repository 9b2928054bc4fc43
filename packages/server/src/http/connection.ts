// One client connection: which exchange it serves, which pipelined requests wait, whether the client is still there, and its lingering
// close. One exchange at a time; after `close`, `destroy` or the client's end no further request is started.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { Timer } from "@dragoman/core";

import type { HostedArrival } from "./hosted-arrival.ts";
import type { HttpLimits } from "./http-limits.ts";

/** Starts a timer; the same shape as the engine's clock. */
export type Schedule = (delayMs: number, callback: () => void) => Timer;

/** What a connection tells the exchange that it serves. */
export interface Tenant {
  /** Whether the answer is complete and the connection is free for the next request. */
  isDone(): boolean;
  /** Calls back once when the answer is complete; only while it is not done. */
  whenDone(callback: () => void): void;
  /** The client closed, or the connection broke. */
  onConnectionGone(): void;
  /** What arrived of the request's body is no valid HTTP, or it came too slowly. */
  onInputBroken(reason: "malformed" | "timeout"): void;
}

/** A request whose head has arrived. */
export interface Arrival {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Whether `100 Continue` is still ours to send. */
  readonly owesContinue: boolean;
  /** What the host of this front end says about the request; null on a server of our own. */
  readonly hosted: HostedArrival | null;
}

/** State of one client connection. */
export class Connection {
  readonly socket: Socket;
  /** Null before the first request. */
  tenant: Tenant | null = null;
  /** Set when the parser gave up on this connection's input: the answer under way is its last. */
  broken: "malformed" | "timeout" | null = null;
  readonly #limits: HttpLimits;
  readonly #schedule: Schedule;
  readonly #start: (connection: Connection, arrival: Arrival) => void;
  readonly #waiting: Arrival[] = [];
  #state: "open" | "closing" | "lingering" | "gone" = "open";
  #lingerTimer: Timer | null = null;
  #lingeredBytes = 0;
  #isPaused = false;
  #guardsPause = false;

  constructor(
    socket: Socket,
    options: {
      readonly limits: HttpLimits;
      readonly schedule: Schedule;
      readonly start: (connection: Connection, arrival: Arrival) => void;
    },
  ) {
    this.socket = socket;
    this.#limits = options.limits;
    this.#schedule = options.schedule;
    this.#start = options.start;
    // A half-closed client cannot be told from one that left, so the end of its input ends the exchange too.
    socket.on("end", () => this.#onEnd());
    socket.on("close", () => this.#onClose());
  }

  /** Whether a request that arrives now would have to wait. */
  get isBusy(): boolean {
    return this.#waiting.length > 0 || (this.tenant !== null && !this.tenant.isDone());
  }

  /** Whether no further request is started here. */
  get isClosing(): boolean {
    return this.#state !== "open";
  }

  /** Starts the request, or lets it wait for the ones before it; drops it when the connection is closing. */
  admit(arrival: Arrival): void {
    if (this.#state !== "open") return;
    if (!this.isBusy) {
      this.#start(this, arrival);
      return;
    }
    this.#waiting.push(arrival);
    if (this.#waiting.length === 1) this.tenant?.whenDone(() => this.#startNext());
    // The parser may still deliver the rest of the chunk that it works on; no further chunk is read.
    if (this.#waiting.length >= this.#limits.maxWaitingRequests) this.#pauseInput();
  }

  /** From now on requests are dropped; the answer under way goes on. */
  stopAdmitting(): void {
    if (this.#state === "open") this.#state = "closing";
    this.#waiting.length = 0;
  }

  /**
   * Keeps node:http from destroying the socket at the end of the answer that is about to be written: a socket destroyed with unread
   * input resets the connection, and the client may lose the answer.
   */
  prepareClose(): void {
    this.stopAdmitting();
    this.socket.destroySoon = (): void => this.close();
  }

  /** Ends our side, then reads and drops input within bounds until the client closes (RFC 9112 §9.6). */
  close(): void {
    if (this.#state === "lingering" || this.#state === "gone") return;
    this.stopAdmitting();
    this.#state = "lingering";
    this.#isPaused = false;
    const { socket } = this;
    // Taking the input from the HTTP parser: nothing behind the refused or last request is ever looked at.
    socket.removeAllListeners("data");
    socket.on("data", (chunk: Uint8Array) => this.#drop(chunk.byteLength));
    socket.end();
    socket.resume();
    this.#lingerTimer = this.#schedule(this.#limits.lingerMs, () => socket.destroy());
  }

  /** Destroys the connection at once. With `withReset` the client sees a reset even where it would take an end for a clean one. */
  destroy(options: { readonly withReset: boolean }): void {
    this.stopAdmitting();
    const { socket } = this;
    // Only a plain TCP socket can be reset; a TLS client notices the missing close_notify.
    if (options.withReset && !("encrypted" in socket)) socket.resetAndDestroy();
    else socket.destroy();
  }

  #drop(byteLength: number): void {
    this.#lingeredBytes += byteLength;
    // Not destroyed yet: the client gets the rest of the time to read its answer before the reset can discard it.
    if (this.#lingeredBytes >= this.#limits.lingerBytes) this.#pauseInput();
  }

  #pauseInput(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.socket.pause();
    if (this.#guardsPause) return;
    this.#guardsPause = true;
    // node:http resumes the socket after every message that it has parsed, also after the one that made us pause.
    this.socket.on("resume", () => {
      if (this.#isPaused) this.socket.pause();
    });
  }

  #startNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined || this.#state !== "open") return;
    this.#start(this, next);
    if (this.#waiting.length > 0) this.#awaitTenant();
    if (!this.#isPaused || this.#waiting.length >= this.#limits.maxWaitingRequests) return;
    this.#isPaused = false;
    this.socket.resume();
  }

  #awaitTenant(): void {
    if (this.tenant === null || this.tenant.isDone()) this.#startNext();
    else this.tenant.whenDone(() => this.#startNext());
  }

  #onEnd(): void {
    const { socket } = this;
    if (this.#state !== "lingering") this.#evict();
    else if (socket.writableFinished) socket.destroy();
    else socket.once("finish", () => socket.destroy());
  }

  #onClose(): void {
    this.#lingerTimer?.cancel();
    this.#evict();
  }

  #evict(): void {
    if (this.#state === "gone") return;
    this.stopAdmitting();
    this.#state = "gone";
    if (this.tenant !== null && !this.tenant.isDone()) this.tenant.onConnectionGone();
  }
}

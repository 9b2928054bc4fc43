// One connection of the scripted upstream: reads requests one after another, answers each, and keeps its call's record true.
// A call ends exactly once: complete, cut by its script, or closed by the client.
import type { Socket } from "node:net";

import { AnswerSender } from "./answer-sender.ts";
import type { SendOutcome } from "./answer-sender.ts";
import type { Behaviour } from "./behaviours.ts";
import type { UpstreamCall } from "./call-log.ts";
import { endpointOf } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { bytesOf, findFault } from "./faults.ts";
import { RequestReader } from "./http-reader.ts";
import type { RequestHandler, RequestHead } from "./http-reader.ts";
import { readReceivedRequest } from "./received-request.ts";
import type { ReceivedRequest } from "./received-request.ts";
import { planResponse } from "./response-plan.ts";

/** What a connection asks of the server that owns it. */
export interface ConnectionHost {
  /** Makes the record of a new call and lists it. */
  openCall(connection: number, head: RequestHead): UpstreamCall;
  /** The behaviour for a call whose body is complete. */
  decide(call: UpstreamCall, request: ReceivedRequest): Behaviour;
  /** The behaviour for a call that shall be answered before its body is complete, or null. */
  decideEarly(call: UpstreamCall): Behaviour | null;
  /** Something about a call changed. */
  notify(): void;
  /** A script threw; the call is answered with 500. */
  fail(error: unknown): void;
  delay(milliseconds: number): Promise<void>;
}

/** A connection from its first to its last byte. */
export class UpstreamConnection implements RequestHandler {
  readonly #socket: Socket;
  readonly #serial: number;
  readonly #host: ConnectionHost;
  readonly #reader: RequestReader;
  readonly #releases = new Set<() => void>();
  #call: UpstreamCall | null = null;
  #isAnswering = false;
  #heldBytes: Buffer | null = null;

  constructor(socket: Socket, serial: number, host: ConnectionHost) {
    this.#socket = socket;
    this.#serial = serial;
    this.#host = host;
    this.#reader = new RequestReader(this);
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => this.#reader.push(bytes));
    socket.on("error", () => {
      // `close` follows and ends the call; what the error was does not matter to the record.
    });
    socket.on("end", () => this.#clientLeft());
    socket.on("close", () => this.#clientLeft());
  }

  /** Ends every stall of this connection and sends the bytes that were kept for later. */
  release(): void {
    for (const release of this.#releases) release();
    this.#releases.clear();
    if (this.#heldBytes !== null && !this.#socket.destroyed) this.#socket.write(this.#heldBytes);
    this.#heldBytes = null;
  }

  /** Cuts the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  onHead(head: RequestHead): void {
    const call = this.#host.openCall(this.#serial, head);
    this.#call = call;
    this.#isAnswering = false;
    this.#considerEarly(call);
    if (!this.#isAnswering && call.headers["expect"] === "100-continue") {
      this.#socket.write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    this.#host.notify();
  }

  onBody(bytes: Buffer): void {
    const call = this.#call;
    if (call === null) return;
    call.addBody(bytes);
    this.#considerEarly(call);
    this.#host.notify();
  }

  onEnd(): void {
    const call = this.#call;
    if (call === null) return;
    call.completeBody();
    if (!this.#isAnswering) this.#start(call, null);
    else if (call.ended === "complete") this.#reader.next();
    this.#host.notify();
  }

  onBroken(reason: string): void {
    this.#socket.end(
      `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: ${reason.length}\r\n\r\n${reason}`,
    );
  }

  #clientLeft(): void {
    if (this.#call !== null) this.#call.ended ??= "client-closed";
    for (const release of this.#releases) release();
    this.#releases.clear();
    this.#host.notify();
  }

  #considerEarly(call: UpstreamCall): void {
    if (this.#isAnswering || call.bodyComplete) return;
    const behaviour = this.#host.decideEarly(call);
    const early = findFault(behaviour?.faults ?? [], "early");
    if (behaviour === null || early === undefined || call.bodyBytes < early.afterBodyBytes) return;
    if (early.afterwards === "stop-reading") this.#socket.pause();
    this.#start(call, behaviour);
  }

  #start(call: UpstreamCall, early: Behaviour | null): void {
    this.#isAnswering = true;
    const endpoint = endpointOf(call.method, call.path, call.headers);
    this.#answer(call, endpoint, early).catch((error: unknown) => {
      this.#host.fail(error);
      this.#socket.destroy();
    });
  }

  async #answer(call: UpstreamCall, endpoint: Endpoint, early: Behaviour | null): Promise<void> {
    const request = readReceivedRequest(endpoint.dialect, call.json);
    const behaviour = early ?? this.#decide(call, request);
    const faults = behaviour.faults ?? [];
    const plan = planResponse({ endpoint, request, serial: call.serial }, behaviour);
    const sender = new AnswerSender(this.#socket, call, faults, {
      delay: (milliseconds) => this.#host.delay(milliseconds),
      onProgress: () => this.#host.notify(),
      waitForRelease: () => this.#waitForRelease(),
    });
    const outcome = await sender.send(plan);
    const extra = findFault(faults, "extra-bytes");
    if (extra?.when === "on-release") this.#heldBytes = bytesOf(extra.bytes);
    await this.#finish(call, sender, outcome, findFault(faults, "early")?.afterwards === "hang-up");
  }

  #decide(call: UpstreamCall, request: ReceivedRequest): Behaviour {
    try {
      return this.#host.decide(call, request);
    } catch (error) {
      this.#host.fail(error);
      return { error: { status: 500, message: "The script of the upstream threw." } };
    }
  }

  async #finish(call: UpstreamCall, sender: AnswerSender, outcome: SendOutcome, hangsUp: boolean): Promise<void> {
    if (outcome === "kept") {
      call.ended ??= "complete";
      const isLast = hangsUp || call.headers["connection"]?.toLowerCase() === "close";
      if (isLast) await sender.hangUp("end", "complete");
      else if (this.#reader.isDone) this.#reader.next();
    } else if (this.#socket.destroyed) {
      call.ended ??= "client-closed";
    }
    this.#host.notify();
  }

  #waitForRelease(): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#releases.add(resolve);
    });
  }
}

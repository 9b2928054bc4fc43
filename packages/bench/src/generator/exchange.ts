// One request in flight on one connection, and what became of it. States: idle → waiting → (ended once with an outcome) → idle.
import { createConnection, type Socket } from "node:net";

import type { Expectation } from "../contract/cell.ts";
import { AnswerReader, type AnswerEvents } from "./answer-reader.ts";
import { SseWatch } from "./sse-watch.ts";

/** A request ready to be written. */
export interface SendableRequest {
  readonly bytes: Buffer;
  readonly expect: Expectation;
  readonly okStatuses: ReadonlySet<number>;
}

/** How an exchange ended. `status` means an answer with a status that is not expected. */
export type ExchangeOutcome = "succeeded" | "connect-error" | "timeout" | "broken-body" | "status";

/** What a connection tells its owner. */
export interface ConnectionOwner {
  now(): number;
  onContent(connection: Connection, atUs: number, previousUs: number | null): void;
  onOutcome(connection: Connection, outcome: ExchangeOutcome, status: number): void;
  /** The connection is gone and must leave the pool. Follows the outcome, if there was a request. */
  onClosed(connection: Connection): void;
}

const READ_BUFFER_BYTES = 64 * 1024;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A keep-alive connection that carries one exchange at a time. */
export class Connection implements AnswerEvents {
  /** Scheduled time of the exchange in flight, µs. */
  dueUs = 0;
  isBusy = false;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #reader: AnswerReader;
  readonly #watch: SseWatch;
  #request: SendableRequest | null = null;
  #status = 0;
  #firstByte = 0;
  #lastByte = 0;
  #lastContentUs: number | null = null;
  #isClosed = false;

  constructor(owner: ConnectionOwner, host: string, port: number, readBuffer: Buffer) {
    this.#owner = owner;
    this.#reader = new AnswerReader(this);
    this.#watch = new SseWatch(() => {
      const atUs = owner.now();
      owner.onContent(this, atUs, this.#lastContentUs);
      this.#lastContentUs = atUs;
    });
    this.#socket = createConnection({
      host,
      port,
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (length, buffer) => {
          this.#reader.feed((buffer as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on("error", () => {
      // "close" follows and tells the owner; the reason makes no difference to the count.
    });
    this.#socket.on("close", () => this.#closed());
    // With `onread` there is no "data" listener to start the flow.
    this.#socket.resume();
  }

  /** Writes a request. Only when idle. */
  send(request: SendableRequest, dueUs: number): void {
    this.#request = request;
    this.dueUs = dueUs;
    this.isBusy = true;
    this.#status = 0;
    this.#firstByte = 0;
    this.#lastByte = 0;
    this.#lastContentUs = null;
    this.#watch.reset();
    this.#socket.write(request.bytes);
  }

  /** Gives up on the exchange in flight and closes. */
  abandon(outcome: ExchangeOutcome): void {
    this.#end(outcome);
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  onStatus(status: number): void {
    this.#status = status;
  }

  onBody(bytes: Buffer): void {
    if (this.#request?.expect === "stream" && this.#status === 200) {
      this.#watch.feed(bytes);
      return;
    }
    for (let at = 0; this.#firstByte === 0 && at < bytes.length; at += 1) this.#firstByte = visible(bytes[at]);
    for (let at = bytes.length - 1; at >= 0; at -= 1) {
      const byte = visible(bytes[at]);
      if (byte !== 0) {
        this.#lastByte = byte;
        break;
      }
    }
  }

  onEnd(isReusable: boolean): void {
    const request = this.#request;
    if (request === null) {
      // An answer nobody asked for: the connection cannot be trusted with the next one.
      this.destroy();
      return;
    }
    // Settled before the owner hears of it: it may send the next request at once.
    if (!isReusable) this.#isClosed = true;
    this.#end(this.#judge(request));
    if (!isReusable) {
      this.#owner.onClosed(this);
      this.destroy();
    }
  }

  onBroken(): void {
    this.abandon("broken-body");
  }

  get isUsable(): boolean {
    return !this.#isClosed;
  }

  #judge(request: SendableRequest): ExchangeOutcome {
    if (!request.okStatuses.has(this.#status)) return "status";
    switch (request.expect) {
      case "answer":
        return this.#firstByte === OPEN_BRACE && this.#lastByte === CLOSE_BRACE ? "succeeded" : "broken-body";
      case "stream":
        return this.#watch.isTerminated && this.#lastContentUs !== null ? "succeeded" : "broken-body";
      case "rejection":
        return "succeeded";
    }
  }

  #end(outcome: ExchangeOutcome): void {
    if (this.#request === null) return;
    this.#request = null;
    this.isBusy = false;
    this.#owner.onOutcome(this, outcome, this.#status);
  }

  #closed(): void {
    if (this.#isClosed) return;
    // The reader may end an answer that lasts until the close; whatever is left in flight after that was cut short.
    this.#reader.close();
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end(this.#status === 0 ? "connect-error" : "broken-body");
    this.#owner.onClosed(this);
  }
}

function visible(byte: number | undefined): number {
  return byte === undefined || byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d ? 0 : byte;
}

/** Buffer that all connections of a worker read into: a callback never outlives its turn. */
export function createReadBuffer(): Buffer {
  return Buffer.allocUnsafe(READ_BUFFER_BYTES);
}

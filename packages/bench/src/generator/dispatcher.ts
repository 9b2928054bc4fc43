// Puts requests on connections: idle ones first (the warmest last used), new ones up to the limit, then a queue. A request that
// waits in the queue keeps its scheduled time; one that waits or flies too long ends as a timeout.
import {
  Connection,
  createReadBuffer,
  type ConnectionOwner,
  type ExchangeOutcome,
  type SendableRequest,
} from "./exchange.ts";
import { RingQueue } from "./ring-queue.ts";
import type { TallySheet } from "./tally-sheet.ts";

/** Ports and bounds of a dispatcher. */
export interface DispatcherOptions {
  readonly host: string;
  readonly port: number;
  readonly requests: readonly SendableRequest[];
  readonly maxConnections: number;
  readonly timeoutUs: number;
  readonly now: () => number;
  readonly tally: TallySheet;
  /** After every end of a request, whatever its outcome. */
  readonly onEnded: (outcome: ExchangeOutcome) => void;
}

/** Connections and waiting requests of one worker. */
export class Dispatcher implements ConnectionOwner {
  readonly #options: DispatcherOptions;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #queue = new RingQueue();
  readonly #readBuffer = createReadBuffer();
  #inFlight = 0;
  #isDraining = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Requests that have not ended: in flight or waiting for a connection. */
  get pending(): number {
    return this.#inFlight + this.#queue.length;
  }

  now(): number {
    return this.#options.now();
  }

  /** Takes over one request; it will end exactly once. */
  submit(request: number, dueUs: number): void {
    const connection = this.#take();
    if (connection === undefined) {
      this.#options.tally.queue(dueUs);
      this.#queue.push(request, dueUs);
      return;
    }
    this.#send(connection, request, dueUs);
  }

  /** Ends what has waited or flown longer than the timeout; call it a few times per second. */
  sweep(): void {
    const oldestUs = this.now() - this.#options.timeoutUs;
    for (const connection of this.#open) {
      if (connection.isBusy && connection.dueUs < oldestUs) connection.abandon("timeout");
    }
    while (this.#queue.length > 0 && this.#queue.peekDueUs() < oldestUs) {
      const dueUs = this.#queue.peekDueUs();
      this.#queue.drop();
      this.#options.tally.end(dueUs, this.now(), "timeout", 0);
      this.#options.onEnded("timeout");
    }
  }

  /** Ends everything that is still pending as a timeout and closes all connections. */
  close(): void {
    this.#isDraining = true;
    for (const connection of this.#open) {
      if (connection.isBusy) connection.abandon("timeout");
      else connection.destroy();
    }
    while (this.#queue.length > 0) {
      this.#options.tally.end(this.#queue.peekDueUs(), this.now(), "timeout", 0);
      this.#queue.drop();
    }
  }

  onContent(connection: Connection, atUs: number, previousUs: number | null): void {
    this.#options.tally.content(connection.dueUs, atUs, previousUs);
  }

  onOutcome(connection: Connection, outcome: ExchangeOutcome, status: number): void {
    this.#inFlight -= 1;
    this.#options.tally.end(connection.dueUs, this.now(), outcome, status);
    if (outcome !== "timeout" && outcome !== "broken-body" && connection.isUsable && !this.#isDraining) {
      this.#idle.push(connection);
      this.#sendQueued();
    }
    this.#options.onEnded(outcome);
  }

  onClosed(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (!this.#isDraining) this.#sendQueued();
  }

  #take(): Connection | undefined {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#open.size >= this.#options.maxConnections) return undefined;
    const { host, port, tally } = this.#options;
    const connection = new Connection(this, host, port, this.#readBuffer);
    this.#open.add(connection);
    tally.connections(this.#open.size);
    return connection;
  }

  #sendQueued(): void {
    while (this.#queue.length > 0) {
      const connection = this.#take();
      if (connection === undefined) return;
      const request = this.#queue.peekRequest();
      const dueUs = this.#queue.peekDueUs();
      this.#queue.drop();
      this.#send(connection, request, dueUs);
    }
  }

  #send(connection: Connection, request: number, dueUs: number): void {
    const prepared = this.#options.requests[request];
    if (prepared === undefined) throw new Error(`there is no request ${request}`);
    this.#inFlight += 1;
    connection.send(prepared, dueUs);
  }
}

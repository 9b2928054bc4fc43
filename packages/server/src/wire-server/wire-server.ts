// The standalone front end over plain sockets: listens, sweeps its connections for what is too slow, and ends in order.

import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

import type { ClientRequest, Responder } from "@dragoman/core";

import type { BodySource } from "../http/body-reader.ts";
import type { Schedule } from "../http/connection.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/http-limits.ts";
import type { HttpLimits } from "../http/http-limits.ts";
import type { HttpServerOptions } from "../http/http-server.ts";
import { listen } from "../http/listen.ts";
import { scheduleWithNode } from "../http/node-handler.ts";
import type { ConnectionProblem } from "../http/node-handler.ts";
import type { EncodedRefusal, EncodeRefusal, Refusal } from "../http/refusal.ts";
import { TurnWrites } from "../wire/turn-writes.ts";
import { HttpDate } from "./answer-bytes.ts";
import { WireConnection } from "./wire-connection.ts";
import type { ConnectionHost } from "./wire-connection.ts";

/** A server that listens once and closes once; the doors of `HttpServer` over another kind of Node server. */
export interface WireServer {
  /** Starts to listen; port 0 picks a free one. Rejects with Node's error when the address cannot be bound. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /**
   * Stops accepting, closes idle connections, lets exchanges end for `deadlineMs`, then destroys what is left. Resolves when no
   * connection is open; further calls get the same promise.
   */
  close(deadlineMs: number): Promise<void>;
  /** Node's server, for addresses and cluster hand-over. */
  readonly server: Server;
}

/** Makes a server for the engine; nothing is opened before `listen`. */
export function createWireServer(options: HttpServerOptions): WireServer {
  return new SocketServer(options);
}

class SocketServer implements WireServer, ConnectionHost {
  readonly server: Server;
  readonly limits: HttpLimits;
  readonly pool: BodySource;
  readonly schedule: Schedule;
  readonly keepAliveSeconds: number;
  readonly turnWrites: TurnWrites = new TurnWrites();
  isDraining = false;
  tick = 0;
  readonly #handle: (request: ClientRequest, responder: Responder) => void;
  readonly #encodeRefusal: EncodeRefusal;
  readonly #onProblem: ((problem: ConnectionProblem) => void) | undefined;
  readonly #connections = new Map<Socket, WireConnection>();
  /** TCP sockets, also those whose TLS handshake is under way. */
  readonly #sockets = new Set<Socket>();
  readonly #httpDate: HttpDate = new HttpDate();
  readonly #sweepMs: number;
  #sweepTimer: NodeJS.Timeout | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: HttpServerOptions) {
    this.limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
    this.pool = options.pool;
    this.schedule = options.schedule ?? scheduleWithNode;
    this.#handle = options.handle;
    this.#encodeRefusal = options.encodeRefusal;
    this.#onProblem = options.onConnectionError;
    const { checkIntervalMs, keepAliveTimeoutMs, headTimeoutMs, bufferBytes, maxConnections } = this.limits;
    this.keepAliveSeconds = Math.floor(keepAliveTimeoutMs / 1000);
    this.#sweepMs = Math.max(10, Math.min(checkIntervalMs, keepAliveTimeoutMs, headTimeoutMs));
    const serverOptions = { noDelay: true, allowHalfOpen: true, highWaterMark: bufferBytes };
    const accept = (socket: Socket): void => this.#accept(socket);
    this.server =
      options.tls === undefined
        ? createServer(serverOptions, accept)
        : createTlsServer(
            { ...serverOptions, ...options.tls, ALPNProtocols: ["http/1.1"], handshakeTimeout: headTimeoutMs },
            accept,
          );
    // A handshake that fails has no exchange; Node has destroyed its socket.
    this.server.on("tlsClientError", (error: Error) => this.report("connection-error", error.message, error));
    this.server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    if (maxConnections !== null) this.server.maxConnections = maxConnections;
  }

  get date(): string {
    return this.#httpDate.text(Date.now());
  }

  async listen(host: string, port: number): Promise<AddressInfo> {
    const report = (error: Error): void => this.report("connection-error", error.message, error);
    const address = await listen(this.server, { host, port }, report);
    this.#sweepTimer = setInterval(() => this.#sweep(), this.#sweepMs).unref();
    return address;
  }

  close(deadlineMs: number): Promise<void> {
    return (this.#closing ??= this.#close(deadlineMs));
  }

  handle(request: ClientRequest, responder: Responder): void {
    this.#handle(request, responder);
  }

  encode(refusal: Refusal): EncodedRefusal | null {
    try {
      return this.#encodeRefusal(refusal);
    } catch (cause) {
      this.report("handler-threw", "The encoding of a refusal threw.", cause);
      return null;
    }
  }

  report(kind: ConnectionProblem["kind"], detail: string, cause: unknown): void {
    this.#onProblem?.({ kind, detail, cause });
  }

  #accept(socket: Socket): void {
    this.#connections.set(socket, new WireConnection(this, socket));
    socket.on("close", () => this.#connections.delete(socket));
  }

  #sweep(): void {
    this.tick += 1;
    const headTicks = Math.ceil(this.limits.headTimeoutMs / this.#sweepMs);
    const idleTicks = Math.ceil(this.limits.keepAliveTimeoutMs / this.#sweepMs);
    for (const connection of this.#connections.values()) connection.sweep(headTicks, idleTicks);
  }

  #close(deadlineMs: number): Promise<void> {
    this.isDraining = true;
    return new Promise((resolve) => {
      const timer = this.schedule(deadlineMs, () => {
        for (const socket of this.#sockets) socket.destroy();
      });
      // The callback's error only says that the server never listened: then there is nothing to close.
      this.server.close(() => {
        timer.cancel();
        if (this.#sweepTimer !== null) clearInterval(this.#sweepTimer);
        resolve();
      });
      for (const connection of this.#connections.values()) connection.closeIfIdle();
    });
  }
}

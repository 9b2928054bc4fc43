// The standalone front end: a node:http or node:https server with every bound set by hand, and an orderly end.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions } from "node:tls";

import type { HttpLimits } from "./http-limits.ts";
import { listen } from "./listen.ts";
import { NodeFrontEnd } from "./node-handler.ts";
import type { FrontEndOptions } from "./node-handler.ts";

/** Options of `createHttpServer`. */
export interface HttpServerOptions extends FrontEndOptions {
  /** Certificate and key; without it the server speaks plain HTTP. */
  readonly tls?: SecureContextOptions;
}

/** A server that listens once and closes once. */
export interface HttpServer {
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
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const frontEnd = new NodeFrontEnd(options);
  const serverOptions = nodeServerOptions(frontEnd.limits);
  const server =
    options.tls === undefined
      ? createServer(serverOptions)
      : createTlsServer({
          ...serverOptions,
          ...options.tls,
          ALPNProtocols: ["http/1.1"],
          handshakeTimeout: frontEnd.limits.headTimeoutMs,
        });
  // Node drops fields beyond its own count without a word, also framing ones. Ours are bounded in bytes and then counted.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = 0;
  if (frontEnd.limits.maxConnections !== null) server.maxConnections = frontEnd.limits.maxConnections;
  attach(server, frontEnd);

  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  let closing: Promise<void> | null = null;
  return {
    server,
    listen: (host, port) => listen(server, { host, port }, (error) => frontEnd.reportError(error)),
    close: (deadlineMs) => (closing ??= close(server, { frontEnd, sockets, deadlineMs })),
  };
}

function nodeServerOptions(limits: HttpLimits): ServerOptions {
  return {
    insecureHTTPParser: false,
    // Ours is stricter, and answers with an envelope.
    requireHostHeader: false,
    maxHeaderSize: limits.maxHeadBytes,
    headersTimeout: limits.headTimeoutMs,
    // A body that is being read has a tighter timer of ours; this one bounds bodies that nobody reads.
    requestTimeout: limits.headTimeoutMs + 2 * limits.bodyTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    highWaterMark: limits.bufferBytes,
    noDelay: true,
  };
}

function attach(server: Server, frontEnd: NodeFrontEnd): void {
  const accept = (owesContinue: boolean) => (req: IncomingMessage, res: ServerResponse) =>
    frontEnd.accept({ req, res, owesContinue, hosted: null });
  server.on("request", accept(false));
  server.on("checkContinue", accept(true));
  // The strict check refuses the expectation; without a listener Node would answer by itself and go on.
  server.on("checkExpectation", accept(false));
  server.on("clientError", (error: Error, stream: Duplex) => frontEnd.onClientError(error, stream));
  // There is no `upgrade` listener on purpose: Node then hands upgrade requests over as requests, and the strict check decides.
  server.on("connect", (_req: IncomingMessage, stream: Duplex) => refuseTunnel(frontEnd, stream));
}

function refuseTunnel(frontEnd: NodeFrontEnd, stream: Duplex): void {
  // node:http passes the connection's own socket (documented for `connect`).
  const connection = frontEnd.connectionOf(stream as Socket);
  // Node has taken its own listeners off the socket: an error that nobody hears would end the process.
  stream.on("error", (error: Error) => frontEnd.onClientError(error, stream));
  // Behind an unfinished exchange an answer would be taken for that exchange's.
  if (connection.isBusy || connection.isClosing || !stream.writable) connection.destroy({ withReset: false });
  else
    frontEnd.refuseRaw(connection, {
      status: 400,
      code: "invalid_request",
      message: "CONNECT is not served.",
      path: "",
      headers: [],
    });
}

function close(
  server: Server,
  options: { readonly frontEnd: NodeFrontEnd; readonly sockets: ReadonlySet<Socket>; readonly deadlineMs: number },
): Promise<void> {
  const { frontEnd, sockets, deadlineMs } = options;
  frontEnd.isDraining = true;
  return new Promise((resolve) => {
    const timer = frontEnd.schedule(deadlineMs, () => {
      for (const socket of sockets) socket.destroy();
    });
    // The callback's error only says that the server never listened: then there is nothing to close.
    server.close(() => {
      timer.cancel();
      resolve();
    });
    server.closeIdleConnections();
    // Node counts a connection that has sent nothing yet as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
}

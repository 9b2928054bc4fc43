/** The standalone server: a gateway behind its own HTTP front end, with logs and an orderly end. One process. */
import { BodyPool, type ConfigFolder, type GatewayConfig, type Logger, type SecretResolver } from "@dragoman/core";

import { createGateway, type CreateGatewayOptions, type Gateway } from "./create-gateway.ts";
import { createHttpServer } from "./http/index.ts";
import { logAlerts } from "./telemetry/alert-log.ts";
import { logOutcomes } from "./telemetry/request-log.ts";
import { createWireServer } from "./wire-server/index.ts";

/** Where and with what to serve. */
export interface ServeOptions {
  readonly config: GatewayConfig;
  /** Over the configuration's `server.host`. */
  readonly host?: string;
  /** Over the configuration's `server.port`; 0 picks a free one. */
  readonly port?: number;
  /**
   * Over the configuration's `server.frontEnd`: the own HTTP/1.1 over plain sockets (`wire`, the default), or `node:http` made strict
   * (`node`), which costs more CPU per request.
   */
  readonly frontEnd?: "node" | "wire";
  readonly logger?: Logger;
  readonly resolveSecret?: SecretResolver;
  readonly folder?: ConfigFolder;
  readonly gatewayOptions?: CreateGatewayOptions;
}

/** A server that listens. */
export interface RunningServer {
  /** Base URL, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly gateway: Gateway;
  /** Stops accepting, lets exchanges end for `deadlineMs` (the configuration's by default), then cuts what is left. */
  close(deadlineMs?: number): Promise<void>;
}

/** Bytes of released request bodies that one process keeps for the next ones. */
const MAX_POOLED_BODY_BYTES = 64 * 1024 * 1024;

/** How long behind the deadline of a shutdown the ends of unfinished answers may take on their way to clients. */
const LAST_BYTES_MS = 250;

/** Starts to serve. Rejects when the configuration does not compile or the address cannot be bound; nothing is left open then. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const gateway = await createGateway(options.config, {
    pool: new BodyPool({ maxPooledBytes: MAX_POOLED_BODY_BYTES }),
    ...options.gatewayOptions,
    ...(options.logger === undefined ? {} : { logger: options.logger }),
    ...(options.folder === undefined ? {} : { folder: options.folder }),
    ...(options.resolveSecret === undefined ? {} : { resolveSecret: options.resolveSecret }),
  });
  const { server, telemetry } = gateway.snapshot;
  if (options.logger !== undefined && telemetry.requestLog) logOutcomes(gateway, options.logger);
  const { logger } = options;
  if (logger !== undefined) logAlerts(gateway, logger);
  const createServer = (options.frontEnd ?? server.frontEnd) === "node" ? createHttpServer : createWireServer;
  const http = createServer({
    handle: (request, responder) => gateway.handle(request, responder),
    encodeRefusal: ({ status, code, message, path, headers }) =>
      gateway.encodeRefusal(status, code, message, path, headers),
    pool: gateway.pool,
    limits: {
      maxHeadBytes: server.limits.maxHeadBytes,
      headTimeoutMs: server.limits.headTimeoutMs,
      bodyTimeoutMs: server.limits.bodyTimeoutMs,
      keepAliveTimeoutMs: server.limits.idleTimeoutMs,
      maxConnections: server.limits.maxConnections,
    },
    onConnectionError: ({ kind, detail, cause }) => {
      if (kind === "handler-threw")
        logger?.error({ kind, detail, error: String(cause) }, "the front end caught a defect");
      else logger?.debug({ kind, detail }, "a client connection was refused or failed");
    },
  });
  const host = options.host ?? server.host;
  let address;
  try {
    address = await http.listen(host, options.port ?? server.port);
  } catch (error) {
    await gateway.close();
    throw error;
  }
  const shownHost = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${shownHost}:${address.port}`,
    gateway,
    close: async (deadlineMs = server.shutdownMs) => {
      gateway.drain();
      const deadline = setTimeout(() => gateway.cutShort(), deadlineMs);
      // Clients whose exchange was cut short still get their last bytes.
      await http.close(deadlineMs + LAST_BYTES_MS);
      await gateway.close();
      clearTimeout(deadline);
    },
  };
}

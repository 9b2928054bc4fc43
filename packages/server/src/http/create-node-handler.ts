// A gateway as a request listener of the host's own server, and the front end that all hosts of node:http's pair share.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

import type { Logger } from "@dragoman/core";

import { identifyBy, readBasePath, stripBasePath } from "../embedding/index.ts";
import type { EmbeddedGateway, PrincipalSource } from "../embedding/index.ts";
import { isWrapped } from "./hosted-arrival.ts";
import type { PrincipalAnswer } from "./hosted-arrival.ts";
import type { HttpLimits } from "./http-limits.ts";
import { NodeFrontEnd } from "./node-handler.ts";
import type { ConnectionProblem } from "./node-handler.ts";

/** Bounds of a mounted gateway, and who hears of trouble. */
export interface MountOptions {
  /** Overrides of `DEFAULT_HTTP_LIMITS`; bounds of heads and connections are the host server's own. */
  readonly limits?: Partial<HttpLimits>;
  /** Hears of refused heads, lost connections and defects; by default the gateway's logger does. */
  readonly onConnectionError?: (problem: ConnectionProblem) => void;
}

/** Options of `createNodeHandler`. */
export interface NodeHandlerOptions extends MountOptions {
  /** Who is calling; without it the keys of the configuration decide. */
  readonly principal?: PrincipalSource<IncomingMessage | Http2ServerRequest>;
  /** Where the gateway's routes begin, such as `/llm`; other paths are answered with 404. Default: the root. */
  readonly basePath?: string;
}

/** A request listener for `node:http`, `node:https` and `node:http2`. */
export type NodeHandler = (
  req: IncomingMessage | Http2ServerRequest,
  res: ServerResponse | Http2ServerResponse,
) => void;

/** Makes a request listener that answers every request it is given. Body parsers must not have read it before. */
export function createNodeHandler(gateway: EmbeddedGateway, options: NodeHandlerOptions = {}): NodeHandler {
  const mount = new MountedGateway(gateway, options);
  const basePath = readBasePath(options.basePath ?? "");
  const identify = options.principal === undefined ? null : identifyBy(options.principal);
  return (req, res) => {
    const target = stripBasePath(req.url ?? "", basePath);
    mount.accept(req, res, { target, authenticate: identify === null ? null : () => identify(req) });
  };
}

/** A gateway behind the pair of node:http or of node:http2's compatibility layer, as a host hands it over. */
export class MountedGateway {
  readonly #frontEnd: NodeFrontEnd;
  readonly #onStreaming: (res: ServerResponse) => void;

  constructor(gateway: EmbeddedGateway, options: MountOptions) {
    const { logger } = gateway;
    this.#frontEnd = new NodeFrontEnd({
      handle: (request, responder, handleOptions) => gateway.handle(request, responder, handleOptions),
      encodeRefusal: ({ status, code, message, path, headers }) =>
        gateway.encodeRefusal(status, code, message, path, headers),
      pool: gateway.pool,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      onConnectionError: options.onConnectionError ?? ((problem) => logProblem(logger, problem)),
    });
    this.#onStreaming = warnOfTransforms(logger);
  }

  /** Takes a request. `target` is its path and query below the mount, or null when it is not below it. */
  accept(
    req: IncomingMessage | Http2ServerRequest,
    res: ServerResponse | Http2ServerResponse,
    word: { readonly target: string | null; readonly authenticate: (() => PrincipalAnswer) | null },
  ): void {
    this.#frontEnd.accept({
      // The front end asks the message for its version before it touches what the two kinds do not share.
      req: req as IncomingMessage,
      res: res as ServerResponse,
      // A server that has no `checkContinue` listener of ours has already sent `100 Continue`.
      owesContinue: false,
      hosted: { target: word.target, authenticate: word.authenticate, onStreaming: this.#onStreaming },
    });
  }
}

/** Says once when a middleware transforms streamed answers: it holds back what it waits to compress. */
function warnOfTransforms(logger: Logger): (res: ServerResponse) => void {
  let hasWarned = false;
  return (res) => {
    if (hasWarned || !isWrapped(res, "write")) return;
    const encoding = res.getHeader("content-encoding");
    if (encoding === undefined) return;
    hasWarned = true;
    logger.warn(
      { contentEncoding: String(encoding) },
      "A middleware compresses streamed answers of the gateway and so holds their events back. Mount the gateway before it, or let it honour `cache-control: no-transform`.",
    );
  };
}

/** Writes a problem to the log, loud only where the host or we have a defect. */
function logProblem(logger: Logger, { kind, detail, cause }: ConnectionProblem): void {
  if (kind === "handler-threw" || kind === "principal-threw")
    logger.error({ kind, detail, error: String(cause) }, "the front end caught a defect");
  else logger.debug({ kind, detail }, "a client connection was refused or failed");
}

// A gateway as Express middleware. Express strips the mount path from `req.url`; ours begins behind it.

import type { Request, Response, NextFunction } from "express";

import { identifyBy } from "../embedding/index.ts";
import type { EmbeddedGateway, PrincipalSource } from "../embedding/index.ts";
import { MountedGateway } from "../http/index.ts";
import type { MountOptions } from "../http/index.ts";
import { pathOf } from "../http/request-target.ts";

/** Options of `expressGateway`. */
export interface ExpressGatewayOptions extends MountOptions {
  /** Who is calling; without it the keys of the configuration decide. */
  readonly principal?: PrincipalSource<Request>;
  /** Hands requests to paths that the gateway does not serve to `next()`; by default it answers them with 404 in the client's dialect. */
  readonly passUnknown?: boolean;
}

/** What Express mounts. */
export type ExpressGateway = (req: Request, res: Response, next: NextFunction) => void;

/**
 * Makes a middleware for Express 4 and 5: `app.use("/llm", expressGateway(gateway))`, before any body parser. Bytes that a
 * parser kept as `req.rawBody` are taken in place of the stream.
 */
export function expressGateway(gateway: EmbeddedGateway, options: ExpressGatewayOptions = {}): ExpressGateway {
  const mount = new MountedGateway(gateway, options);
  const identify = options.principal === undefined ? null : identifyBy(options.principal);
  const passesUnknown = options.passUnknown ?? false;
  return (req, res, next) => {
    if (passesUnknown && !gateway.serves(req.method, pathOf(req.url))) return next();
    // Read now: Express puts the prefix back when the middleware returns to it, and a request may have to wait for its turn.
    mount.accept(req, res, { target: req.url, authenticate: identify === null ? null : () => identify(req) });
  };
}

// A gateway as a fetch handler: for hosts that give a `Request` and take a `Response`, such as Hono, Next.js and Node's own
// servers behind an adapter.

import { identifyBy, readBasePath, stripBasePath } from "../embedding/index.ts";
import type { EmbeddedGateway, PrincipalSource } from "../embedding/index.ts";
import { pairsOf } from "./header-pairs.ts";
import { serveFetch } from "./serve-fetch.ts";

/** Options of `fetchGateway`. */
export interface FetchGatewayOptions<HostRequest extends Request = Request> {
  /** Where the gateway's routes begin, such as `/api/llm`; other paths are answered with 404. Default: the root. */
  readonly basePath?: string;
  /** Who is calling; without it the keys of the configuration decide. */
  readonly principal?: PrincipalSource<HostRequest>;
  /** Address of the client, or of the proxy before the host; failed authentications are counted by it. Default: not known. */
  readonly remoteAddress?: (request: HostRequest) => string | null;
  /** Given a promise per request that ends with the exchange, which may outlive its client: for hosts that freeze idle processes. */
  readonly waitUntil?: (work: Promise<void>) => void;
}

/** A handler of requests. */
export type FetchGateway<HostRequest extends Request = Request> = (request: HostRequest) => Promise<Response>;

/** What a host is given when its client left before there was an answer: nobody reads it. */
const CLIENT_CLOSED_REQUEST = 499;

/** Makes a fetch handler that answers every request it is given. The body must not have been read before. */
export function fetchGateway<HostRequest extends Request = Request>(
  gateway: EmbeddedGateway,
  options: FetchGatewayOptions<HostRequest> = {},
): FetchGateway<HostRequest> {
  const { waitUntil } = options;
  const basePath = readBasePath(options.basePath ?? "");
  const identify = options.principal === undefined ? null : identifyBy(options.principal);

  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const target = stripBasePath(pathname + search, basePath);
    const { method, headers, body, signal } = request;
    const refuse = (status: number, code: string, message: string): Response => {
      const refusal = gateway.encodeRefusal(status, code, message, target ?? pathname, [...headers].flat());
      return new Response(refusal.body, { status, headers: pairsOf(refusal.headers) });
    };
    if (target === null)
      return refuse(404, "route_not_found", "The path is not below the one that this gateway is mounted at.");
    let principal;
    try {
      principal = identify === null ? undefined : await identify(request);
    } catch (error) {
      gateway.logger.error({ error: String(error) }, "the host's principal function threw");
      return refuse(500, "internal", "The gateway failed.");
    }
    const settled = waitUntil === undefined ? null : announceWork(waitUntil);
    try {
      const remoteAddress = options.remoteAddress?.(request) ?? null;
      const parts = { method, target, headers, body, isConsumed: request.bodyUsed, remoteAddress, source: request };
      return await serveFetch(gateway, parts, {
        signal,
        ...(principal === undefined ? {} : { principal }),
        ...(settled === null ? {} : { onEnd: settled }),
      });
    } catch (error) {
      if (signal.aborted) return new Response(null, { status: CLIENT_CLOSED_REQUEST });
      throw error;
    }
  };
}

/** Hands a promise to the host; returns what ends it. */
function announceWork(waitUntil: (work: Promise<void>) => void): () => void {
  let settle: (() => void) | null = null;
  waitUntil(
    new Promise((resolve) => {
      settle = resolve;
    }),
  );
  return () => settle?.();
}

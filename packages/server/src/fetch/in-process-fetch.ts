// `fetch` that ends in a gateway of this process: no socket, no port, the same answers, streams, aborts and errors as over the
// wire. Only path and query of a URL count; its origin is whatever the SDK believes to talk to.

import type { Principal } from "@dragoman/core";

import type { EmbeddedGateway } from "../embedding/index.ts";
import type { FetchRequestParts } from "./fetch-request.ts";
import { serveFetch } from "./serve-fetch.ts";

/** A request and what may cut it short. */
interface OutgoingCall {
  readonly parts: FetchRequestParts;
  readonly signal: AbortSignal | null;
}

/** Makes a `fetch` for one caller. Credentials in its requests are ignored: the host has said who is calling. */
export function createInProcessFetch(gateway: EmbeddedGateway, principal: Principal): typeof globalThis.fetch {
  // Async, so that what `fetch` rejects with is not thrown.
  return async (input, init) => {
    const { parts, signal } = isPlain(input, init) ? readPlainCall(input, init) : readRequest(new Request(input, init));
    return serveFetch(gateway, parts, { principal, signal });
  };
}

type PlainInit = Omit<RequestInit, "body"> & { readonly body?: string | Uint8Array | null };

/** What the SDKs send: a URL with a body in memory. It needs no `Request`, whose body would be a stream again. */
function isPlain(input: string | URL | Request, init: RequestInit | undefined): input is string | URL {
  const body: unknown = init?.body ?? null;
  return !(input instanceof Request) && (body === null || typeof body === "string" || body instanceof Uint8Array);
}

function readPlainCall(input: string | URL, init: RequestInit | undefined): OutgoingCall {
  // `isPlain` has seen the body.
  const { body = null, signal = null, method = "GET", headers: given } = (init ?? {}) as PlainInit;
  const { pathname, search } = new URL(input);
  let headers = given instanceof Headers ? given : new Headers(given);
  if (typeof body === "string" && !headers.has("content-type")) {
    // WHATWG fetch, "extract a body": a text says what it is.
    headers = new Headers(headers);
    headers.set("content-type", "text/plain;charset=UTF-8");
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const parts = {
    method: method.toUpperCase(),
    target: pathname + search,
    headers,
    body: bytes,
    isConsumed: false,
    remoteAddress: null,
    source: null,
  };
  return { parts, signal };
}

function readRequest(request: Request): OutgoingCall {
  const { method, headers, body, signal } = request;
  const { pathname, search } = new URL(request.url);
  return {
    parts: {
      method,
      target: pathname + search,
      headers,
      body,
      isConsumed: request.bodyUsed,
      remoteAddress: null,
      source: request,
    },
    signal,
  };
}

// One exchange between WHATWG objects and the engine, for the fetch handler and for the in-process `fetch` alike.

import type { HandleOptions } from "@dragoman/core";

import type { EmbeddedGateway } from "../embedding/index.ts";
import { FetchRequest } from "./fetch-request.ts";
import type { FetchRequestParts } from "./fetch-request.ts";
import { FetchResponder } from "./fetch-responder.ts";

/** Serves a request; rejects when its signal is aborted before there is an answer. */
export function serveFetch(
  gateway: EmbeddedGateway,
  parts: FetchRequestParts,
  options: HandleOptions & { readonly signal: AbortSignal | null },
): Promise<Response> {
  const { signal, ...handleOptions } = options;
  if (signal?.aborted === true) {
    handleOptions.onEnd?.();
    return Promise.reject(signal.reason);
  }
  const request = new FetchRequest(parts, gateway.pool);
  const responder = new FetchResponder(signal);
  responder.onLeft = () => request.stopReading();
  gateway.handle(request, responder, handleOptions);
  return responder.response;
}

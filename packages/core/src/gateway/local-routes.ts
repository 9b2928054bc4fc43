/** Routes that belong to no dialect: liveness, readiness, and the bare request that agents probe a base URL with. */
import { announcesBody } from "./announced-body.ts";
import type { ClientRequest, Responder } from "./ports.ts";

const JSON_HEADERS = ["content-type", "application/json", "cache-control", "no-store"] as const;

/** What readiness is told from. */
export interface Readiness {
  readonly isReady: boolean;
  readonly generation: number;
}

/** Whether a request is answered here and not by a dialect. */
export function isLocalRoute(method: string, path: string): boolean {
  if (method === "HEAD" && path === "/") return true;
  return (method === "GET" || method === "HEAD") && (path === "/healthz" || path === "/readyz");
}

/** Answers a local route; false = it is none. */
export function answerLocalRoute(request: ClientRequest, responder: Responder, readiness: Readiness): boolean {
  const { method, path } = request;
  if (!isLocalRoute(method, path)) return false;
  const hasBody = announcesBody(request);
  switch (path) {
    case "/":
      responder.head(200, JSON_HEADERS);
      responder.end(null, hasBody);
      return true;
    case "/healthz":
      respond(responder, 200, { status: "ok" }, method, hasBody);
      return true;
    case "/readyz":
      respond(
        responder,
        readiness.isReady ? 200 : 503,
        { status: readiness.isReady ? "ready" : "stopping", generation: readiness.generation },
        method,
        hasBody,
      );
      return true;
    default:
      return false;
  }
}

const respond = (
  responder: Responder,
  status: number,
  body: Readonly<Record<string, unknown>>,
  method: string,
  closeConnection: boolean,
): void => {
  responder.head(status, JSON_HEADERS);
  responder.end(method === "HEAD" ? null : Buffer.from(JSON.stringify(body)), closeConnection);
};

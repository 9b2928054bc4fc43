/** Routes that belong to no dialect: liveness, readiness, and the bare request that agents probe a base URL with. */
import { announcesBody } from "./announced-body.ts";
import type { ClientRequest, Responder } from "./ports.ts";

const JSON_HEADERS = ["content-type", "application/json", "cache-control", "no-store"] as const;

/** What readiness is told from. */
export interface Readiness {
  /** Not draining. */
  readonly isOpen: boolean;
  readonly generation: number;
  readonly parts: PartsReadiness;
}

/** How the parts around the engine are, for readiness probes. */
export interface PartsReadiness {
  /** False: requests would be refused now. */
  readonly isReady: boolean;
  /** What the probe's answer says of them, beside its own members. No secret: anyone may ask. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Whether a request is answered here and not by a dialect. */
export function isLocalRoute(method: string, path: string): boolean {
  if (method === "HEAD" && path === "/") return true;
  return (method === "GET" || method === "HEAD") && (path === "/healthz" || path === "/readyz");
}

/** Answers a local route. */
export function answerLocalRoute(request: ClientRequest, responder: Responder, readiness: Readiness): void {
  const { method, path } = request;
  const hasBody = announcesBody(request);
  if (path === "/readyz") respondReadiness(responder, readiness, method, hasBody);
  else if (path === "/healthz") respond(responder, 200, { status: "ok" }, method, hasBody);
  else {
    responder.head(200, JSON_HEADERS);
    responder.end(null, hasBody);
  }
}

function respondReadiness(
  responder: Responder,
  { isOpen, generation, parts }: Readiness,
  method: string,
  closeConnection: boolean,
): void {
  const status = isOpen ? (parts.isReady ? "ready" : "unready") : "stopping";
  respond(responder, status === "ready" ? 200 : 503, { status, generation, ...parts.facts }, method, closeConnection);
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

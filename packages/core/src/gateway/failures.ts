/** Errors that the engine itself makes, with the texts a client may see. Provider errors come from the dialects. */
import type { ErrorClass, NeutralError } from "../ir/index.ts";
import type { JsonSyntaxError } from "../json/index.ts";
import type { BodyReading, UpstreamFailure } from "./ports.ts";

interface FailureParts {
  readonly class: ErrorClass;
  readonly message: string;
  readonly code: string;
  readonly param?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
}

const clientFault = (parts: FailureParts): NeutralError => ({
  ...parts,
  origin: "client",
  retrySame: false,
  fallback: false,
});
const gatewayFault = (parts: FailureParts): NeutralError => ({
  ...parts,
  origin: "gateway",
  retrySame: false,
  fallback: false,
});

export const invalidRequest = (message: string, code: string = "invalid_request"): NeutralError =>
  clientFault({ class: "invalid-request", message, code });

/** A body that is no JSON text: what, and where by line, column and path. */
export function jsonFailure(error: JsonSyntaxError): NeutralError {
  const where = `line ${error.line}, column ${error.column} (byte ${error.offset}), at ${error.path}`;
  return clientFault({
    class: "invalid-request",
    message: `The request body is not valid JSON: ${error.message} At ${where}.`,
    code: error.code,
    details: { line: error.line, column: error.column, offset: error.offset, path: error.path },
  });
}

export function bodyFailure(reason: (BodyReading & { ok: false })["reason"], maxBytes: number): NeutralError {
  switch (reason) {
    case "too-large":
      return clientFault({
        class: "too-large",
        message: `The request body is larger than the ${maxBytes} bytes that this gateway accepts.`,
        code: "body_too_large",
      });
    case "timeout":
      return clientFault({
        class: "timeout",
        message: "The request body did not arrive in time.",
        code: "body_timeout",
      });
    case "incomplete":
      return invalidRequest("The request body ended before its announced length.");
    case "malformed":
      return invalidRequest("The request body's transfer coding is malformed.");
    case "consumed":
      return gatewayFault({
        class: "internal",
        message:
          "The request body was read before the gateway saw it. Mount the gateway before body parsers such as express.json(), or keep the raw bytes as req.rawBody.",
        code: "body_consumed",
      });
  }
}

export const unauthorized = (message: string): NeutralError =>
  clientFault({ class: "auth", message, code: "invalid_api_key" });

/** In place of a 401 when too many came from one address. Like it, it tells nothing about the key. */
export const tooManyFailures = (retryAfterMs: number): NeutralError =>
  clientFault({
    class: "rate-limit",
    message: "Too many requests with a missing or incorrect API key came from this address. Wait, and check the key.",
    code: "too_many_failed_authentications",
    retryAfterMs,
  });

export const unknownPath = (message: string): NeutralError =>
  clientFault({ class: "not-found", message, code: "route_not_found" });

export const unknownRoute = (method: string): NeutralError =>
  unknownPath(`This gateway serves no such path for ${method} requests.`);

export const wrongMethod = (allow: string): NeutralError =>
  clientFault({
    class: "method-not-allowed",
    message: `This path takes ${allow} requests only.`,
    code: "method_not_allowed",
  });

export const unsupportedMedia = (message: string): NeutralError =>
  clientFault({ class: "unsupported-media-type", message, code: "unsupported_media_type" });

export const unknownModel = (model: string): NeutralError =>
  clientFault({
    class: "not-found",
    message: `The model "${printable(model)}" does not exist or you do not have access to it.`,
    code: "model_not_found",
  });

export const forbiddenModel = (model: string): NeutralError =>
  clientFault({
    class: "permission",
    message: `This key may not use the model "${printable(model)}".`,
    code: "permission_denied",
  });

export const internalFailure = (): NeutralError =>
  gatewayFault({ class: "internal", message: "The gateway failed on this request.", code: "internal_error" });

export const shuttingDown = (): NeutralError =>
  gatewayFault({
    class: "overloaded",
    message: "The gateway is shutting down.",
    code: "gateway_closed",
    retryAfterMs: 1_000,
  });

/** Every deployment that could serve rests; the soonest one is back after `retryAfterMs`. */
export const allResting = (retryAfterMs: number): NeutralError =>
  gatewayFault({
    class: "overloaded",
    message: "Every deployment of this model is unavailable for the moment.",
    code: "no_deployment_available",
    retryAfterMs,
  });

export const noCredential = (): NeutralError => ({
  class: "auth",
  origin: "upstream",
  message: "The gateway has no working credential for this provider.",
  code: "upstream_credential_rejected",
  retrySame: false,
  fallback: true,
});

/** Our own patience with an upstream ran out. `wholeExchange` leaves no time for another. */
export const upstreamTimeout = (wholeExchange: boolean): NeutralError => ({
  class: "timeout",
  origin: "gateway",
  message: "The provider did not answer in time.",
  code: "timeout",
  retrySame: false,
  fallback: !wholeExchange,
});

/** An upstream that broke HTTP, its content type or its dialect. The detail is for the log, not for the client. */
export const brokenAnswer = (detail: string, code: string = "upstream_protocol_error"): NeutralError => ({
  class: "protocol",
  origin: "upstream",
  message: detail,
  code,
  retrySame: true,
  fallback: true,
});

export function transportFailure(failure: UpstreamFailure): NeutralError {
  if (failure.kind === "protocol") return brokenAnswer(failure.detail);
  if (failure.kind === "connect-timeout")
    return { ...upstreamTimeout(false), message: "The provider could not be reached in time." };
  return {
    class: "network",
    origin: "upstream",
    message: failure.hasResponse ? "The provider connection was lost." : "The provider could not be reached.",
    code: "upstream_unreachable",
    retrySame: true,
    fallback: true,
    details: { detail: failure.detail },
  };
}

/** Names from a request are echoed short and without control characters. */
const printable = (name: string): string => name.slice(0, 128).replaceAll(/\p{Cc}/gu, "?");

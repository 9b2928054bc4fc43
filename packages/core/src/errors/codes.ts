// The one table of error codes: what each means for the HTTP status, whose fault it is and whether trying again can help. Codes
// are API and never change meaning; docs/errors.md holds the same list for readers, and a test compares both ways.

/** Who has to act: the caller, this gateway, a provider, or the program that embeds the gateway. */
export type ErrorFault = "client" | "gateway" | "upstream" | "host";

/** One row of the table. */
export interface ErrorCodeEntry {
  /** HTTP status of an answer that ends with this error. */
  readonly status: number;
  readonly fault: ErrorFault;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** One sentence for documentation; not the message of an error. */
  readonly summary: string;
}

/** All codes. */
export const ERROR_CODES = {
  json_syntax: { status: 400, fault: "client", retryable: false, summary: "The body is not one RFC 8259 JSON text." },
  json_duplicate_member: {
    status: 400,
    fault: "client",
    retryable: false,
    summary: "An object of the body names a member twice.",
  },
  json_depth: { status: 400, fault: "client", retryable: false, summary: "The body is nested deeper than allowed." },
  json_members: {
    status: 400,
    fault: "client",
    retryable: false,
    summary: "The body has more members or values than allowed.",
  },
  json_encoding: { status: 400, fault: "client", retryable: false, summary: "The body is not valid UTF-8." },
  body_too_large: { status: 413, fault: "client", retryable: false, summary: "The body is larger than allowed." },
  body_timeout: { status: 408, fault: "client", retryable: true, summary: "The body did not arrive in time." },
  unsupported_media_type: {
    status: 415,
    fault: "client",
    retryable: false,
    summary: "The content type or coding is not supported.",
  },
  route_not_found: { status: 404, fault: "client", retryable: false, summary: "No dialect has this path." },
  method_not_allowed: {
    status: 405,
    fault: "client",
    retryable: false,
    summary: "The path exists, but not with this method.",
  },
  unauthorized: { status: 401, fault: "client", retryable: false, summary: "The credential is missing or unknown." },
  forbidden: { status: 403, fault: "client", retryable: false, summary: "The credential does not allow this." },
  invalid_request: {
    status: 400,
    fault: "client",
    retryable: false,
    summary: "A member of the request has a wrong type or value.",
  },
  model_not_found: { status: 404, fault: "client", retryable: false, summary: "No model has this name." },
  unsupported_request: {
    status: 400,
    fault: "client",
    retryable: false,
    summary: "No deployment of the model can express the request.",
  },
  rate_limited: {
    status: 429,
    fault: "client",
    retryable: true,
    summary: "A limit of requests, tokens or parallel calls is reached.",
  },
  budget_exceeded: { status: 402, fault: "client", retryable: false, summary: "A budget does not cover the request." },
  ledger_unavailable: {
    status: 503,
    fault: "gateway",
    retryable: true,
    summary: "Calls cannot be accounted for now, so none is let in.",
  },
  ledger_store_failed: {
    status: 503,
    fault: "gateway",
    retryable: true,
    summary: "The store of entries, keys and owners cannot be reached, or failed.",
  },
  request_cancelled: {
    status: 499,
    fault: "client",
    retryable: true,
    summary: "The client went away before the answer was complete.",
  },
  upstream_error: { status: 502, fault: "upstream", retryable: true, summary: "The provider failed." },
  upstream_unreachable: {
    status: 502,
    fault: "upstream",
    retryable: true,
    summary: "The provider could not be reached, or the connection was lost.",
  },
  upstream_protocol_error: {
    status: 502,
    fault: "upstream",
    retryable: true,
    summary: "The provider's answer broke its protocol.",
  },
  upstream_timeout: {
    status: 504,
    fault: "upstream",
    retryable: true,
    summary: "The provider did not answer in time.",
  },
  upstream_overloaded: { status: 503, fault: "upstream", retryable: true, summary: "The provider is overloaded." },
  upstream_rate_limited: {
    status: 429,
    fault: "upstream",
    retryable: true,
    summary: "The provider's rate limit is reached.",
  },
  upstream_auth_error: {
    status: 502,
    fault: "gateway",
    retryable: false,
    summary: "The provider refused the gateway's credential.",
  },
  upstream_model_not_found: {
    status: 502,
    fault: "gateway",
    retryable: false,
    summary: "The provider does not know the deployment's model.",
  },
  no_deployment: {
    status: 503,
    fault: "gateway",
    retryable: true,
    summary: "No deployment of the model is available now.",
  },
  config_invalid: {
    status: 500,
    fault: "host",
    retryable: false,
    summary: "The configuration breaks its schema or contradicts itself.",
  },
  config_unreadable: { status: 500, fault: "host", retryable: false, summary: "The configuration could not be read." },
  gateway_closed: {
    status: 503,
    fault: "gateway",
    retryable: true,
    summary: "The gateway is shutting down or closed.",
  },
  state_violation: {
    status: 500,
    fault: "host",
    retryable: false,
    summary: "A method was called in a state or with arguments that forbid it.",
  },
  internal: { status: 500, fault: "gateway", retryable: false, summary: "A defect of the gateway." },
} as const;

/** A code of the table. */
export type ErrorCode = keyof typeof ERROR_CODES;

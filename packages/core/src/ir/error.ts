/** Errors of a call in one classification, so that routing decides and every dialect can tell its client. */
import type { Raw } from "./text.ts";

/** What went wrong, as routing sees it; each dialect has its own status and words for it. */
export type ErrorClass =
  | "auth"
  | "permission"
  | "not-found"
  | "method-not-allowed"
  | "invalid-request"
  | "unsupported-media-type"
  | "too-large"
  | "context-length"
  | "content-policy"
  | "rate-limit"
  | "quota"
  | "overloaded"
  | "timeout"
  | "upstream-5xx"
  | "network"
  | "protocol"
  | "no-deployment"
  | "cancelled"
  | "internal";

/** An error of a client's request, of an upstream call, or of the gateway itself. */
export interface NeutralError {
  readonly class: ErrorClass;
  readonly origin: "client" | "gateway" | "upstream";
  /** Safe to show to a client when the class passes texts on; carries no secret, host or stack. */
  readonly message: string;
  /** The upstream's HTTP status, where there was one. */
  readonly status?: number;
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
  /** How long the upstream, or our own limit, asks to wait. */
  readonly retryAfterMs?: number;
  /** The upstream's retry fields as a flat header list, spelled as they came, for the final error. */
  readonly retryAfterHeaders?: readonly string[];
  /** The same deployment may be tried again. */
  readonly retrySame: boolean;
  /** Another deployment may be tried; `larger-window` only those with a larger context window. */
  readonly fallback: boolean | "larger-window";
  readonly upstreamRequestId?: string;
  /** Structured details that one dialect's envelope shows. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly raw?: Raw;
}

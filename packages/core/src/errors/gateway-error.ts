// The one class of thrown errors. Recognised by a registered symbol, because two copies of this package can be loaded at once and
// `instanceof` would tell them apart.

import { ERROR_CODES } from "./codes.ts";
import type { ErrorCode } from "./codes.ts";

const MARK: symbol = Symbol.for("dragoman.error");

/** What an error may carry besides code and message. */
export interface GatewayErrorOptions {
  /** What led to it. */
  readonly cause?: unknown;
  /** Facts for programs; never a secret or body content. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An error with a stable code. The code is API, the message is for people and may change. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(code: ErrorCode, message: string, options?: GatewayErrorOptions) {
    super(message, options !== undefined && "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options?.details ?? null;
  }

  /** The HTTP status of an answer that ends with this error. */
  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }

  static {
    Object.defineProperty(this.prototype, "name", { value: "GatewayError", configurable: true, writable: true });
    Object.defineProperty(this.prototype, MARK, { value: true });
  }
}

/** Whether a value is a GatewayError of any loaded copy of this package. */
export function isGatewayError(value: unknown): value is GatewayError {
  return value instanceof Object && MARK in value;
}

/** What a driver throws, as the one error that stores reject with. Messages never hold the address or password of a database. */
import { GatewayError, isGatewayError } from "@dragoman/core";

/** Wraps what a driver threw while `action` ("ingest entries"); our own errors stay as they are. */
export function storeFailure(store: string, action: string, cause: unknown): GatewayError {
  if (isGatewayError(cause)) return cause;
  const reason = reasonOf(cause);
  return new GatewayError("ledger_store_failed", `The ${store} store failed to ${action}: ${reason}`, { cause });
}

/** A store that was closed, or whose file or schema is not what it should be. */
export function storeRefusal(message: string): GatewayError {
  return new GatewayError("ledger_store_failed", message);
}

/** Code and first line of an error. Of several that are thrown as one, the first. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error)) return "the driver threw no error.";
  const code = "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : "";
  const [line = ""] = cause.message.split("\n", 1);
  return `${withoutAddresses(line)}${code}.`;
}

/** Drivers quote an address that they cannot read. */
function withoutAddresses(line: string): string {
  return line.replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(address)");
}

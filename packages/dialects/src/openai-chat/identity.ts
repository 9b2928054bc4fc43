// How an exchange is named to clients of this dialect.
import type { HeaderList } from "@dragoman/core";

/** The header that carries the gateway's id of an exchange. */
export function identify(requestId: string): HeaderList {
  return ["x-request-id", requestId];
}

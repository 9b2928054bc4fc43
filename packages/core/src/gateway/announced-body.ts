/** Whether a request brings a body, told from its head alone: by a length or by a transfer coding (RFC 9112 §6.3). */
import { findHeader } from "../dialect/index.ts";
import type { ClientRequest } from "./ports.ts";

/** True when body bytes follow the head, also if their number is not known yet. */
export function announcesBody(request: Pick<ClientRequest, "contentLength" | "headers">): boolean {
  if (request.contentLength !== null) return request.contentLength > 0;
  return findHeader(request.headers, "transfer-encoding") !== undefined;
}

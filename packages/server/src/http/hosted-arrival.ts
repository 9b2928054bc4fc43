// What a host that mounts this front end says about a request: where its routes begin, who is calling, and what it wants to
// know of the answer.

import type { ServerResponse } from "node:http";

import type { Principal } from "@dragoman/core";

/** Who is calling, at once or later; null = nobody that the host knows. */
export type PrincipalAnswer = Principal | null | Promise<Principal | null>;

/** A host's word on one request. */
export interface HostedArrival {
  /** The request target below the mount, in place of the message's own; null = the request is not below it. */
  readonly target: string | null;
  /** Asked once, when the request's turn on its connection has come; null = the request's own credential decides. */
  readonly authenticate: (() => PrincipalAnswer) | null;
  /** The head of an answer that comes in pieces was written. */
  readonly onStreaming: ((res: ServerResponse) => void) | null;
}

/**
 * Writes a head through the host's wrapper of `writeHead`. Middleware that patches it to see the final headers may not
 * understand a flat list, which came to its library (`on-headers`) only in 1.1.0.
 */
export function writeHeadThrough(res: ServerResponse, status: number, headers: readonly string[]): void {
  for (let index = 0; index + 1 < headers.length; index += 2)
    res.setHeader(headers[index] as string, headers[index + 1] as string);
  res.writeHead(status);
}

/** Whether something in front of us has replaced a method of this response. */
export function isWrapped(res: ServerResponse, method: "write" | "writeHead"): boolean {
  return Object.hasOwn(res, method);
}

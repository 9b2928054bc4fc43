// The agent: lets a bench on another machine use this one as a `Host`, by JSON over HTTP with a bearer token. It starts programs on
// request, so it belongs on a closed network; the token is compared in constant time.
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";

import { answer, answerWhenDone, readText } from "../door/json-door.ts";
import type { Host } from "./host.ts";

/** Methods of a host that an agent offers. */
export const AGENT_METHODS = [
  "inventory",
  "locate",
  "startMock",
  "startTarget",
  "sample",
  "ended",
  "stop",
  "cpus",
] as const;

/** Name of one of them. */
export type AgentMethod = (typeof AGENT_METHODS)[number];

/** Creates the agent's server: `POST /<method>` with the arguments as a JSON array. */
export function createAgentServer(host: Host, token: string): Server {
  return createServer((request, response) => {
    if (!isAuthorised(request.headers.authorization, token)) {
      answer(response, 401, { error: "the token is missing or wrong" });
      return;
    }
    answerWhenDone(
      response,
      call(host, request).then((value) => ({ value })),
    );
  });
}

async function call(host: Host, request: IncomingMessage): Promise<unknown> {
  const method = AGENT_METHODS.find((name) => request.method === "POST" && request.url === `/${name}`);
  if (method === undefined) throw new Error(`${request.method} ${request.url} is not known`);
  const parsed: unknown = JSON.parse(await readText(request));
  if (!Array.isArray(parsed)) throw new Error("the arguments must be an array");
  // The shapes are those of `Host`: the caller is the same package, held back by the token.
  return (host[method] as (...args: unknown[]) => Promise<unknown>).apply(host, parsed);
}

function isAuthorised(header: string | undefined, token: string): boolean {
  // Digests have one length, whatever the header holds.
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(header ?? ""), digest(`Bearer ${token}`));
}

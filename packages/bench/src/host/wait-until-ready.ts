// Polls a freshly started process until it answers, for as long as its plan allows.
import { request } from "node:http";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import type { Readiness } from "../contract/target.ts";

const POLL_MS = 50;

/** Status of a `GET`, or `undefined` when no answer came. */
function getStatus(host: string, port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const outgoing = request({ host, port, path, method: "GET", agent: false, timeout: 2000 }, (response) => {
      response.resume();
      response.on("error", () => resolve(undefined));
      response.on("end", () => resolve(response.statusCode));
    });
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => resolve(undefined));
    outgoing.end();
  });
}

/**
 * Resolves when `GET path` answers with one of the statuses.
 *
 * @throws Error when the process ended (`ended` says how) or the time is over.
 */
export async function waitUntilReady(
  address: { readonly host: string; readonly port: number },
  ready: Readiness,
  ended: () => string | undefined,
): Promise<void> {
  const deadline = Date.now() + ready.timeoutMs;
  let last: number | undefined;
  while (Date.now() < deadline) {
    const end = ended();
    if (end !== undefined) throw new Error(`it did not become ready: ${end}`);
    last = await getStatus(address.host, address.port, ready.path);
    if (last !== undefined && (ready.statuses ?? [200]).includes(last)) return;
    await pause(POLL_MS);
  }
  throw new Error(
    `it did not become ready within ${ready.timeoutMs} ms; GET ${ready.path} last answered ${last ?? "nothing"}`,
  );
}

/** A port that was free a moment ago, so that no target collides with another process of the host. */
export function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port: 0 }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

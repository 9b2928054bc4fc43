// The mock's control door, on a port of its own so that no gateway can reach it by forwarding: profile, faults, calls, health.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import type { LatencyProfileId } from "../contract/cell.ts";
import type { CallCounts, LoggedCall } from "./call-log.ts";
import type { Fault } from "./faults.ts";

/** What the door can do, for one mock process or for a cluster of them. */
export interface MockControl {
  setProfile(profile: LatencyProfileId): Promise<void>;
  arm(faults: readonly Fault[]): Promise<void>;
  resetCalls(isDetailed: boolean): Promise<void>;
  counts(): Promise<CallCounts>;
  details(): Promise<readonly LoggedCall[]>;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Creates the control server; the caller listens and closes. */
export function createControlServer(control: MockControl): Server {
  return createServer((request, response) => {
    handle(control, request).then(
      (body) => answer(response, 200, body ?? {}),
      (error: unknown) => answer(response, 400, { error: error instanceof Error ? error.message : "failed" }),
    );
  });
}

async function handle(control: MockControl, request: IncomingMessage): Promise<unknown> {
  const route = `${request.method} ${request.url}`;
  switch (route) {
    case "GET /health":
      return { ok: true };
    case "PUT /profile":
      return control.setProfile((await readJson<{ profile: LatencyProfileId }>(request)).profile);
    case "PUT /faults":
      return control.arm(await readJson<readonly Fault[]>(request));
    case "PUT /calls":
      return control.resetCalls((await readJson<{ detailed?: boolean }>(request)).detailed === true);
    case "GET /counts":
      return control.counts();
    case "GET /calls":
      return control.details();
    default:
      throw new Error(`${route} is not known`);
  }
}

/** The door is opened by this package's own client only, so the shape of the body is taken as sent. */
async function readJson<Body>(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error("the body is too large");
    chunks.push(chunk as Buffer);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as Body;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

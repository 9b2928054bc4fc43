// The mock's control door, on a port of its own so that no gateway can reach it by forwarding: profile, faults, calls, health.
import { createServer, type IncomingMessage, type Server } from "node:http";

import type { LatencyProfileId } from "../contract/cell.ts";
import { answerWhenDone, readText } from "../door/json-door.ts";
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

/** Creates the control server; the caller listens and closes. */
export function createControlServer(control: MockControl): Server {
  return createServer((request, response) => {
    answerWhenDone(
      response,
      handle(control, request).then((body) => body ?? {}),
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
  return JSON.parse(await readText(request)) as Body;
}

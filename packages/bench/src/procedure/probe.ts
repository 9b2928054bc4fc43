// Single requests before the load: does the target serve the good key, and does it refuse a missing and an unknown one? A comparison
// in which one side does not check keys compares different work.
import { request as httpRequest } from "node:http";

import type { Credential, Scenario } from "../contract/cell.ts";
import type { AuthenticationCheck } from "../contract/record.ts";
import { requestOf, type HttpRequest, type Receiver } from "../matrix/prepare-requests.ts";

const PROBE_TIMEOUT_MS = 30_000;

/** Outcome of all probes of a scenario. */
export interface Probe {
  readonly authentication: AuthenticationCheck;
  readonly unknownModelStatus: number | undefined;
}

/** Sends one request and returns its status, or `undefined` when no complete answer came. */
function sendOnce(
  address: { readonly host: string; readonly port: number },
  request: HttpRequest,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = {
      ...request.headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(request.body),
    };
    const outgoing = httpRequest(
      {
        host: address.host,
        port: address.port,
        method: "POST",
        path: request.path,
        headers,
        agent: false,
        timeout: PROBE_TIMEOUT_MS,
      },
      (response) => {
        response.resume();
        response.on("error", () => resolve(undefined));
        response.on("end", () => resolve(response.statusCode));
      },
    );
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => resolve(undefined));
    outgoing.end(request.body);
  });
}

/** Probes a target with a scenario's request under each credential, and for an unknown model. */
export async function probeTarget(
  address: { readonly host: string; readonly port: number },
  scenario: Scenario,
  receiver: Receiver,
): Promise<Probe> {
  const route = scenario.route === "unknown" ? "openai" : scenario.route;
  const send = (change: Partial<Scenario>): Promise<number | undefined> =>
    sendOnce(address, requestOf({ ...scenario, route, ...change }, receiver));
  const withKey = (credential: Credential): Promise<number | undefined> => send({ credential });
  const goodKeyStatus = await withKey("good");
  const noKeyStatus = await withKey("absent");
  const unknownKeyStatus = await withKey("unknown");
  const unknownModelStatus = await send({ credential: "good", route: "unknown" });
  return {
    authentication: {
      goodKeyStatus,
      noKeyStatus,
      unknownKeyStatus,
      isEnforced: isEnforced({ goodKeyStatus, noKeyStatus, unknownKeyStatus }),
    },
    unknownModelStatus,
  };
}

/** A refusal is any answer but a served one: some gateways answer 500 to a missing key when they have no database. */
export function isEnforced(statuses: Omit<AuthenticationCheck, "isEnforced">): boolean {
  return isServed(statuses.goodKeyStatus) && isRefused(statuses.noKeyStatus) && isRefused(statuses.unknownKeyStatus);
}

/** A complete answer that is not a success. */
export function isRefused(status: number | undefined): boolean {
  return status !== undefined && !isServed(status);
}

function isServed(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

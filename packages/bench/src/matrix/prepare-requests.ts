// Renders a scenario to the bytes that go on the wire for one receiver: a target, or the mock itself for the direct run.
import type { Scenario, ScenarioId } from "../contract/cell.ts";
import type { TargetTraffic, TrafficContext } from "../contract/target.ts";
import type { PreparedRequest } from "../generator/load-spec.ts";
import { requestBody } from "./request-bodies.ts";
import { partsOf } from "./scenarios.ts";

/** Who receives the requests. */
export interface Receiver {
  readonly traffic: TargetTraffic;
  /** Value of the `host` header. */
  readonly authority: string;
  readonly context: TrafficContext;
  /** Statuses that count as the expected rejection; from the probe of the target. */
  readonly rejectionStatuses: readonly number[];
}

/** Headers that the official SDKs send beside their own credentials. */
const CLIENT_HEADERS: Readonly<Record<string, string>> = {
  accept: "application/json",
  "user-agent": "dragoman-bench",
  "x-stainless-lang": "js",
  "x-stainless-package-version": "6.0.0",
  "x-stainless-os": "Linux",
  "x-stainless-arch": "x64",
  "x-stainless-runtime": "node",
  "x-stainless-retry-count": "0",
  "accept-encoding": "identity",
};

/** A request that can be sent once, for probes. */
export interface HttpRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Why a target cannot serve a scenario, or `undefined` when it can. A mix needs each of its parts.
 */
export function unsupportedReason(
  scenario: Scenario,
  unsupported: Readonly<Partial<Record<ScenarioId, string>>>,
  traffic: TargetTraffic,
): string | undefined {
  const own = unsupported[scenario.id];
  if (own !== undefined) return own;
  for (const part of partsOf(scenario)) {
    const reason = unsupported[part.scenario.id];
    if (reason !== undefined) return reason;
    if (traffic.path(part.scenario.dialect) === undefined) return `does not speak ${part.scenario.dialect}`;
  }
  return undefined;
}

/** The request of a scenario for a receiver; not for a mix. */
export function requestOf(scenario: Scenario, { traffic, context }: Receiver): HttpRequest {
  if (scenario.id === "M1") throw new Error("a mix has no request of its own");
  const path = traffic.path(scenario.dialect);
  if (path === undefined) throw new Error(`the receiver does not speak ${scenario.dialect}`);
  return {
    path,
    headers: { ...CLIENT_HEADERS, ...traffic.headers(scenario.dialect, scenario.credential, context) },
    body: requestBody(scenario.id, traffic.model(scenario.route)),
  };
}

/** The traffic of a scenario, rendered. */
export function prepareRequests(scenario: Scenario, receiver: Receiver): PreparedRequest[] {
  return partsOf(scenario).map((part) => {
    const isRejection = part.scenario.expect === "rejection";
    return {
      weight: part.weight,
      bytes: renderRequest(requestOf(part.scenario, receiver), receiver.authority).toString("base64"),
      expect: part.scenario.expect,
      okStatuses: isRejection ? receiver.rejectionStatuses : [200],
    };
  });
}

/**
 * The request that the direct run sends for a scenario: the same one, except that what a gateway rejects goes to the mock as the
 * accepted request it resembles, because the mock rejects nothing.
 */
export function directScenario(scenario: Scenario): Scenario {
  if (scenario.expect !== "rejection") return scenario;
  return { ...scenario, credential: "good", route: "openai", expect: "answer" };
}

/** Parts of the answer to a scenario's slowest request, which the latency script spaces out. */
export function answerParts(scenario: Scenario, streamParts: number): number {
  return partsOf(scenario).some((part) => part.scenario.expect === "stream") ? streamParts : 1;
}

/** One HTTP/1.1 request as bytes. */
function renderRequest({ path, headers, body }: HttpRequest, authority: string): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${authority}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

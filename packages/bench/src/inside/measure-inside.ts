// The inside view's measurement: requests one after the other on one connection, and what the gateway's `server-timing` says of each.
import { Agent, request as httpRequest } from "node:http";

import type { Target } from "../contract/target.ts";
import { createHistogram, type Histogram } from "../histogram/histogram.ts";
import { requestOf, type HttpRequest, type Receiver } from "../matrix/prepare-requests.ts";
import { SCENARIOS } from "../matrix/scenarios.ts";
import type { InsideRow } from "../report/extra-views.ts";
import { parseServerTiming } from "./server-timing.ts";

/** A running target. */
export interface InsideTask {
  readonly target: Pick<Target, "id" | "traffic">;
  readonly gateway: { readonly host: string; readonly port: number };
  readonly upstream: { readonly host: string; readonly port: number };
  readonly warmUpRequests: number;
  readonly requests: number;
}

/**
 * One row per metric, or a single one without a metric when the target sends none. `loadHistograms` must have been awaited.
 *
 * @throws Error when a request is not served.
 */
export async function measureInside({
  target,
  gateway,
  upstream,
  warmUpRequests,
  requests,
}: InsideTask): Promise<InsideRow[]> {
  const receiver: Receiver = {
    traffic: target.traffic,
    authority: `${gateway.host}:${gateway.port}`,
    context: { mockHost: upstream.host, mockPort: upstream.port },
    rejectionStatuses: [],
  };
  const request = requestOf(SCENARIOS.S1, receiver);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const metrics = new Map<string, Histogram>();
  try {
    for (let sent = 0; sent < warmUpRequests; sent += 1) await askForTiming(gateway, request, agent);
    for (let sent = 0; sent < requests; sent += 1) {
      for (const { metric, durationMs } of parseServerTiming(await askForTiming(gateway, request, agent))) {
        const histogram = metrics.get(metric) ?? createHistogram();
        metrics.set(metric, histogram);
        histogram.record(durationMs * 1000);
      }
    }
    if (metrics.size === 0) return [{ target: target.id, metric: undefined, requests, durationUs: undefined }];
    return [...metrics].map(([metric, histogram]) => ({
      target: target.id,
      metric,
      requests,
      durationUs: histogram.percentiles(),
    }));
  } finally {
    agent.destroy();
    for (const histogram of metrics.values()) histogram.destroy();
  }
}

/** Sends one request; the header of its answer, or an empty text. */
function askForTiming(to: InsideTask["gateway"], { path, headers, body }: HttpRequest, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const { host, port } = to;
    const length = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = httpRequest(
      { host, port, method: "POST", path, headers: { ...headers, ...length }, agent },
      (response) => {
        response.resume();
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200) resolve([response.headers["server-timing"] ?? ""].flat().join(", "));
          else reject(new Error(`a request was answered by ${response.statusCode ?? "nothing"}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

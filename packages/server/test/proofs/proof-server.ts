// The real server around an engine that is watched: its front end and its upstream client with poisoned buffers, counted timers and
// a recording admission. At rest nothing may be left over.
import type { EngineLimits, ExchangeOutcome, GatewayConfig, ModelConfig } from "@dragoman/core";

import { createHttpServer } from "../../src/http/index.ts";
import { createNodeClock } from "../../src/ports/index.ts";
import { createWireServer } from "../../src/wire-server/index.ts";
import { createWireClient } from "../../src/wire/index.ts";
import type { WireClient } from "../../src/wire/index.ts";
import { frontEndOfRun } from "../harness/front-end.ts";
import { until } from "../harness/until.ts";
import { makeEngine, proofConfig, WatchedPool } from "./engine-stack.ts";
import { CountingClock } from "./fake-clock.ts";
import { startRawUpstream } from "./raw-upstream.ts";
import type { RawUpstream, RawUpstreamOptions } from "./raw-upstream.ts";
import { RecordingAdmission } from "./recording-admission.ts";

/** What a proof varies. */
export interface ProofServerOptions extends RawUpstreamOptions {
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly server?: GatewayConfig["server"];
  readonly limits?: Partial<EngineLimits>;
}

/** A running server under watch. */
export interface ProofServer {
  readonly port: number;
  readonly upstream: RawUpstream;
  readonly admission: RecordingAdmission;
  readonly outcomes: ExchangeOutcome[];
  readonly wire: WireClient;
  readonly pool: WatchedPool;
  /** Exchanges that have not ended. */
  readonly inFlight: number;
  /** Connections of clients that the server has not seen the end of. */
  readonly clientConnections: number;
  /** Waits until nothing is left over of any exchange, within the limit of `until`. */
  atRest(): Promise<void>;
  close(): Promise<void>;
}

export async function startProofServer(options: ProofServerOptions): Promise<ProofServer> {
  const upstream = await startRawUpstream(options);
  const clock = new CountingClock(createNodeClock());
  const wire = createWireClient({ poisonReadBuffer: true });
  const admission = new RecordingAdmission();
  const pool = new WatchedPool();
  const outcomes: ExchangeOutcome[] = [];
  const problems: string[] = [];
  const gateway = makeEngine({
    config: proofConfig({ chat: upstream.url, messages: upstream.url }, options.models, {
      ...frontEndOfRun(),
      ...options.server,
    }),
    clock,
    upstream: wire,
    admission,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const createServer = gateway.snapshot.server.frontEnd === "node" ? createHttpServer : createWireServer;
  const http = createServer({
    handle: (request, responder) => gateway.handle(request, responder),
    encodeRefusal: ({ status, code, message, path, headers }) =>
      gateway.encodeRefusal(status, code, message, path, headers),
    pool,
    onConnectionError: ({ kind, detail }) => {
      if (kind === "handler-threw") problems.push(detail);
    },
  });
  const { port } = await http.listen("127.0.0.1", 0);
  const connections = { count: 0 };
  http.server.on("connection", (socket) => {
    connections.count += 1;
    socket.once("close", () => (connections.count -= 1));
  });
  const leftovers = (): string[] => [
    ...(gateway.inFlight === 0 ? [] : [`${gateway.inFlight} task(s)`]),
    ...(gateway.hasFailedTask ? ["a failed task"] : []),
    ...(clock.pendingTimers === 0 ? [] : [`${clock.pendingTimers} timer(s)`]),
    ...(pool.missingBytes === 0 ? [] : [`${pool.missingBytes} byte(s) of bodies`]),
    ...(connections.count === 0 ? [] : [`${connections.count} client connection(s)`]),
    ...(wire.stats().open === wire.stats().idle
      ? []
      : [`${wire.stats().open - wire.stats().idle} busy upstream connection(s)`]),
    ...(upstream.openConnections === wire.stats().idle
      ? []
      : [`${upstream.openConnections} connection(s) at the upstream`]),
    ...(outcomes.length === admission.tickets.length
      ? []
      : [`${outcomes.length} outcome(s) of ${admission.tickets.length}`]),
    ...admission.imbalances,
    ...problems,
  ];
  return {
    port,
    upstream,
    admission,
    outcomes,
    wire,
    pool,
    get inFlight() {
      return gateway.inFlight;
    },
    get clientConnections() {
      return connections.count;
    },
    atRest: () =>
      until(
        () => leftovers().length === 0,
        () => `rest: ${leftovers().join(", ")}`,
      ),
    close: async () => {
      await upstream.close();
      gateway.drain();
      await http.close(1_000);
      await gateway.close();
    },
  };
}

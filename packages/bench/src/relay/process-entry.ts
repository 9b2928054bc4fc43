// The control relay as a process: `process-entry LISTEN_HOST LISTEN_PORT UPSTREAM_HOST UPSTREAM_PORT`.
import { createRelay } from "./relay-server.ts";

const [listenHost = "127.0.0.1", listenPort = "0", upstreamHost = "127.0.0.1", upstreamPort = "0"] =
  process.argv.slice(2);

createRelay(upstreamHost, Number(upstreamPort)).listen({ host: listenHost, port: Number(listenPort), backlog: 8192 });

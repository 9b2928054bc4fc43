// The control relay: a blind TCP relay in bare Node, one upstream connection per client connection, no parsing. What it costs is the
// floor that Node, two sockets and the kernel set on this machine in this run.
import { createConnection, createServer, type Server } from "node:net";

/** Creates a relay to one address; the caller listens and closes. */
export function createRelay(upstreamHost: string, upstreamPort: number): Server {
  return createServer({ noDelay: true, allowHalfOpen: false }, (client) => {
    const upstream = createConnection({ host: upstreamHost, port: upstreamPort, noDelay: true });
    client.on("data", (bytes) => upstream.write(bytes));
    upstream.on("data", (bytes) => client.write(bytes));
    // A blind relay has nothing to say about a failure: when one side ends, so does the other.
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.end());
  });
}

// A Node service with a gateway in it: the service keeps its port, its routes and its own idea of who is calling. Run it from
// the repository with `npx tsx examples/embedded/server.ts` after `npm run build`.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { BodyPool, createGateway, createNodeHandler } from "dragoman";
import type { ClientRequest, GatewayConfig, Principal } from "dragoman";

const config: GatewayConfig = {
  version: 1,
  providers: {
    local: { kind: "openai-compatible", baseUrl: process.env["UPSTREAM_URL"] ?? "http://127.0.0.1:11434/v1" },
  },
  models: { chat: [`local/${process.env["UPSTREAM_MODEL"] ?? "llama3.3"}`] },
};

/** The service's own sessions; the gateway has no keys of its own here. */
const SESSIONS = new Map([["session-of-ada", "ada"]]);

/** Who is calling, from a header of the service. Null leaves the answer to the gateway: 401 in the client's dialect. */
function principalOf({ headers }: ClientRequest): Principal | null {
  const at = headers.findIndex((item, index) => index % 2 === 0 && item.toLowerCase() === "x-session");
  const user = at < 0 ? undefined : SESSIONS.get(headers[at + 1] ?? "");
  return user === undefined ? null : { id: user, owner: null, tags: [], models: ["*"], debug: false };
}

const gateway = await createGateway(config);
gateway.events.on("outcome", ({ requestId, principalId, model, status, usage }) => {
  console.log(JSON.stringify({ requestId, principalId, model, status, outputTokens: usage?.output ?? null }));
});

const serveLlm = createNodeHandler({
  handle: (request, responder) => {
    const principal = principalOf(request);
    gateway.handle(request, responder, principal === null ? {} : { principal });
  },
  encodeRefusal: ({ status, code, message, path, headers }) =>
    gateway.encodeRefusal(status, code, message, path, headers),
  pool: new BodyPool({ maxPooledBytes: 16 * 1024 * 1024 }),
});

const server = createServer((req, res) => {
  if (req.url?.startsWith("/llm/") !== true) {
    res.end("the service's own page\n");
    return;
  }
  // The gateway's routes begin at the root: /llm/v1/messages is its /v1/messages.
  req.url = req.url.slice("/llm".length);
  serveLlm(req, res);
});

server.listen(Number(process.env["PORT"] ?? 8080), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`listening on http://127.0.0.1:${port}`);
});

process.once("SIGTERM", () => {
  gateway.drain();
  server.close(() => void gateway.close());
  server.closeIdleConnections();
});

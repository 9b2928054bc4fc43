// A Node service with a gateway in it: the service keeps its port, its routes and its own idea of who is calling. Run it from
// the repository with `npx tsx examples/embedded/server.ts` after `npm run build`.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { createGateway, createNodeHandler } from "dragoman";
import type { GatewayConfig } from "dragoman";

const config: GatewayConfig = {
  version: 1,
  providers: {
    local: { kind: "openai-compatible", baseUrl: process.env["UPSTREAM_URL"] ?? "http://127.0.0.1:11434/v1" },
  },
  models: { chat: [`local/${process.env["UPSTREAM_MODEL"] ?? "llama3.3"}`] },
};

/** The service's own sessions; the gateway has no keys of its own here. */
const SESSIONS = new Map([["session-of-ada", "ada"]]);

const gateway = await createGateway(config);
gateway.events.on("outcome", ({ requestId, principalId, model, status, usage }) => {
  console.log(JSON.stringify({ requestId, principalId, model, status, outputTokens: usage?.output ?? null }));
});

const serveLlm = createNodeHandler(gateway, {
  // The gateway's routes begin here: /llm/v1/messages is its /v1/messages.
  basePath: "/llm",
  // Null leaves the answer to the gateway: 401 in the client's dialect.
  principal: ({ headers }) => {
    const user = SESSIONS.get(String(headers["x-session"]));
    return user === undefined ? null : { id: user };
  },
});

const server = createServer((req, res) => {
  if (req.url?.startsWith("/llm/") === true) serveLlm(req, res);
  else res.end("the service's own page\n");
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

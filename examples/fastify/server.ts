// A Fastify service with a gateway in it, beside routes and hooks of its own. Run it from the repository with
// `npx tsx examples/fastify/server.ts` after `npm run build`.
import Fastify from "fastify";

import { createGateway } from "dragoman";
import { fastifyGateway } from "dragoman/fastify";

const gateway = await createGateway({
  version: 1,
  providers: {
    local: { kind: "openai-compatible", baseUrl: process.env["UPSTREAM_URL"] ?? "http://127.0.0.1:11434/v1" },
  },
  models: { chat: [`local/${process.env["UPSTREAM_MODEL"] ?? "llama3.3"}`] },
});

/** The service's own sessions. */
const SESSIONS = new Map([["session-of-ada", "ada"]]);

const app = Fastify();

app.addHook("onRequest", async (_request, reply) => {
  reply.header("access-control-allow-origin", "https://app.example.com");
});

await app.register(fastifyGateway, {
  gateway,
  prefix: "/llm",
  // Asked late, when the request's turn has come; a database may be asked here.
  principal: async ({ headers }) => {
    const user = await Promise.resolve(SESSIONS.get(String(headers["x-session"])));
    return user === undefined ? null : { id: user };
  },
});

app.post("/notes", (request) => ({ saved: request.body }));

const url = await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 8080) });
console.log(`listening on ${url}`);

process.once("SIGTERM", () => {
  gateway.drain();
  void app.close().then(() => gateway.close());
});

// A Hono app with a gateway in it. The app is a fetch handler, so it needs no server to be tried: run it from the repository with
// `npx tsx examples/fetch-hono/app.ts` after `npm run build`, and it sends itself one request.
import { Hono } from "hono";

import { createGateway } from "dragoman";
import { fetchGateway } from "dragoman/fetch";

const gateway = await createGateway({
  version: 1,
  providers: {
    local: { kind: "openai-compatible", baseUrl: process.env["UPSTREAM_URL"] ?? "http://127.0.0.1:11434/v1" },
  },
  models: { chat: [`local/${process.env["UPSTREAM_MODEL"] ?? "llama3.3"}`] },
});

const serveLlm = fetchGateway(gateway, {
  basePath: "/llm",
  principal: ({ headers }) => (headers.get("x-session") === "session-of-ada" ? { id: "ada" } : null),
});

const app = new Hono();
app.post("/notes", async (context) => context.json({ saved: await context.req.json<unknown>() }));
app.all("/llm/*", (context) => serveLlm(context.req.raw));

const response = await app.request("/llm/v1/messages", {
  method: "POST",
  headers: { "content-type": "application/json", "x-session": "session-of-ada" },
  body: JSON.stringify({
    model: "chat",
    max_tokens: 200,
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  }),
});
console.log(response.status, response.headers.get("content-type"));
for await (const bytes of response.body ?? []) process.stdout.write(bytes as Uint8Array);

await gateway.close();

// An Express service with a gateway in it, beside routes and body parsers of its own. Run it from the repository with
// `npx tsx examples/express/server.ts` after `npm run build`.
import type { AddressInfo } from "node:net";

import express from "express";

import { createGateway } from "dragoman";
import { expressGateway } from "dragoman/express";

const gateway = await createGateway({
  version: 1,
  providers: {
    local: { kind: "openai-compatible", baseUrl: process.env["UPSTREAM_URL"] ?? "http://127.0.0.1:11434/v1" },
  },
  models: { chat: [`local/${process.env["UPSTREAM_MODEL"] ?? "llama3.3"}`] },
});

/** The service's own sessions. */
const SESSIONS = new Map([["session-of-ada", { user: "ada", team: "research" }]]);

const app = express();

// Before any body parser: the gateway reads its bodies itself.
app.use(
  "/llm",
  expressGateway(gateway, {
    // Null is answered with 401 in the client's dialect.
    principal: (req) => {
      const session = SESSIONS.get(req.get("x-session") ?? "");
      return session === undefined ? null : { id: session.user, owner: session.team };
    },
  }),
);

app.use(express.json());
app.post("/notes", (req, res) => void res.json({ saved: req.body as unknown }));

const server = app.listen(Number(process.env["PORT"] ?? 8080), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

process.once("SIGTERM", () => {
  gateway.drain();
  server.close(() => void gateway.close());
  server.closeIdleConnections();
});

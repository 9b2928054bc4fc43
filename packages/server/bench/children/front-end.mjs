// One host of the front-end bench: an app of its kind, bare or with a gateway mounted. The gateway's upstream is in memory, so that
// what is measured is the host, the front end and the engine. Hosts without a socket are their own load.
import { createServer } from "node:http";

import { Hono } from "hono";
import express from "express";
import Fastify from "fastify";

import { expressGateway } from "../../dist/express/index.js";
import { fastifyGateway } from "../../dist/fastify/index.js";
import { fetchGateway } from "../../dist/fetch/index.js";
import { createGateway, createNodeHandler } from "../../dist/index.js";
import { CHAT_ANSWER, chatRequest } from "./traffic.mjs";

const [, , host, kind] = process.argv;
const PREFIX = "/llm";
const ROUTE = "/llm/v1/chat/completions";
const ANSWER = Buffer.from(CHAT_ANSWER);
const principal = { id: "bench" };

/** Answers every call with the same bytes, in a turn of its own as a socket would. */
const upstream = {
  send(_request, sink) {
    setImmediate(() => {
      sink.onSent();
      sink.onHead(200, ["content-type", "application/json", "content-length", String(ANSWER.length)]);
      sink.onData(ANSWER);
      sink.onEnd();
      sink.onReleased();
    });
    return { pause() {}, resume() {}, cancel() {} };
  },
  close: () => Promise.resolve(),
};

const gateway = await createGateway(
  {
    version: 1,
    providers: { chat: { kind: "openai", baseUrl: "http://127.0.0.1:1", credentials: ["bench"] } },
    models: { bench: { deployments: [{ provider: "chat", model: "up" }] } },
  },
  { upstream },
);

/** What each host does without us: its usual way to read a JSON body and to answer with JSON. */
const BARE = {
  "node:http": () => (req, res) => {
    const pieces = [];
    req.on("data", (piece) => pieces.push(piece));
    req.on("end", () => {
      JSON.parse(Buffer.concat(pieces));
      res.writeHead(200, { "content-type": "application/json", "content-length": ANSWER.length });
      res.end(ANSWER);
    });
  },
  express: () => {
    const app = express();
    app.use(express.json());
    app.post(ROUTE, (_req, res) => res.type("application/json").send(CHAT_ANSWER));
    return app;
  },
  fastify: async () => {
    const app = Fastify();
    app.post(ROUTE, (_request, reply) => reply.type("application/json").send(CHAT_ANSWER));
    await app.ready();
    return (req, res) => app.routing(req, res);
  },
  fetch: () => async (request) => {
    await request.json();
    return new Response(CHAT_ANSWER, { headers: { "content-type": "application/json" } });
  },
  hono: () => {
    const app = new Hono();
    app.post(ROUTE, async (context) => {
      await context.req.json();
      return context.body(CHAT_ANSWER, 200, { "content-type": "application/json" });
    });
    return app.fetch;
  },
  "in process": () => async (_url, init) => {
    JSON.parse(init.body);
    return new Response(CHAT_ANSWER, { headers: { "content-type": "application/json" } });
  },
};

const MOUNTED = {
  "node:http": () => createNodeHandler(gateway, { basePath: PREFIX, principal }),
  express: () => express().use(PREFIX, expressGateway(gateway, { principal })),
  fastify: async () => {
    const app = Fastify();
    app.register(fastifyGateway, { gateway, prefix: PREFIX, principal });
    await app.ready();
    return (req, res) => app.routing(req, res);
  },
  fetch: () => fetchGateway(gateway, { basePath: PREFIX, principal }),
  hono: () => {
    const serveLlm = fetchGateway(gateway, { basePath: PREFIX, principal });
    return new Hono().all(`${PREFIX}/*`, (context) => serveLlm(context.req.raw)).fetch;
  },
  "in process": () => gateway.as(principal).fetch,
};

const handler = await (kind === "bare" ? BARE : MOUNTED)[host]();

if (host === "fetch" || host === "hono" || host === "in process") callItself();
else {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
}

/** Speaks the load's protocol: `start`, `count`, `stop`. */
function callItself() {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: chatRequest(false) };
  // A base path is for handlers; in process the URL is the vendor's.
  const url = `http://127.0.0.1${host === "in process" ? ROUTE.slice(PREFIX.length) : ROUTE}`;
  const call = host === "in process" ? () => handler(url, init) : () => handler(new Request(url, init));
  let completed = 0;
  let isStopping = false;
  const loop = async () => {
    while (!isStopping) {
      const response = await call();
      if (response.status !== 200) throw new Error(await response.text());
      await response.text();
      completed += 1;
      // Lets other callers and messages have their turn, as I/O would.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  process.on("message", ({ type, connections }) => {
    if (type === "start") {
      isStopping = false;
      for (let index = 0; index < connections; index += 1) void loop();
    } else if (type === "count") process.send({ type: "count", completed });
    else {
      isStopping = true;
      process.send({ type: "stopped" });
    }
  });
  process.send({ port: 0 });
}

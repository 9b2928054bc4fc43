// The hosts of the shared table: every way to embed a gateway, each with routes of its own where it has routes.
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { AddressInfo, Server as NetServer } from "node:net";

import express from "express";
import Fastify from "fastify";
import type { FastifyRequest } from "fastify";
import { Hono } from "hono";

import type { Gateway } from "../../src/create-gateway.ts";
import type { HostPrincipalAnswer, PrincipalSource } from "../../src/embedding/index.ts";
import { expressGateway } from "../../src/express/index.ts";
import { fastifyGateway } from "../../src/fastify/index.ts";
import { fetchGateway } from "../../src/fetch/index.ts";
import { createNodeHandler } from "../../src/http/index.ts";
import { STACK_KEY } from "../harness/stack-config.ts";
import { findSession, SESSION_HEADER } from "./front-end.ts";
import type { FrontEnd, Identification, Mounted } from "./front-end.ts";
import { openHttp2 } from "./http2-client.ts";

const PREFIX = "/llm";

/** The option of a front end: none, or a function of the host's request. */
function principalOption<Request>(
  identification: Identification,
  sessionOf: (request: Request) => string | null | undefined,
): { readonly principal?: PrincipalSource<Request> } {
  if (identification === "keys") return {};
  const find = (request: Request): HostPrincipalAnswer => findSession(sessionOf(request));
  if (identification === "at-once") return { principal: find };
  return {
    principal: async (request) => {
      await new Promise((resolve) => setImmediate(resolve));
      return find(request);
    },
  };
}

const fieldOf = ({ headers }: { readonly headers: IncomingMessage["headers"] }): string | undefined => {
  const value = headers[SESSION_HEADER];
  return typeof value === "string" ? value : undefined;
};

const headerOf = ({ headers }: Request): string | null => headers.get(SESSION_HEADER);

async function listen(server: NetServer): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function end(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

async function serveOverHttp(listener: RequestListener): Promise<Mounted> {
  const server = createServer(listener);
  const hostUrl = await listen(server);
  return { baseUrl: hostUrl + PREFIX, hostUrl, fetch, close: () => end(server) };
}

/** The routes of a host without a framework. */
function hostRoutes(
  serveLlm: ReturnType<typeof createNodeHandler>,
): (req: IncomingMessage | Http2ServerRequest, res: ServerResponse | Http2ServerResponse) => void {
  return (req, res) => {
    if (req.url?.startsWith(PREFIX) === true) return serveLlm(req, res);
    if (req.url === "/other") return void (res as ServerResponse).end("the host's own");
    let text = "";
    req.on("data", (chunk: Buffer) => (text += chunk.toString()));
    req.on("end", () => (res as ServerResponse).end(text));
  };
}

const nodeHandlerOf = (gateway: Gateway, identification: Identification): ReturnType<typeof createNodeHandler> =>
  createNodeHandler(gateway, { basePath: PREFIX, ...principalOption(identification, fieldOf) });

const NODE_HTTP: FrontEnd = {
  name: "node:http",
  hasOtherRoutes: true,
  identifies: true,
  mount: (gateway, identification) => serveOverHttp(hostRoutes(nodeHandlerOf(gateway, identification))),
};

const NODE_HTTP2: FrontEnd = {
  name: "node:http2",
  hasOtherRoutes: true,
  identifies: true,
  mount: async (gateway, identification) => {
    const server = createHttp2Server(hostRoutes(nodeHandlerOf(gateway, identification)));
    const hostUrl = await listen(server);
    const client = openHttp2(hostUrl);
    return {
      baseUrl: hostUrl + PREFIX,
      hostUrl,
      fetch: (url, init) => client.fetch(url, init),
      close: async () => {
        client.session.destroy();
        server.close();
        await once(server, "close");
      },
    };
  },
};

const EXPRESS: FrontEnd = {
  name: "express",
  hasOtherRoutes: true,
  identifies: true,
  mount: (gateway, identification) => {
    const app = express();
    app.get("/other", (_req, res) => void res.send("the host's own"));
    app.use(PREFIX, expressGateway(gateway, principalOption(identification, fieldOf)));
    app.use(express.json());
    app.post("/echo", (req, res) => void res.json(req.body));
    return serveOverHttp(app);
  },
};

function fastifyOf(name: string, http2: boolean): FrontEnd {
  return {
    name,
    hasOtherRoutes: true,
    identifies: true,
    mount: async (gateway, identification) => {
      const app = http2 ? (Fastify({ http2: true }) as unknown as ReturnType<typeof Fastify>) : Fastify();
      app.get("/other", () => "the host's own");
      app.post("/echo", (request: FastifyRequest) => request.body);
      await app.register(fastifyGateway, { gateway, prefix: PREFIX, ...principalOption(identification, fieldOf) });
      const hostUrl = await app.listen({ host: "127.0.0.1", port: 0 });
      const client = http2 ? openHttp2(hostUrl) : null;
      return {
        baseUrl: hostUrl + PREFIX,
        hostUrl,
        fetch: client === null ? fetch : (url, init) => client.fetch(url, init),
        close: async () => {
          client?.session.destroy();
          app.server.closeAllConnections?.();
          await app.close();
        },
      };
    },
  };
}

const ORIGIN = "http://host.test";

const FETCH: FrontEnd = {
  name: "fetch",
  hasOtherRoutes: false,
  identifies: true,
  mount: (gateway, identification) => {
    const handler = fetchGateway(gateway, { basePath: PREFIX, ...principalOption(identification, headerOf) });
    return Promise.resolve({
      baseUrl: ORIGIN + PREFIX,
      hostUrl: null,
      fetch: (url, init) => handler(new Request(url, init)),
      close: () => Promise.resolve(),
    });
  },
};

const HONO: FrontEnd = {
  name: "hono",
  hasOtherRoutes: true,
  identifies: true,
  mount: (gateway, identification) => {
    const handler = fetchGateway(gateway, { basePath: PREFIX, ...principalOption(identification, headerOf) });
    const app = new Hono();
    app.get("/other", (context) => context.text("the host's own"));
    app.post("/echo", async (context) => context.json(await context.req.json()));
    app.all(`${PREFIX}/*`, (context) => handler(context.req.raw));
    return Promise.resolve({
      baseUrl: ORIGIN + PREFIX,
      hostUrl: ORIGIN,
      fetch: async (url, init) => app.fetch(new Request(url, init)),
      close: () => Promise.resolve(),
    });
  },
};

const IN_PROCESS: FrontEnd = {
  name: "in process",
  hasOtherRoutes: false,
  identifies: false,
  mount: (gateway) =>
    Promise.resolve({
      baseUrl: "https://api.vendor.test",
      hostUrl: null,
      fetch: gateway.as({ id: "ada", owner: "team" }).fetch,
      close: () => Promise.resolve(),
    }),
};

/** All of them. */
export const FRONT_ENDS: readonly FrontEnd[] = [
  NODE_HTTP,
  NODE_HTTP2,
  EXPRESS,
  fastifyOf("fastify", false),
  fastifyOf("fastify over HTTP/2", true),
  FETCH,
  HONO,
  IN_PROCESS,
];

/** The key that the configuration knows. */
export const KEY = STACK_KEY;

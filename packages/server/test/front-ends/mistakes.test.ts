// The classic mistakes of embedding: each gets an error or a warning that names its cause and its fix, and what is no mistake
// works.
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

import express from "express";
import type { Express, NextFunction, Request as ExpressRequest, Response as ExpressResponse } from "express";
import Fastify from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import type { Logger } from "@dragoman/core";

import { createGateway } from "../../src/create-gateway.ts";
import type { Gateway } from "../../src/create-gateway.ts";
import { expressGateway } from "../../src/express/index.ts";
import { fastifyGateway } from "../../src/fastify/index.ts";
import { fetchGateway } from "../../src/fetch/index.ts";
import { createNodeHandler } from "../../src/http/index.ts";
import { SILENT_LOGGER } from "../../src/ports/index.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { buildStackConfig } from "../harness/stack-config.ts";

const PRINCIPAL = { id: "host" };
const BODY = JSON.stringify({
  model: "messages/scripted-text",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
});
const STREAMED = JSON.stringify({ ...(JSON.parse(BODY) as object), stream: true });

let upstream: ScriptedUpstream;
let gateway: Gateway;
let warnings: string[];
beforeAll(async () => {
  upstream = await createScriptedUpstream();
  const logger: Logger = { ...SILENT_LOGGER, warn: (_fields, message) => warnings.push(message) };
  gateway = await createGateway(buildStackConfig(upstream.url), { logger });
});
beforeEach(() => (warnings = []));
afterAll(async () => {
  await upstream.close();
  await gateway.close();
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serveApp(app: Express): Promise<string> {
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = (url: string, body: string = BODY, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

/** A middleware that sees the final headers as old versions of `on-headers` do: by a `writeHead` that knows no flat lists. */
function rewriteHead(onHeaders: (res: ExpressResponse) => void) {
  return (_req: ExpressRequest, res: ExpressResponse, next: NextFunction): void => {
    const writeHead = res.writeHead.bind(res) as (status: number) => ExpressResponse;
    res.writeHead = ((status: number, headers?: unknown) => {
      if (Array.isArray(headers)) throw new Error("a list that this middleware does not understand");
      onHeaders(res);
      return writeHead(status);
    }) as typeof res.writeHead;
    next();
  };
}

describe("a body that was read before", () => {
  it("by express.json() is an error that names the parser and the fix", async () => {
    const app = express();
    app.use(express.json());
    app.use("/llm", expressGateway(gateway, { principal: PRINCIPAL }));
    const response = await post(`${await serveApp(app)}/llm/v1/messages`);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).toContain("before body parsers such as express.json()");
    expect(text).toContain("req.rawBody");
  });

  it("is taken from req.rawBody where the parser kept it", async () => {
    const app = express();
    app.use(express.json({ verify: (req, _res, bytes) => void Object.assign(req, { rawBody: bytes }) }));
    app.use("/llm", expressGateway(gateway, { principal: PRINCIPAL }));
    const response = await post(`${await serveApp(app)}/llm/v1/messages`);
    expect(await response.text()).toContain("Hello! You said");
    expect(response.status).toBe(200);
  });

  it("is taken from request.rawBody of Fastify", async () => {
    const app = Fastify();
    app.decorateRequest("rawBody", null);
    app.addHook("preHandler", async (request) => {
      const pieces: Buffer[] = [];
      for await (const piece of request.raw) pieces.push(piece as Buffer);
      Object.assign(request, { rawBody: Buffer.concat(pieces) });
    });
    await app.register(fastifyGateway, { gateway, prefix: "/llm", principal: PRINCIPAL });
    const response = await post(`${await app.listen({ host: "127.0.0.1", port: 0 })}/llm/v1/messages`);
    expect(await response.text()).toContain("Hello! You said");
    await app.close();
  });

  it("by a fetch handler of the host is the same error", async () => {
    const request = new Request("http://a/v1/messages", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: BODY,
    });
    await request.text();
    const response = await fetchGateway(gateway, { principal: PRINCIPAL })(request);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("was read before the gateway saw it");
  });
});

describe("middleware in front of the gateway", () => {
  it("that compresses streams is warned of once, with the fix", async () => {
    const app = express();
    app.use((_req, res, next) => {
      const write = res.write.bind(res) as (bytes: Uint8Array) => boolean;
      res.write = ((bytes: Uint8Array) => write(bytes)) as typeof res.write;
      next();
    });
    app.use(rewriteHead((res) => res.setHeader("content-encoding", "identity")));
    app.use("/llm", expressGateway(gateway, { principal: PRINCIPAL }));
    const url = await serveApp(app);
    expect(await (await post(`${url}/llm/v1/messages`)).text()).toContain("Hello!");
    expect(warnings).toEqual([]);
    for (let round = 0; round < 2; round += 1)
      expect(await (await post(`${url}/llm/v1/messages`, STREAMED)).text()).toContain("message_stop");
    expect(warnings).toEqual([expect.stringContaining("Mount the gateway before it") as string]);
  });

  it("may look at the final headers, and its own stay", async () => {
    const app = express();
    const seen: unknown[] = [];
    app.use(rewriteHead((res) => seen.push(res.getHeader("content-type"))));
    app.use((_req, res, next) => {
      res.setHeader("access-control-allow-origin", "https://page.test");
      next();
    });
    app.use("/llm", expressGateway(gateway, { principal: PRINCIPAL }));
    const response = await post(`${await serveApp(app)}/llm/v1/messages`);
    expect(await response.text()).toContain("Hello!");
    expect(response.headers.get("access-control-allow-origin")).toBe("https://page.test");
    expect(seen).toEqual(["application/json"]);
    expect(warnings).toEqual([]);
  });

  it("of Fastify may set headers on the reply", async () => {
    const app = Fastify();
    app.addHook(
      "onRequest",
      async (_request, reply) => void reply.header("access-control-allow-origin", "https://page.test"),
    );
    await app.register(fastifyGateway, { gateway, prefix: "/llm", principal: PRINCIPAL });
    const response = await post(`${await app.listen({ host: "127.0.0.1", port: 0 })}/llm/v1/messages`);
    expect(await response.text()).toContain("Hello!");
    expect(response.headers.get("access-control-allow-origin")).toBe("https://page.test");
    await app.close();
  });

  it("of Fastify may end the request itself", async () => {
    const app = Fastify();
    app.addHook("onRequest", async (_request, reply) => reply.code(418).send("the host says no"));
    await app.register(fastifyGateway, { gateway, prefix: "/llm", principal: PRINCIPAL });
    const response = await post(`${await app.listen({ host: "127.0.0.1", port: 0 })}/llm/v1/messages`);
    expect(response.status).toBe(418);
    await app.close();
  });
});

describe("paths that are not the gateway's", () => {
  it.each([
    {
      name: "below the mount are a 404 in the client's dialect",
      passUnknown: false,
      status: 404,
      text: "no such path",
    },
    { name: "below the mount go to next() with passUnknown", passUnknown: true, status: 200, text: "a route behind" },
  ])("$name", async ({ passUnknown, status, text }) => {
    const app = express();
    app.use("/llm", expressGateway(gateway, { principal: PRINCIPAL, passUnknown }));
    app.use("/llm/mine", (_req, res) => void res.send("a route behind"));
    const url = await serveApp(app);
    const response = await post(`${url}/llm/mine`);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(text);
    // A wrong method on a path that is ours stays ours.
    expect((await fetch(`${url}/llm/v1/messages`)).status).toBe(405);
    expect((await post(`${url}/llm/v1/messages?beta=true`)).status).toBe(200);
  });

  it.each(["/v1/messages", "/llmx/v1/messages", "/other/llm/v1/messages"])(
    "%s is a 404 outside of the base path",
    async (path) => {
      const options = { basePath: "/llm/", principal: PRINCIPAL };
      const handler = createNodeHandler(gateway, options);
      const server = createServer(handler);
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const overHttp = await post(url + path, BODY, { "anthropic-version": "2023-06-01" });
      const request = new Request(url + path, {
        method: "POST",
        headers: { "anthropic-version": "2023-06-01" },
        body: BODY,
      });
      for (const response of [overHttp, await fetchGateway(gateway, options)(request)]) {
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
      }
      expect((await post(`${url}/llm/v1/messages`)).status).toBe(200);
    },
  );
});

describe("options that cannot be meant", () => {
  it("are refused when the gateway is mounted", () => {
    expect(() => expressGateway(gateway, { principal: { id: "" } })).toThrow("needs an id");
    expect(() => createNodeHandler(gateway, { basePath: "/llm/*" })).toThrow("base path");
    expect(() => fetchGateway(gateway, { basePath: "llm" })).toThrow("base path");
    expect(() => gateway.as({ id: "" })).toThrow("needs an id");
  });
});

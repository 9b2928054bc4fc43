// What only a transport has: streams of HTTP/2 that share a connection, TLS in front of either version, pipelined requests whose
// callers are found out of order.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer, createServer as createHttp2Server } from "node:http2";
import type { ClientHttp2Stream } from "node:http2";
import { createServer as createTlsServer, request as requestOverTls } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { BodyPool } from "@dragoman/core";
import type { ClientRequest, HandleOptions, Responder } from "@dragoman/core";
import { afterEach, describe, expect, it } from "vitest";

import type { EmbeddedGateway } from "../../src/embedding/index.ts";
import { createNodeHandler } from "../../src/http/index.ts";
import type { NodeHandlerOptions } from "../../src/http/index.ts";
import { SILENT_LOGGER } from "../../src/ports/index.ts";
import { RawClient } from "../harness/raw-client.ts";
import { until } from "../harness/until.ts";
import { openHttp2 } from "./http2-client.ts";
import type { Http2Client } from "./http2-client.ts";

/** An exchange as a gateway sees it. */
interface Seen {
  readonly request: ClientRequest;
  readonly responder: Responder;
  readonly options: HandleOptions | undefined;
  goneCount: number;
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function makeGateway(script: (seen: Seen) => void): { readonly gateway: EmbeddedGateway; readonly handled: Seen[] } {
  const handled: Seen[] = [];
  const gateway: EmbeddedGateway = {
    handle: (request, responder, options) => {
      const seen = { request, responder, options, goneCount: 0 };
      responder.onGone = () => (seen.goneCount += 1);
      handled.push(seen);
      script(seen);
    },
    encodeRefusal: (status, code) => ({ status, headers: ["content-type", "text/plain"], body: Buffer.from(code) }),
    serves: () => true,
    pool: new BodyPool({ maxPooledBytes: 1_000_000, poison: true }),
    logger: SILENT_LOGGER,
  };
  return { gateway, handled };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function answer({ request, responder }: Seen): void {
  responder.head(200, ["content-type", "text/plain"]);
  responder.end(Buffer.from(request.path), false);
}

/** A client of a cleartext HTTP/2 host. */
async function overHttp2(
  script: (seen: Seen) => void,
  options: NodeHandlerOptions = {},
): Promise<{ readonly client: Http2Client; readonly handled: readonly Seen[]; readonly url: string }> {
  const { gateway, handled } = makeGateway(script);
  const url = `http://127.0.0.1:${await listen(createHttp2Server(createNodeHandler(gateway, options)))}`;
  const client = openHttp2(url);
  closers.push(() => client.session.destroy());
  return { client, handled, url };
}

describe("streams of one HTTP/2 connection", () => {
  it("are served side by side, without the fields that are no headers", async () => {
    const addresses: (string | null)[] = [];
    const { client, handled, url } = await overHttp2((seen) => {
      addresses.push(seen.request.remoteAddress);
      if (seen.request.path === "/slow") return;
      answer(seen);
    });
    const slow = client.fetch(`${url}/slow`);
    expect(await (await client.fetch(`${url}/quick?a=b`)).text()).toBe("/quick");
    expect(handled[1]?.request).toMatchObject({ method: "GET", path: "/quick", query: "a=b", contentLength: null });
    expect(addresses).toEqual(["127.0.0.1", "127.0.0.1"]);
    expect(handled[1]?.request.headers.some((item) => item.startsWith(":"))).toBe(false);
    if (handled[0] !== undefined) answer(handled[0]);
    const response = await slow;
    expect(response.headers.get("connection")).toBeNull();
    expect(response.headers.get("content-length")).toBe("5");
  });

  it("break alone: the others of their connection go on", async () => {
    const { client, url } = await overHttp2((seen) => {
      if (seen.request.path !== "/broken") return answer(seen);
      seen.responder.head(200, []);
      seen.responder.write(Buffer.from("half"));
      setImmediate(() => seen.responder.abort());
    });
    const broken = await client.fetch(`${url}/broken`);
    await expect(broken.text()).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    expect(await (await client.fetch(`${url}/whole`)).text()).toBe("/whole");
  });

  it("that are broken before their head are reset", async () => {
    const { client, url } = await overHttp2(({ responder }) => responder.abort());
    await expect(client.fetch(`${url}/x`)).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
  });

  it("tell the engine once when their client resets them", async () => {
    const { client, handled, url } = await overHttp2(({ responder }) => {
      responder.head(200, []);
      responder.write(Buffer.from("x"));
    });
    const controller = new AbortController();
    await client.fetch(`${url}/x`, { signal: controller.signal });
    controller.abort();
    await until(() => handled[0]?.goneCount === 1, "the engine to hear of it");
    expect(() => handled[0]?.responder.write(Buffer.from("late"))).not.toThrow();
    handled[0]?.responder.end(null, false);
    expect(handled[0]?.goneCount).toBe(1);
  });

  it("end the read of a body when their client leaves in the middle of it", async () => {
    const readings: unknown[] = [];
    const { client, handled } = await overHttp2(({ request }) => {
      void request.readBody(100).then((reading) => readings.push(reading));
    });
    const stream: ClientHttp2Stream = client.session.request({ ":method": "POST", ":path": "/x" });
    stream.on("error", () => undefined);
    stream.write("half");
    await until(() => handled.length === 1, "the request");
    // Node's client would end the body before it resets the stream.
    client.session.destroy();
    await until(() => readings.length === 1, "the end of the read");
    expect(readings).toEqual([{ ok: false, reason: "incomplete" }]);
  });

  it("stop a client that still sends a body which nobody reads", async () => {
    const { client } = await overHttp2(answer);
    const stream = client.session.request({ ":method": "POST", ":path": "/x" });
    stream.write("the beginning");
    const [fields] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(fields[":status"]).toBe(200);
    stream.resume();
    await once(stream, "close");
    expect(stream.rstCode).toBe(0);
  });

  it.each([
    { name: "a path with a dot segment", fields: { ":path": "/v1/../x" }, status: 400 },
    {
      name: "a path outside of the mount",
      fields: { ":path": "/other/x" },
      options: { basePath: "/llm" },
      status: 404,
    },
  ])("refuse $name", async ({ fields, status, options }) => {
    const { client, handled } = await overHttp2(answer, options);
    const stream = client.session.request(fields);
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(head[":status"]).toBe(status);
    expect(handled).toEqual([]);
  });
});

interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

function makeCertificate(): Certificate | null {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-tls-"));
  const [key, cert] = [join(folder, "key"), join(folder, "cert")];
  const command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
  try {
    execFileSync("openssl", [...command.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } catch {
    // No openssl here: the tests below say so by being skipped.
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const CERTIFICATE = makeCertificate();

describe.skipIf(CERTIFICATE === null)("hosts with TLS", () => {
  const tls = CERTIFICATE as Certificate;

  async function getOverTls(port: number): Promise<string> {
    const outgoing = requestOverTls({
      host: "127.0.0.1",
      port,
      path: "/x",
      ca: tls.cert,
      servername: "localhost",
      agent: false,
    });
    outgoing.end();
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    let text = "";
    for await (const piece of incoming) text += String(piece);
    return `${incoming.httpVersion} ${text}`;
  }

  it("serve HTTP/1.1 over node:https", async () => {
    const port = await listen(createTlsServer(tls, createNodeHandler(makeGateway(answer).gateway)));
    expect(await getOverTls(port)).toBe("1.1 /x");
  });

  it("serve both versions on one port of node:http2", async () => {
    const handler = createNodeHandler(makeGateway(answer).gateway);
    const port = await listen(createSecureServer({ ...tls, allowHTTP1: true }, handler));
    expect(await getOverTls(port)).toBe("1.1 /x");
    const client = openHttp2(`https://localhost:${port}`, { ca: tls.cert, servername: "localhost", host: "127.0.0.1" });
    closers.push(() => client.session.destroy());
    expect(await (await client.fetch(`https://localhost:${port}/y`)).text()).toBe("/y");
  });
});

describe("pipelined requests whose callers are found late", () => {
  it("are asked for in order, and answered in order", async () => {
    const { gateway, handled } = makeGateway(answer);
    const pending: ((id: string) => void)[] = [];
    const handler = createNodeHandler(gateway, {
      principal: () => new Promise((resolve) => pending.push((id) => resolve({ id }))),
    });
    const port = await listen(createServer(handler));
    const client = await RawClient.open(`http://127.0.0.1:${port}`);
    client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n");
    await until(() => pending.length === 1, "the first caller to be asked for");
    pending[0]?.("ada");
    await until(() => pending.length === 2, "the second caller to be asked for");
    expect(handled.map(({ request }) => request.path)).toEqual(["/first"]);
    pending[1]?.("bob");
    await client.answer(2);
    expect(handled.map(({ options }) => options?.principal?.id)).toEqual(["ada", "bob"]);
    expect(client.answers.map(({ body }) => body)).toEqual(["/first", "/second"]);
    client.destroy();
  });

  it("never reach the engine when their client left meanwhile", async () => {
    const { gateway, handled } = makeGateway(answer);
    const pending: (() => void)[] = [];
    let closed = 0;
    const handler = createNodeHandler(gateway, {
      principal: () => new Promise((resolve) => pending.push(() => resolve({ id: "ada" }))),
    });
    const server = createServer(handler);
    server.on("connection", (socket) => socket.on("close", () => (closed += 1)));
    const port = await listen(server);
    const client = await RawClient.open(`http://127.0.0.1:${port}`);
    client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await until(() => pending.length === 1, "the caller to be asked for");
    client.destroy();
    await until(() => closed === 1, "the end of the connection");
    pending[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(handled).toEqual([]);
  });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { BodyPool } from "@dragoman/core";
import { afterEach, describe, expect, it } from "vitest";

import { echo, encodeTestRefusal, startRig } from "./fixtures/fake-engine.ts";
import { RawClient } from "./fixtures/raw-client.ts";
import { createHttpServer } from "./http-server.ts";
import { NodeFrontEnd } from "./node-handler.ts";

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

let server: NetServer & Partial<Pick<Server, "closeAllConnections">>;
afterEach(() => {
  server.closeAllConnections?.();
  server.close();
});

/** A host's server with something in front of the handler. */
async function host(before: (req: IncomingMessage, res: ServerResponse, next: Listener) => void): Promise<number> {
  const frontEnd = new NodeFrontEnd({
    handle: (request, responder) => {
      void request.readBody(100).then((reading) => {
        responder.head(200, []);
        responder.end(
          Buffer.from(reading.ok ? `body ${Buffer.from(reading.body.bytes).toString()}` : reading.reason),
          false,
        );
      });
    },
    encodeRefusal: encodeTestRefusal,
    pool: new BodyPool({ maxPooledBytes: 1_000_000 }),
  });
  const handler: Listener = (req, res) => frontEnd.accept({ req, res, owesContinue: false, hosted: null });
  server = createServer((req, res) => before(req, res, handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const POST = "POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";

describe("the front end on a server of the host", () => {
  it("reads the body and leaves headers that the host set", async () => {
    const port = await host((req, res, next) => {
      res.setHeader("x-host", "yes");
      next(req, res);
    });
    const client = await RawClient.open(port);
    client.send(POST);
    await client.until("body hello");
    expect(client.received).toContain("x-host: yes");
    client.socket.destroy();
  });

  it("takes req.rawBody where the host kept it", async () => {
    const port = await host((req, res, next) => {
      const chunks: Buffer[] = [];
      req.on("data", (chunk: Buffer) => chunks.push(chunk));
      req.on("end", () => next(Object.assign(req, { rawBody: Buffer.concat(chunks) }), res));
    });
    const client = await RawClient.open(port);
    client.send(POST);
    await client.until("body hello");
    expect(client.statuses).toEqual([200]);
    client.socket.destroy();
  });

  it.each(["end", "data"])("fails the read when the host consumed the body up to its %s", async (event) => {
    const port = await host((req, res, next) => {
      let isPassedOn = false;
      req.on("data", () => undefined);
      req.on(event, () => {
        if (!isPassedOn) next(req, res);
        isPassedOn = true;
      });
    });
    const client = await RawClient.open(port);
    client.send(POST);
    await client.until("consumed");
    expect(client.statuses).toEqual([200]);
    client.socket.destroy();
  });

  it("is as strict as an own server", async () => {
    const port = await host((req, res, next) => next(req, res));
    for (const input of [
      "GET /v1/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
      "POST /v1/x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /v1/x\nHost: a\r\n\r\n",
      "GET //v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    ]) {
      const client = await RawClient.open(port);
      client.send(`${input}GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`);
      await client.untilClosed();
      expect(client.statuses).toEqual([400]);
    }
  });

  it("lets node:http send 100 Continue and reads on", async () => {
    const port = await host((req, res, next) => next(req, res));
    const client = await RawClient.open(port);
    client.send("POST /v1/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    await client.until("100 Continue");
    client.send("hello");
    await client.until("body hello");
    expect(client.received.match(/100 Continue/g)).toHaveLength(1);
    client.socket.destroy();
  });
});

describe("a refusal whose encoding throws", () => {
  it.each(["GET //x HTTP/1.1\r\nHost: a\r\n\r\n", "\0\r\n\r\n"])(
    "costs the client of %j its answer and nothing else",
    async (input) => {
      const details: string[] = [];
      const http = createHttpServer({
        handle: () => undefined,
        encodeRefusal: () => {
          throw new Error("defect");
        },
        pool: new BodyPool({ maxPooledBytes: 0 }),
        onConnectionError: (problem) => details.push(problem.detail),
      });
      server = http.server;
      const { port } = await http.listen("127.0.0.1", 0);
      const client = await RawClient.open(port);
      client.send(input);
      await client.untilClosed();
      expect(client.received).toBe("");
      expect(details.at(-1)).toBe("The encoding of a refusal threw.");
    },
  );
});

describe("createHttpServer with a certificate", () => {
  it("serves, refuses and breaks off over TLS", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "dragoman-tls-"));
    try {
      const options = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=localhost",
      ];
      execFileSync("openssl", [...options, "-keyout", join(folder, "key"), "-out", join(folder, "cert")], {
        stdio: "ignore",
      });
    } catch {
      // The one missing tool must not look like a pass.
      rmSync(folder, { recursive: true });
      context.skip("openssl is not installed");
    }
    const tls = { key: readFileSync(join(folder, "key")), cert: readFileSync(join(folder, "cert")) };
    rmSync(folder, { recursive: true });
    const rig = await startRig(
      (seen) => {
        if (seen.request.path !== "/abort") return echo(seen);
        seen.responder.head(200, ["content-length", "3"]);
        seen.responder.write(Buffer.from("1"));
        seen.responder.abort();
      },
      { tls },
    );
    server = rig.http.server;
    const client = await RawClient.open(rig.port, { tls: true });
    client.send(POST);
    await client.until("/v1/x 5");
    client.send("GET //x HTTP/1.1\r\nHost: a\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.untilClosed();
    expect(client.statuses).toEqual([200, 400]);
    const aborted = await RawClient.open(rig.port, { tls: true });
    aborted.send("GET /abort HTTP/1.1\r\nHost: a\r\n\r\n");
    await aborted.untilClosed();
    await rig.http.close(1_000);
    expect(rig.handled.map((seen) => seen.request.path)).toEqual(["/v1/x", "/abort"]);
  });
});

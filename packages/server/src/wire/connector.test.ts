import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";

import { afterEach, describe, expect, it } from "vitest";

import { makeRequest, RecordingSink, waitUntil } from "./fixtures/scripted-upstream.ts";
import type { ScriptedOptions, ScriptedUpstream } from "./fixtures/scripted-upstream.ts";
import { runCall, WireStage } from "./fixtures/wire-stage.ts";
import { createWireClient } from "./wire-client.ts";
import type { WireClient, WireClientOptions } from "./wire-client.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const toLoopback: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};
const OPENSSL = "openssl";
const stage = new WireStage();

afterEach(() => stage.tearDown());

/** A self-signed certificate for gateway.test, or null where openssl is missing. */
function makeCertificate(): { key: string; cert: string } | null {
  const folder = mkdtempSync(join(tmpdir(), "wire-tls-"));
  try {
    const keyFile = join(folder, "key.pem");
    const certFile = join(folder, "cert.pem");
    const names = "subjectAltName=DNS:gateway.test";
    // prettier-ignore
    execFileSync(OPENSSL, [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=gateway.test", "-addext", names, "-keyout", keyFile, "-out", certFile,
    ], { stdio: "ignore" });
    return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
  } catch {
    // No usable openssl: the TLS tests are reported as skipped.
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(client: WireClient, upstream: ScriptedUpstream, changes = {}): Promise<RecordingSink> {
  const sink = await runCall(client, upstream, changes);
  await waitUntil(() => client.stats().open === client.stats().idle, "the end of failed connections");
  return sink;
}

describe("connecting fails", () => {
  it("as connect when nobody listens", async () => {
    const server = createServer();
    await new Promise<void>((listening) => {
      server.listen(0, "127.0.0.1", listening);
    });
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => {
      server.close(closed);
    });
    const { upstream, client } = await stage.setUp({}, {});
    const sink = await run(client, { ...upstream, origin: { ...upstream.origin, port, key: "closed" } });
    expect(sink.failure).toEqual({ kind: "connect", detail: "ECONNREFUSED while connecting", hasResponse: false });
    expect(sink.events).toEqual(["failure", "released"]);
  });

  it("as dns when the name is unknown, without the name", async () => {
    const lookup: LookupFunction = (_host, _options, callback) => {
      const error = Object.assign(new Error("getaddrinfo ENOTFOUND secret.internal"), {
        code: "ENOTFOUND",
        syscall: "getaddrinfo",
      });
      process.nextTick(callback, error, "", 0);
    };
    const { upstream, client } = await stage.setUp({ host: "secret.internal" }, { lookup });
    const sink = await run(client, upstream);
    expect(sink.failure).toEqual({ kind: "dns", detail: "ENOTFOUND while connecting", hasResponse: false });
  });

  it("as connect-timeout when the name is never resolved, and leaves nothing open", async () => {
    const { upstream, client } = await stage.setUp({ host: "slow.test" }, { lookup: () => undefined });
    const sink = await run(client, upstream, { connectTimeoutMs: 5 });
    expect(sink.failure).toEqual({ kind: "connect-timeout", detail: "timeout while connecting", hasResponse: false });
    expect(client.stats().open).toBe(0);
  });

  it("not at all when cancelled while the name is being resolved", async () => {
    const { upstream, client } = await stage.setUp({ host: "slow.test" }, { lookup: () => undefined });
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    call.cancel();
    await waitUntil(() => client.stats().open === 0, "the end of the connection");
    expect(sink.events).toEqual(["released"]);
  });
});

it("resolves the name again for every connection", async () => {
  let lookups = 0;
  const lookup: LookupFunction = (host, options, callback) => {
    lookups += 1;
    toLoopback(host, options, callback);
  };
  const { upstream, client } = await stage.setUp(
    {
      host: "again.test",
      onRequest: ({ socket }) => socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"),
    },
    { lookup },
  );
  for (let index = 0; index < 3; index += 1) expect((await run(client, upstream)).body).toBe("ok");
  expect(lookups).toBe(3);
});

it("refuses an unusable client certificate when the client is made", () => {
  expect(() => createWireClient({ tls: { cert: "no certificate" } })).toThrow(/PEM/);
});

const certificate = makeCertificate();

describe.skipIf(certificate === null)("TLS (needs openssl)", () => {
  const tls = { key: certificate?.key ?? "", cert: certificate?.cert ?? "", ALPNProtocols: ["h2", "http/1.1"] };
  const trusting: WireClientOptions = { lookup: toLoopback, tls: { ca: tls.cert } };
  const server = { host: "gateway.test", tls };

  it("verifies, names the server, asks for http/1.1, reuses the connection", async () => {
    const { upstream, client } = await stage.setUp(
      { ...server, onRequest: ({ socket }) => socket.write(OK) },
      trusting,
    );
    for (let index = 0; index < 3; index += 1) {
      const sink = await run(client, upstream);
      expect(sink.events).toEqual(["sent", "released", "head", "data", "end"]);
    }
    const socket = upstream.connections[0]?.socket as TLSSocket & { servername?: string };
    expect(socket.alpnProtocol).toBe("http/1.1");
    expect(socket.servername).toBe("gateway.test");
    expect(client.stats()).toEqual({ open: 1, idle: 1, opened: 1, reused: 2, resent: 0 });
  });

  it("resumes the session of an origin", async () => {
    const answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
    const resumed: boolean[] = [];
    const { upstream, client } = await stage.setUp(
      {
        ...server,
        onRequest: ({ socket }) => {
          resumed.push((socket as TLSSocket).isSessionReused());
          socket.write(answer);
        },
      },
      trusting,
    );
    await run(client, upstream);
    await run(client, upstream);
    expect(resumed).toEqual([false, true]);
  });

  const failures: [string, WireClientOptions, ScriptedOptions, string][] = [
    ["an unknown issuer", { lookup: toLoopback }, server, "DEPTH_ZERO_SELF_SIGNED_CERT during the TLS handshake"],
    [
      "another name",
      trusting,
      { ...server, host: "other.test" },
      "ERR_TLS_CERT_ALTNAME_INVALID during the TLS handshake",
    ],
    ["a server that speaks no TLS", trusting, { host: server.host }, "ERR_SSL"],
  ];
  it.each(failures)("fails as tls on %s", async (_name, options, behaviour, detail) => {
    const { upstream, client } = await stage.setUp(
      { ...behaviour, onConnection: ({ socket }) => socket.write(OK) },
      options,
    );
    const sink = new RecordingSink();
    client.send(makeRequest({ ...upstream.origin, protocol: "https:" }), sink);
    await waitUntil(() => sink.isSettled && client.stats().open === 0, "the failure");
    expect(sink.events).toEqual(["failure", "released"]);
    expect(sink.failure?.kind).toBe("tls");
    expect(sink.failure?.detail).toContain(detail);
  });

  it("times out in a handshake that does not go on, even when paused", async () => {
    const { upstream, client } = await stage.setUp({ host: "gateway.test" }, trusting);
    const sink = new RecordingSink();
    const call = client.send(makeRequest({ ...upstream.origin, protocol: "https:" }, { connectTimeoutMs: 50 }), sink);
    call.pause();
    await waitUntil(() => sink.isSettled, "the timeout");
    expect(sink.failure).toMatchObject({ kind: "connect-timeout" });
    await waitUntil(() => client.stats().open === 0 && upstream.openConnections() === 0, "no open connection");
  });

  it("keeps the order and every byte of a 4 MB answer through pauses", async () => {
    const text = Array.from({ length: 500_000 }, (_, index) => String(index % 1_000_000).padStart(8, "0")).join("");
    const { upstream, client } = await stage.setUp(
      {
        ...server,
        onRequest: ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`),
      },
      trusting,
    );
    const sink = new RecordingSink();
    const call = client.send(makeRequest(upstream.origin), sink);
    let isPaused = false;
    let late = 0;
    sink.listener = (event) => {
      if (event !== "data") return;
      if (isPaused) late += 1;
      isPaused = true;
      call.pause();
      setImmediate(() => {
        isPaused = false;
        call.resume();
      });
    };
    await waitUntil(() => sink.isSettled, "the end");
    expect(late).toBe(0);
    expect(sink.body === text).toBe(true);
  });

  it("carries a 4 MB request and an early answer", async () => {
    const body = [Buffer.alloc(4 * 1024 * 1024, "x")];
    const { upstream, client } = await stage.setUp(
      { ...server, onRequest: ({ socket }) => socket.write(OK) },
      trusting,
    );
    const sink = await run(client, upstream, { body });
    expect(sink.body).toBe("ok");
    expect(sink.count("released")).toBe(1);
    expect(upstream.connections[0]?.receivedBytes).toBeGreaterThan(4 * 1024 * 1024);
  });

  it("replaces a stale connection", async () => {
    const { upstream, client } = await stage.setUp(
      {
        ...server,
        onRequest: ({ socket, index }, request) => {
          if (index === 0 && request === 1) socket.end();
          else socket.write(OK);
        },
      },
      trusting,
    );
    await run(client, upstream);
    expect((await run(client, upstream)).body).toBe("ok");
    expect(client.stats()).toMatchObject({ opened: 2, resent: 1 });
  });
});

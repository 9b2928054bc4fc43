// A TCP or TLS server for tests that answers with the bytes it is told to, and a sink that records what a call was given. Both
// count, so that a test can state what must not happen; waiting is on events, with a limit that only a broken test reaches.

import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { TlsOptions } from "node:tls";

import type { HeaderList, UpstreamFailure, UpstreamOrigin, UpstreamRequest, UpstreamSink } from "@dragoman/core";

const WAIT_LIMIT_MS = 15_000;

/** Is fulfilled once the condition holds; looks again after every turn of the event loop. */
export async function waitUntil(isTrue: () => boolean, what: string): Promise<void> {
  const limit = performance.now() + WAIT_LIMIT_MS;
  while (!isTrue()) {
    if (performance.now() > limit) throw new Error(`waited in vain for: ${what}`);
    await new Promise<void>((resume) => {
      setImmediate(resume);
    });
  }
}

/** One accepted connection with all that arrived on it. */
export interface Accepted {
  readonly socket: Socket;
  readonly index: number;
  received: Buffer[];
  receivedBytes: number;
  isClosed: boolean;
}

/** What a script does with a whole request: `request` counts from 0 on its connection. */
export type Script = (accepted: Accepted, request: number) => void;

/** A running scripted upstream. */
export interface ScriptedUpstream {
  readonly origin: UpstreamOrigin;
  readonly connections: readonly Accepted[];
  openConnections(): number;
  requestText(connection: number): string;
  close(): Promise<void>;
}

/** How a scripted upstream behaves. */
export interface ScriptedOptions {
  /** Called when a request's head and its declared body are complete. */
  readonly onRequest?: Script;
  readonly onConnection?: (accepted: Accepted) => void;
  readonly tls?: TlsOptions;
  readonly host?: string;
}

/** Starts an upstream on an ephemeral loopback port. */
export async function startUpstream(options: ScriptedOptions): Promise<ScriptedUpstream> {
  const connections: Accepted[] = [];
  const accept = (socket: Socket): void => {
    const accepted: Accepted = { socket, index: connections.length, received: [], receivedBytes: 0, isClosed: false };
    connections.push(accepted);
    const counter = makeRequestCounter();
    let requests = 0;
    socket.on("error", () => {
      // The client destroys sockets on purpose; the close event is what tests look at.
    });
    socket.on("close", () => {
      accepted.isClosed = true;
    });
    socket.on("data", (chunk: Buffer) => {
      accepted.received.push(chunk);
      accepted.receivedBytes += chunk.length;
      for (let complete = counter(chunk); complete > 0; complete -= 1) {
        options.onRequest?.(accepted, requests);
        requests += 1;
      }
    });
    options.onConnection?.(accepted);
  };
  const server: Server = options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept);
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host ?? "127.0.0.1";
  const protocol = options.tls === undefined ? "http:" : "https:";
  return {
    origin: { protocol, host, port, authority: `${host}:${port}`, key: `${protocol}//${host}:${port}` },
    connections,
    openConnections: () => connections.filter((each) => !each.isClosed).length,
    requestText: (index) => Buffer.concat(connections[index]?.received ?? []).toString("latin1"),
    close: () => {
      for (const { socket } of connections) socket.destroy();
      return new Promise<void>((closed) => {
        server.close(() => closed());
      });
    },
  };
}

/** Counts complete requests framed by content-length, without keeping bodies. */
function makeRequestCounter(): (chunk: Buffer) => number {
  let head = "";
  let remaining = -1;
  return (chunk) => {
    let complete = 0;
    let rest = chunk;
    while (rest.length > 0) {
      if (remaining < 0) {
        const before = head.length;
        head += rest.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return complete;
        remaining = Number(/content-length: (\d+)/.exec(head.slice(0, end + 2))?.[1] ?? 0);
        rest = rest.subarray(end + 4 - before);
        head = "";
      }
      const taken = Math.min(remaining, rest.length);
      remaining -= taken;
      rest = rest.subarray(taken);
      if (remaining === 0) {
        complete += 1;
        remaining = -1;
      }
    }
    return complete;
  };
}

/** Records the events of one call, and keeps copies of its data. */
export class RecordingSink implements UpstreamSink {
  readonly events: string[] = [];
  readonly chunks: Buffer[] = [];
  status = 0;
  headers: HeaderList = [];
  failure: UpstreamFailure | null = null;
  bytes = 0;
  /** Called after each event was recorded. */
  listener: ((event: string) => void) | null = null;

  get body(): string {
    return Buffer.concat(this.chunks).toString("latin1");
  }

  count(event: string): number {
    return this.events.filter((each) => each === event).length;
  }

  /** Whether the call has ended and let go of its body. */
  get isSettled(): boolean {
    return this.events.includes("released") && (this.events.includes("end") || this.events.includes("failure"));
  }

  onSent(): void {
    this.#record("sent");
  }

  onHead(status: number, headers: HeaderList): void {
    this.status = status;
    this.headers = headers;
    this.#record("head");
  }

  onData(chunk: Uint8Array): void {
    this.chunks.push(Buffer.from(chunk));
    this.bytes += chunk.length;
    this.#record("data");
  }

  onEnd(): void {
    this.#record("end");
  }

  onFailure(failure: UpstreamFailure): void {
    this.failure = failure;
    this.#record("failure");
  }

  onReleased(): void {
    this.#record("released");
  }

  #record(event: string): void {
    this.events.push(event);
    this.listener?.(event);
  }
}

/** A small POST, with what a test wants different. */
export function makeRequest(origin: UpstreamOrigin, changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  const body = changes.body ?? [Buffer.from('{"model":"m"}')];
  return {
    origin,
    method: "POST",
    path: "/v1/chat/completions",
    headers: ["content-type", "application/json"],
    bodyLength: body.reduce((sum, segment) => sum + segment.length, 0),
    connectTimeoutMs: 10_000,
    ...changes,
    body,
  };
}

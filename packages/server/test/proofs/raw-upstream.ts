// An upstream on a plain socket whose every byte is the test's: it may answer before it has read, stop reading, end and reset where
// it is told. Requests with `content-length` only, which is what the gateway sends.
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

/** Head of a streamed answer; the body is chunked. */
export const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** One piece of a chunked body. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The end of a chunked body. */
export const LAST_CHUNK = "0\r\n\r\n";

/** A whole JSON answer. */
export function jsonAnswer(status: number, body: string): string {
  return `HTTP/1.1 ${status} Scripted\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** One request as far as it has arrived. */
export class RawCall {
  readonly socket: Socket;
  readonly head: string;
  readonly bodyLength: number;
  isClosed = false;
  isComplete = false;
  receivedBytes = 0;
  readonly #chunks: Buffer[] = [];

  constructor(socket: Socket, head: string) {
    this.socket = socket;
    this.head = head;
    this.bodyLength = Number(/\r\ncontent-length: (\d+)/iu.exec(head)?.[1] ?? 0);
    socket.on("close", () => {
      this.isClosed = true;
    });
  }

  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Bytes that have left this process for the kernel. */
  get handedBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  /** Takes body bytes; gives back what belongs to the next request. */
  take(bytes: Buffer): Buffer {
    const own = bytes.subarray(0, this.bodyLength - this.receivedBytes);
    this.#chunks.push(own);
    this.receivedBytes += own.byteLength;
    this.isComplete = this.receivedBytes === this.bodyLength;
    return bytes.subarray(own.byteLength);
  }

  /** Writes, and waits for room when the socket wants that; on a lost connection, for the next turn of the event loop. */
  async write(text: string | Uint8Array): Promise<void> {
    if (this.socket.destroyed) return turn();
    if (this.socket.write(text)) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        this.socket.off("drain", finish);
        this.socket.off("close", finish);
        resolve();
      };
      this.socket.on("drain", finish);
      this.socket.on("close", finish);
    });
  }
}

/** What the upstream does. */
export interface RawUpstreamOptions {
  /** A head has arrived; body bytes follow unless the socket is paused here. */
  readonly onHead?: (call: RawCall) => void;
  /** A whole request has arrived. */
  readonly onRequest?: (call: RawCall) => void;
}

/** A running raw upstream. */
export interface RawUpstream {
  readonly url: string;
  readonly calls: RawCall[];
  readonly openConnections: number;
  close(): Promise<void>;
}

/** Starts an upstream on a free port of the loopback interface. */
export async function startRawUpstream(options: RawUpstreamOptions): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const calls: RawCall[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {
      // Connections are cut on purpose here; `close` follows.
    });
    serveConnection(socket, options, calls);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  // Not a string or null: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    get openConnections() {
      return sockets.size;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function serveConnection(socket: Socket, options: RawUpstreamOptions, calls: RawCall[]): void {
  let pending: Buffer = Buffer.alloc(0);
  let call: RawCall | null = null;
  socket.on("data", (bytes: Buffer) => {
    pending = pending.byteLength === 0 ? bytes : Buffer.concat([pending, bytes]);
    while (pending.byteLength > 0) {
      if (call === null) {
        const end = pending.indexOf("\r\n\r\n");
        if (end < 0) return;
        call = new RawCall(socket, pending.toString("latin1", 0, end + 4));
        calls.push(call);
        pending = pending.subarray(end + 4);
        options.onHead?.(call);
      }
      pending = call.take(pending);
      if (!call.isComplete) return;
      const complete = call;
      call = null;
      options.onRequest?.(complete);
    }
  });
}

// A client of the server over a real socket that can stop reading and leave at any moment.
import { request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";

import { PATH_OF } from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

/** One request on a connection of its own. */
export class StreamClient {
  readonly outgoing: ClientRequest;
  /** Null before the head of the answer. */
  incoming: IncomingMessage | null = null;
  receivedBytes = 0;
  /** The connection is over. */
  isClosed = false;
  readonly #onData: ((bytes: Buffer) => void) | null;
  readonly #chunks: Buffer[] = [];

  /** Opens a request; the body is sent with `send`. With `onData` nothing is kept. */
  constructor(
    port: number,
    dialect: ProofDialect,
    bodyLength: number,
    onData: ((bytes: Buffer) => void) | null = null,
  ) {
    this.#onData = onData;
    this.outgoing = request({
      host: "127.0.0.1",
      port,
      method: "POST",
      path: PATH_OF[dialect],
      agent: false,
      headers: {
        authorization: "Bearer proof",
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "content-length": bodyLength,
      },
    });
    this.outgoing.on("error", () => {
      // The connection breaks where the test breaks it; `close` follows.
    });
    this.outgoing.on("close", () => (this.isClosed = true));
    this.outgoing.on("response", (incoming) => {
      this.incoming = incoming;
      incoming.on("error", () => {
        // As above: `complete` tells whether the answer was whole.
      });
      incoming.on("data", (bytes: Buffer) => {
        this.receivedBytes += bytes.byteLength;
        if (this.#onData === null) this.#chunks.push(bytes);
        else this.#onData(bytes);
      });
    });
  }

  /** Sends a whole request. */
  static ask(
    port: number,
    dialect: ProofDialect,
    body: string | Uint8Array,
    onData: ((bytes: Buffer) => void) | null = null,
  ): StreamClient {
    const bytes = Buffer.from(body);
    const client = new StreamClient(port, dialect, bytes.byteLength, onData);
    client.outgoing.end(bytes);
    return client;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  get status(): number {
    return this.incoming?.statusCode ?? 0;
  }

  /** The answer ended as HTTP says it should. */
  get isComplete(): boolean {
    return this.incoming?.complete === true && this.incoming.readableEnded;
  }

  leave(): void {
    this.outgoing.destroy();
  }
}

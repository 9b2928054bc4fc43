// A client on a bare socket for the tests of the scripted upstream: it shows every byte and how the connection ended.
import { connect } from "node:net";
import type { Socket } from "node:net";

/** A connection with everything that it received so far. */
export class RawClient {
  readonly socket: Socket;
  received: Buffer = Buffer.alloc(0);
  ended: "end" | "reset" | null = null;
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("data", (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
      this.#wake();
    });
    this.socket.on("end", () => this.#finish("end"));
    this.socket.on("error", () => this.#finish("reset"));
  }

  get text(): string {
    return this.received.toString("latin1");
  }

  /** Sends one POST request with a JSON body. */
  send(path: string, body: unknown): void {
    const bytes = JSON.stringify(body);
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(bytes)}\r\n\r\n${bytes}`,
    );
  }

  /** Waits until the condition holds for what was received; rejects when the connection ends before. */
  async until(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      if (this.ended !== null) throw new Error(`the connection ended (${this.ended}) after: ${this.text.slice(-200)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Waits for the end of the connection. */
  async untilEnded(): Promise<void> {
    while (this.ended === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #finish(how: "end" | "reset"): void {
    this.ended ??= how;
    this.#wake();
  }
}

/** The body of the first response of a connection, without its framing. */
export function bodyOf(client: RawClient): Buffer {
  const start = client.received.indexOf("\r\n\r\n") + 4;
  const body = client.received.subarray(start);
  if (!client.text.slice(0, start).includes("transfer-encoding: chunked")) return body;
  const pieces: Buffer[] = [];
  for (let position = 0; ;) {
    const lineEnd = body.indexOf("\r\n", position);
    const size = Number.parseInt(body.subarray(position, lineEnd).toString("latin1"), 16);
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    position = lineEnd + 4 + size;
  }
}

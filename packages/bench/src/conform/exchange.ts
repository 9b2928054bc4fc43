// One HTTP exchange as a client sees it: status, headers, body with the time of each chunk, and whether the answer came to its end.
import { request as httpRequest } from "node:http";

/** Where to send. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** A request. */
export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How it is sent. */
export interface SendOptions {
  /** The client leaves after this many body chunks. */
  readonly leaveAfterChunks?: number;
}

/** What came back. */
export interface Exchange {
  /** `undefined` when the connection ended without an answer. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** `complete`: framed to its end; `broken`: cut off; `left`: the client went; `timeout`: nothing more came. */
  readonly end: "complete" | "broken" | "left" | "timeout";
  /** Between the first and the last byte of the body. */
  readonly bodyMs: number;
}

const SILENCE_MS = 20_000;

/** Sends a request on a connection of its own. Never rejects: every failure is an exchange that ended badly. */
export function exchange(
  to: Destination,
  outgoing: OutgoingRequest,
  { leaveAfterChunks }: SendOptions = {},
): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let firstMs = 0;
    let lastMs = 0;
    let seen: Pick<Exchange, "status" | "headers"> = { status: undefined, headers: {} };
    const finish = (end: Exchange["end"]): void => {
      resolve({ ...seen, body: Buffer.concat(chunks).toString(), end, bodyMs: lastMs - firstMs });
      sent.destroy();
    };
    const headers =
      outgoing.method === "GET"
        ? outgoing.headers
        : { ...outgoing.headers, "content-length": Buffer.byteLength(outgoing.body) };
    const { host, port } = to;
    const sent = httpRequest(
      { host, port, method: outgoing.method, path: outgoing.path, headers, agent: false, timeout: SILENCE_MS },
      (response) => {
        seen = { status: response.statusCode, headers: response.headers };
        response.on("data", (chunk: Buffer) => {
          lastMs = performance.now();
          if (chunks.length === 0) firstMs = lastMs;
          chunks.push(chunk);
          if (chunks.length === leaveAfterChunks) finish("left");
        });
        response.on("end", () => finish("complete"));
        response.on("error", () => finish("broken"));
      },
    );
    sent.on("timeout", () => finish("timeout"));
    sent.on("error", () => finish("broken"));
    sent.end(outgoing.method === "GET" ? undefined : outgoing.body);
  });
}

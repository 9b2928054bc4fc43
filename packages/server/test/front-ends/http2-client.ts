// `fetch` over one HTTP/2 connection, for tests: every call is a stream of it.
import { connect } from "node:http2";
import type { ClientHttp2Session, SecureClientSessionOptions } from "node:http2";
import { Readable } from "node:stream";

/** A client of one origin. */
export interface Http2Client {
  fetch(url: string, init?: RequestInit): Promise<Response>;
  readonly session: ClientHttp2Session;
  close(): Promise<void>;
}

/** Opens the connection at the first call. */
export function openHttp2(origin: string, options: SecureClientSessionOptions = {}): Http2Client {
  const session = connect(origin, options);
  session.on("error", () => {
    // Every stream of it fails too, and tells its test.
  });
  return {
    session,
    fetch: (url, init) => call(session, new URL(url), init ?? {}),
    close: () => new Promise((resolve) => session.close(() => resolve())),
  };
}

function call(session: ClientHttp2Session, url: URL, init: RequestInit): Promise<Response> {
  const { method = "GET", signal } = init;
  const stream = session.request(
    { ":method": method, ":path": url.pathname + url.search, ...Object.fromEntries(new Headers(init.headers)) },
    { endStream: init.body === undefined },
  );
  signal?.addEventListener("abort", () => stream.close());
  return new Promise((resolve, reject) => {
    stream.once("error", reject);
    stream.once("close", () => reject(new Error(`the stream ended with code ${stream.rstCode}`)));
    stream.once("response", (fields) => {
      const headers = Object.entries(fields).filter(([name]) => !name.startsWith(":"));
      const pairs = headers.map(([name, value]): [string, string] => [name, String(value)]);
      // The cast is Node's own type of a web stream, which is the global one.
      const body = Readable.toWeb(stream) as ReadableStream<Uint8Array>;
      resolve(new Response(body, { status: Number(fields[":status"]), headers: pairs }));
    });
    // Refused before its body was sent: the answer is what the test looks at.
    if (typeof init.body === "string") stream.end(init.body);
  });
}

// The way back to one client over a stream of HTTP/2. States: idle → held → streaming → ended, or gone from anywhere before ended.
// A stream is all there is to close or reset: its connection carries other exchanges.

import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
import type { Http2ServerResponse } from "node:http2";

import type { HeaderList, Responder } from "@dragoman/core";
import { findHeader, GatewayError } from "@dragoman/core";

import type { BodyReader } from "./body-reader.ts";
import { isWrapped, writeHeadThrough } from "./hosted-arrival.ts";
import type { HostedArrival } from "./hosted-arrival.ts";

/** What an answer on a stream depends on. */
export interface StreamAnswerOptions {
  readonly hasBody: boolean;
  readonly hosted: HostedArrival | null;
  /** How long a client may take nothing of an answer that has ended. */
  readonly flushTimeoutMs: number;
}

/** One answer. `held` = the head is known and waits for the first body byte or the end of the turn. */
export class Http2Responder implements Responder {
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  /** The read of the request's body, which a lost stream ends too. */
  bodyReader: BodyReader | null = null;
  readonly #res: Http2ServerResponse;
  readonly #options: StreamAnswerOptions;
  #state: "idle" | "held" | "streaming" | "ended" | "gone" = "idle";
  #status = 0;
  #headers: HeaderList = [];
  #listensToDrain = false;

  constructor(res: Http2ServerResponse, options: StreamAnswerOptions) {
    this.#res = res;
    this.#options = options;
    // A stream that is reset also ends its input, like a whole body does; `aborted` comes before that.
    res.stream.once("aborted", () => this.#lose());
    res.once("close", () => this.#lose());
  }

  /** Whether the answer has not begun, so that another one can still take its place. */
  get isUnanswered(): boolean {
    return this.#state === "idle" || this.#state === "held";
  }

  /** Whether the client is lost, or was told that the answer is broken. */
  get isGone(): boolean {
    return this.#state === "gone";
  }

  head(status: number, headers: HeaderList): void {
    if (this.#state === "gone") return;
    if (this.#state !== "idle") throw new GatewayError("state_violation", "An answer's head is written once.");
    this.#state = "held";
    this.#status = status;
    this.#headers = headers;
    process.nextTick(sendHeldHead, this);
  }

  /** Sets the head in place of one that was not sent; for the front end's own answers. */
  replaceHead(status: number, headers: HeaderList): void {
    if (this.#state === "held") this.#state = "idle";
    this.head(status, headers);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#state === "gone") return true;
    this.flushHead();
    if (this.#state !== "streaming") throw new GatewayError("state_violation", "Body bytes come between head and end.");
    if (bytes.byteLength === 0 || this.#res.write(bytes)) return true;
    if (!this.#listensToDrain) {
      this.#listensToDrain = true;
      this.#res.on("drain", () => this.onDrain?.());
    }
    return false;
  }

  /** `closeConnection` means nothing here: other exchanges go on, and an unread body is refused by a reset of the stream alone. */
  end(bytes: Uint8Array | null, _closeConnection: boolean): void {
    if (this.#state === "gone") return;
    if (this.#state !== "held" && this.#state !== "streaming")
      throw new GatewayError("state_violation", "An answer ends once, after its head.");
    const { stream } = this.#res;
    if (this.#state === "held") this.#sendHead(this.#completeHeaders(bytes?.byteLength ?? 0), "ended");
    this.#state = "ended";
    this.onDrain = null;
    this.onGone = null;
    // RFC 9113 §8.1: NO_ERROR after a complete answer asks the client to stop sending its body.
    if (this.#options.hasBody && !this.#res.req.complete)
      stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
    if (bytes === null || bytes.byteLength === 0) this.#res.end();
    else this.#res.end(bytes);
    stream.setTimeout(this.#options.flushTimeoutMs, () => stream.close(constants.NGHTTP2_CANCEL));
  }

  abort(): void {
    if (this.#state === "gone") return;
    this.#leave();
    this.#res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** Sends a head that no body byte has followed. */
  flushHead(): void {
    if (this.#state === "held") this.#sendHead(this.#headers, "streaming");
  }

  #lose(): void {
    if (this.#state === "ended" || this.#state === "gone") return;
    const { onGone } = this;
    this.#leave();
    onGone?.();
  }

  #leave(): void {
    this.#state = "gone";
    this.onDrain = null;
    this.onGone = null;
    this.bodyReader?.fail("incomplete");
  }

  #sendHead(headers: HeaderList, state: "streaming" | "ended"): void {
    this.#state = state;
    // What the compatibility layer shares with node:http is all that hosts and their middleware use of it.
    const res = this.#res as unknown as ServerResponse;
    if (isWrapped(res, "writeHead")) writeHeadThrough(res, this.#status, headers);
    else this.#res.writeHead(this.#status, asFields(headers));
    if (state === "streaming") this.#options.hosted?.onStreaming?.(res);
  }

  #completeHeaders(byteLength: number): HeaderList {
    const isBodiless =
      this.#status === 204 || this.#status === 304 || (this.#res.req.method === "HEAD" && byteLength === 0);
    if (isBodiless || findHeader(this.#headers, "content-length") !== undefined) return this.#headers;
    return [...this.#headers, "content-length", String(byteLength)];
  }
}

/** Our heads repeat no field. */
function asFields(headers: HeaderList): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2)
    fields[headers[index] as string] = headers[index + 1] as string;
  return fields;
}

function sendHeldHead(responder: Http2Responder): void {
  responder.flushHead();
}

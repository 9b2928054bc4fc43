// The way back to one client over a stream of HTTP/2. A stream is all there is to close or reset: its connection carries other
// exchanges.

import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
import type { Http2ServerResponse } from "node:http2";

import type { HeaderList } from "@dragoman/core";
import { GatewayError } from "@dragoman/core";

import { HeldResponder } from "./held-responder.ts";
import { isWrapped, writeHeadThrough } from "./hosted-arrival.ts";
import type { HostedArrival } from "./hosted-arrival.ts";

/** What an answer on a stream depends on. */
export interface StreamAnswerOptions {
  readonly hasBody: boolean;
  readonly hosted: HostedArrival | null;
  /** How long a client may take nothing of an answer that has ended. */
  readonly flushTimeoutMs: number;
}

/** One answer. */
export class Http2Responder extends HeldResponder<Http2ServerResponse> {
  readonly #options: StreamAnswerOptions;

  constructor(res: Http2ServerResponse, options: StreamAnswerOptions) {
    super(res);
    this.#options = options;
    // A stream that is reset also ends its input, like a whole body does; `aborted` comes before that.
    res.stream.once("aborted", () => this.#lose());
    res.once("close", () => this.#lose());
  }

  /** `closeConnection` means nothing here: other exchanges go on, and an unread body is refused by a reset of the stream alone. */
  end(bytes: Uint8Array | null, _closeConnection: boolean): void {
    if (this.state === "gone") return;
    if (this.state !== "held" && this.state !== "streaming")
      throw new GatewayError("state_violation", "An answer ends once, after its head.");
    const { stream } = this.res;
    if (this.state === "held") this.#sendWholeHead(bytes?.byteLength ?? 0);
    this.finish();
    // RFC 9113 §8.1: NO_ERROR after a complete answer asks the client to stop sending its body.
    if (this.#options.hasBody && !this.res.req.complete)
      stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
    if (bytes === null || bytes.byteLength === 0) this.res.end();
    else this.res.end(bytes);
    stream.setTimeout(this.#options.flushTimeoutMs, () => stream.close(constants.NGHTTP2_CANCEL));
  }

  abort(): void {
    if (this.state === "gone") return;
    this.leave();
    this.res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** Sends a head that no body byte has followed. */
  flushHead(): void {
    if (this.state === "held") this.sendHead(this.headers, "streaming");
  }

  #lose(): void {
    if (this.state === "ended" || this.state === "gone") return;
    const { onGone } = this;
    this.leave();
    onGone?.();
  }

  #sendWholeHead(byteLength: number): void {
    const { headers } = this;
    this.sendHead(this.lacksLength(byteLength) ? [...headers, "content-length", String(byteLength)] : headers, "ended");
  }

  protected sendHead(headers: HeaderList, state: "streaming" | "ended"): void {
    this.state = state;
    // What the compatibility layer shares with node:http is all that hosts and their middleware use of it.
    const res = this.res as unknown as ServerResponse;
    if (isWrapped(res, "writeHead")) writeHeadThrough(res, this.status, headers);
    else this.res.writeHead(this.status, asFields(headers));
    if (state === "streaming") this.#options.hosted?.onStreaming?.(res);
  }
}

/** Our heads repeat no field. */
function asFields(headers: HeaderList): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2)
    fields[headers[index] as string] = headers[index + 1] as string;
  return fields;
}

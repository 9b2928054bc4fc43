// The way back to one client over a ServerResponse of HTTP/1.1, whose connection closes or is reset with a broken answer.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { HeaderList } from "@dragoman/core";
import { findHeader, GatewayError } from "@dragoman/core";

import type { Connection, Tenant } from "./connection.ts";
import { HeldResponder } from "./held-responder.ts";
import { isWrapped, writeHeadThrough } from "./hosted-arrival.ts";
import type { HostedArrival } from "./hosted-arrival.ts";

/** Up to this size a whole body goes out in one write with its head. */
const MAX_JOINED_BODY_BYTES = 16_384;

/** node:http joins a head only with a text body; each byte stands for itself in Latin-1, so none is changed. */
const latin1Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");

/** The front end's own state that an answer depends on. */
export interface ResponderHost {
  /** Set while the server shuts down: every answer is then its connection's last. */
  readonly isDraining: boolean;
  readonly flushTimeoutMs: number;
}

/** One answer. */
export class NodeResponder extends HeldResponder<ServerResponse> implements Tenant {
  readonly #host: ResponderHost;
  readonly #connection: Connection;
  readonly #req: IncomingMessage;
  readonly #hasBody: boolean;
  readonly #hosted: HostedArrival | null;
  #isSelfDelimiting = false;

  constructor(
    host: ResponderHost,
    exchange: {
      readonly connection: Connection;
      readonly req: IncomingMessage;
      readonly res: ServerResponse;
      readonly hasBody: boolean;
      readonly hosted: HostedArrival | null;
    },
  ) {
    super(exchange.res);
    this.#host = host;
    this.#connection = exchange.connection;
    this.#req = exchange.req;
    this.#hasBody = exchange.hasBody;
    this.#hosted = exchange.hosted;
  }

  /** Bytes that wait for the client on this side of the kernel. */
  get bufferedBytes(): number {
    return this.res.writableLength;
  }

  end(bytes: Uint8Array | null, closeConnection: boolean): void {
    if (this.state === "gone") return;
    if (this.state !== "held" && this.state !== "streaming")
      throw new GatewayError("state_violation", "An answer ends once, after its head.");
    const isWhole = this.state === "held";
    const closes = closeConnection || this.#mustClose();
    if (closes) {
      this.#connection.prepareClose();
      this.res.once("finish", () => this.#connection.close());
    }
    if (isWhole) this.sendHead(this.#completeHeaders(bytes?.byteLength ?? 0, closes), "ended");
    this.finish();
    if (bytes === null || bytes.byteLength === 0) this.res.end();
    else if (isWhole && bytes.byteLength <= MAX_JOINED_BODY_BYTES) this.res.end(latin1Of(bytes), "latin1");
    else this.res.end(bytes);
    this.#boundFlush();
  }

  abort(): void {
    if (this.state === "gone") return;
    const isUnsent = this.isUnanswered;
    const withReset = !isUnsent && !this.#isSelfDelimiting;
    this.leave();
    if (!withReset) {
      // Hands over what was written in this turn, such as an error event; the missing last chunk shows that the answer is broken.
      while (this.#connection.socket.writableCorked > 0) this.#connection.socket.uncork();
    }
    this.#connection.destroy({ withReset });
  }

  isDone(): boolean {
    // node:http detaches the socket after the last byte was flushed; only then may the next answer begin.
    return this.state === "gone" || (this.state === "ended" && this.res.socket === null);
  }

  whenDone(callback: () => void): void {
    this.res.once("finish", callback);
  }

  onConnectionGone(): void {
    if (this.state === "ended" || this.state === "gone") return;
    const { onGone } = this;
    this.leave();
    this.#connection.destroy({ withReset: false });
    onGone?.();
  }

  onInputBroken(reason: "malformed" | "timeout"): void {
    this.bodyReader?.fail(reason);
  }

  /** Sends a head that no body byte has followed. */
  flushHead(): void {
    if (this.state !== "held") return;
    this.sendHead(this.headers, "streaming");
    this.res.flushHeaders();
  }

  #mustClose(): boolean {
    if (this.#host.isDraining || this.#connection.broken !== null || this.#req.httpVersionMinor === 0) return true;
    // The rest of an unread body would have to be read to find the next request.
    return this.#hasBody && !this.#req.complete;
  }

  protected sendHead(headers: HeaderList, state: "streaming" | "ended"): void {
    this.state = state;
    // HTTP/1.0 without a length is delimited by the end of the connection, so only a reset can show that an answer is broken.
    this.#isSelfDelimiting = this.#req.httpVersionMinor === 1 && findHeader(headers, "content-length") === undefined;
    if (this.#hosted !== null && isWrapped(this.res, "writeHead")) writeHeadThrough(this.res, this.status, headers);
    // The cast drops `readonly` only: node:http reads the list and keeps nothing of it.
    else this.res.writeHead(this.status, headers as string[]);
    if (state === "streaming") this.#hosted?.onStreaming?.(this.res);
  }

  #completeHeaders(byteLength: number, closes: boolean): HeaderList {
    const headers = [...this.headers];
    if (this.lacksLength(byteLength)) headers.push("content-length", String(byteLength));
    if (closes) headers.push("connection", "close");
    return headers;
  }

  /** An ended answer has no engine timer left: the socket's own, which sees the kernel take bytes, watches a client that stalls. */
  #boundFlush(): void {
    const { socket } = this.#connection;
    if (this.res.socket !== null && socket.writableLength > 0) socket.setTimeout(this.#host.flushTimeoutMs);
  }
}

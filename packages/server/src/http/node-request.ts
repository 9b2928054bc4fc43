// A client's request as the engine sees it, over an IncomingMessage. The body is read at most once.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { BodyReading, ClientRequest, HeaderList } from "@dragoman/core";

import { BodyReader, readBufferedBody } from "./body-reader.ts";
import type { BodySource } from "./body-reader.ts";
import type { Connection, Schedule } from "./connection.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { NodeResponder } from "./node-responder.ts";

/** What reading a body needs beside the request. */
export interface RequestHost {
  readonly pool: BodySource;
  readonly limits: HttpLimits;
  readonly schedule: Schedule;
}

/** A checked head and its message. */
export interface RequestParts {
  readonly connection: Connection;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly responder: NodeResponder;
  readonly path: string;
  readonly query: string;
  readonly contentLength: number | null;
  readonly hasBody: boolean;
  readonly owesContinue: boolean;
}

/** One request; made by the front end. */
export class NodeRequest implements ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderList;
  readonly contentLength: number | null;
  readonly #host: RequestHost;
  readonly #parts: RequestParts;
  #isRead = false;

  constructor(host: RequestHost, parts: RequestParts) {
    this.method = parts.req.method ?? "";
    this.path = parts.path;
    this.query = parts.query;
    this.headers = parts.req.rawHeaders;
    this.contentLength = parts.contentLength;
    this.#host = host;
    this.#parts = parts;
  }

  /** Asked for when it is needed: most requests never need it. */
  get remoteAddress(): string | null {
    return this.#parts.req.socket.remoteAddress ?? null;
  }

  readBody(maxBytes: number): Promise<BodyReading> {
    const { req, res, responder, connection, contentLength } = this.#parts;
    const { pool } = this.#host;
    if (this.#isRead) return failReading("consumed");
    this.#isRead = true;
    // A host's body parser may have been here before and kept the bytes.
    const { rawBody } = req as { readonly rawBody?: unknown };
    if (rawBody instanceof Uint8Array) return Promise.resolve(readBufferedBody(rawBody, pool, maxBytes));
    if (!this.#parts.hasBody) return Promise.resolve(readBufferedBody(new Uint8Array(0), pool, maxBytes));
    if (req.readableDidRead || req.readableEnded) return failReading("consumed");
    if (contentLength !== null && contentLength > maxBytes) return failReading("too-large");
    if (!req.complete && connection.broken !== null) return failReading(connection.broken);
    if (req.destroyed || responder.isOver) return failReading("incomplete");
    if (this.#parts.owesContinue) res.writeContinue();
    const reader = new BodyReader({ ...this.#host, req, maxBytes, contentLength });
    responder.bodyReader = reader;
    return reader.result;
  }
}

/** A body that is not read, and why. */
export function failReading(reason: Extract<BodyReading, { readonly ok: false }>["reason"]): Promise<BodyReading> {
  return Promise.resolve({ ok: false, reason });
}

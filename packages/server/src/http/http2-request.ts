// A request on a stream of HTTP/2, over node:http2's compatibility layer: the check of its head, and the request as the engine
// sees it. Framing, pseudo-header fields and forbidden connection fields are nghttp2's business (RFC 9113 §8).

import type { Http2ServerRequest } from "node:http2";

import type { BodyReading, ClientRequest, HeaderList } from "@dragoman/core";
import { findHeader } from "@dragoman/core";

import { BodyReader, readBufferedBody } from "./body-reader.ts";
import type { Http2Responder } from "./http2-responder.ts";
import { failReading } from "./node-request.ts";
import type { RequestHost } from "./node-request.ts";
import { findTargetProblem, pathOf, queryOf } from "./request-target.ts";
import { refuse } from "./strict-request.ts";
import type { HeadCheck } from "./strict-request.ts";

/** A head that is served. */
type ServedHead = Extract<HeadCheck, { readonly ok: true }>;

const COLON = 0x3a;

/** Checks a head; `target` is the path and query below the mount. */
export function checkStreamHead(req: Http2ServerRequest, target: string, maxHeaderCount: number): HeadCheck {
  const headers = req.rawHeaders;
  if (headers.length > maxHeaderCount * 2) return refuse(431, "The request has too many header fields.");
  // A length that is no number, is repeated or is not kept to has been refused by nghttp2 (RFC 9113 §8.1.1).
  const length = findHeader(headers, "content-length");
  const targetProblem = findTargetProblem(target);
  if (targetProblem !== null) return refuse(400, targetProblem);
  return {
    ok: true,
    path: pathOf(target),
    query: queryOf(target),
    contentLength: length === undefined ? null : Number(length),
    hasBody: !req.stream.endAfterHeaders,
    // Node has sent it before the request was emitted.
    expectsContinue: false,
  };
}

/** One request on a stream. */
export class Http2Request implements ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderList;
  readonly contentLength: number | null;
  readonly #host: RequestHost;
  readonly #req: Http2ServerRequest;
  readonly #responder: Http2Responder;
  readonly #hasBody: boolean;
  #isRead = false;

  constructor(
    host: RequestHost,
    parts: { readonly req: Http2ServerRequest; readonly responder: Http2Responder; readonly check: ServedHead },
  ) {
    const { req, check } = parts;
    this.method = req.method;
    this.path = check.path;
    this.query = check.query;
    this.headers = withoutPseudoFields(req.rawHeaders);
    this.contentLength = check.contentLength;
    this.#host = host;
    this.#req = req;
    this.#responder = parts.responder;
    this.#hasBody = check.hasBody;
  }

  /** Asked for when it is needed: most requests never need it. */
  get remoteAddress(): string | null {
    return this.#req.stream.session?.socket.remoteAddress ?? null;
  }

  readBody(maxBytes: number): Promise<BodyReading> {
    const { pool } = this.#host;
    const { contentLength } = this;
    if (this.#isRead) return failReading("consumed");
    this.#isRead = true;
    const { rawBody } = this.#req as { readonly rawBody?: unknown };
    if (rawBody instanceof Uint8Array) return Promise.resolve(readBufferedBody(rawBody, pool, maxBytes));
    if (!this.#hasBody) return Promise.resolve(readBufferedBody(new Uint8Array(0), pool, maxBytes));
    if (this.#req.readableDidRead || this.#req.readableEnded) return failReading("consumed");
    if (contentLength !== null && contentLength > maxBytes) return failReading("too-large");
    if (this.#req.destroyed || this.#responder.isOver) return failReading("incomplete");
    const reader = new BodyReader({ ...this.#host, req: this.#req, maxBytes, contentLength });
    this.#responder.bodyReader = reader;
    return reader.result;
  }
}

function withoutPseudoFields(headers: HeaderList): HeaderList {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    if (name.charCodeAt(0) !== COLON) kept.push(name, headers[index + 1] as string);
  }
  return kept;
}

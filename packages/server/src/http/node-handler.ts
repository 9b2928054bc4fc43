// The front end over node:http: turns (req, res) into (ClientRequest, Responder) for the engine, one exchange per connection at a time,
// and answers by itself what is no acceptable HTTP. Works on any node:http, node:https or node:http2 server; `createHttpServer` adds
// what only a server of our own can do.

import type { IncomingMessage } from "node:http";
import { Http2ServerRequest } from "node:http2";
import type { Http2ServerResponse } from "node:http2";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";

import type { ClientRequest, HandleOptions, HeaderList, Responder } from "@dragoman/core";

import type { BodySource } from "./body-reader.ts";
import { Connection } from "./connection.ts";
import type { Arrival, Schedule } from "./connection.ts";
import type { HostedArrival, PrincipalAnswer } from "./hosted-arrival.ts";
import { checkStreamHead, Http2Request } from "./http2-request.ts";
import { Http2Responder } from "./http2-responder.ts";
import { DEFAULT_HTTP_LIMITS } from "./http-limits.ts";
import type { HttpLimits } from "./http-limits.ts";
import { NodeRequest } from "./node-request.ts";
import { NodeResponder } from "./node-responder.ts";
import { encodeRawAnswer, refusalOfParserError } from "./refusal.ts";
import type { EncodedRefusal, EncodeRefusal, Refusal, RefusalCode } from "./refusal.ts";
import { pathOf } from "./request-target.ts";
import { checkRequestHead } from "./strict-request.ts";
import type { HeadCheck } from "./strict-request.ts";

/** Something that went wrong on a client's connection, for the log. Holds nothing of the request. */
export interface ConnectionProblem {
  readonly kind: "refused" | "connection-error" | "handler-threw" | "principal-threw";
  readonly detail: string;
  /** What was thrown, or null. */
  readonly cause: unknown;
}

/** What a front end needs from its gateway. */
export interface FrontEndOptions {
  /** The engine. Must not throw; if it does, the client gets a 500 or a broken answer. */
  readonly handle: (request: ClientRequest, responder: Responder, options?: HandleOptions) => void;
  readonly encodeRefusal: EncodeRefusal;
  readonly pool: BodySource;
  /** Overrides of `DEFAULT_HTTP_LIMITS`. */
  readonly limits?: Partial<HttpLimits>;
  /** Timers; Node's own without it. */
  readonly schedule?: Schedule;
  readonly onConnectionError?: (problem: ConnectionProblem) => void;
}

/** A running answer, as the front end itself needs it. */
interface FrontEndResponder extends Responder {
  readonly isUnanswered: boolean;
  readonly isGone: boolean;
  replaceHead(status: number, headers: HeaderList): void;
}

/** What both kinds of messages have of a head. */
type MessageHead = Pick<IncomingMessage, "url" | "rawHeaders">;

/** A request that is handed to the engine, and its way back. */
interface Exchange {
  readonly request: ClientRequest;
  readonly responder: FrontEndResponder;
  readonly hosted: HostedArrival | null;
}

/** One front end with one gateway behind it. */
export class NodeFrontEnd {
  readonly limits: HttpLimits;
  readonly pool: BodySource;
  readonly schedule: Schedule;
  readonly flushTimeoutMs: number;
  isDraining = false;
  readonly #handle: FrontEndOptions["handle"];
  readonly #encodeRefusal: EncodeRefusal;
  readonly #onConnectionError: (problem: ConnectionProblem) => void;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #start: (connection: Connection, arrival: Arrival) => void;

  constructor(options: FrontEndOptions) {
    this.limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
    this.pool = options.pool;
    this.schedule = options.schedule ?? scheduleWithNode;
    this.flushTimeoutMs = this.limits.flushTimeoutMs;
    this.#handle = options.handle;
    this.#encodeRefusal = options.encodeRefusal;
    this.#onConnectionError = options.onConnectionError ?? ignoreProblem;
    this.#start = (connection, arrival) => this.#serve(connection, arrival);
  }

  /** Takes a request whose head has arrived. */
  accept(arrival: Arrival): void {
    // Streams of HTTP/2 are independent of each other, and their connection is not ours to touch (RFC 9113 §5).
    const message: object = arrival.req;
    if (message instanceof Http2ServerRequest) this.#serveStream(message, arrival);
    else this.connectionOf(arrival.req.socket).admit(arrival);
  }

  /** The state of a socket, made on first use. */
  connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = new Connection(socket, { limits: this.limits, schedule: this.schedule, start: this.#start });
    this.#connections.set(socket, connection);
    return connection;
  }

  /** Handles `clientError`: input that is no HTTP, a head or body that is too slow, or a socket that failed. */
  onClientError(error: Error, stream: Duplex): void {
    // node:http passes the net.Socket or TLSSocket of the connection (documented for `clientError`).
    const socket = stream as Socket;
    const connection = this.connectionOf(socket);
    const refusal = refusalOfParserError(error);
    if (refusal === null || !socket.writable) {
      this.reportError(error);
      socket.destroy();
      return;
    }
    if (connection.isClosing || connection.broken !== null) return;
    // The client ended in the middle of a body: the connection tells the exchange, which then is incomplete and not malformed.
    if (connection.isBusy && "code" in error && error.code === "HPE_INVALID_EOF_STATE") return;
    this.#report("refused", refusal.message, error);
    connection.broken = refusal.status === 408 ? "timeout" : "malformed";
    // An answer under way is not disturbed: it is the connection's last, and says so if its request is the broken one.
    if (connection.isBusy) connection.tenant?.onInputBroken(connection.broken);
    else this.refuseRaw(connection, refusal);
  }

  /** Tells of a connection that failed, or never came to be. */
  reportError(error: Error): void {
    this.#report("connection-error", error.message, error);
  }

  /** Answers on the bare socket and closes it; for input that has no ServerResponse. */
  refuseRaw(connection: Connection, refusal: Refusal): void {
    connection.stopAdmitting();
    const encoded = this.#encode(refusal);
    if (encoded === null) return connection.destroy({ withReset: false });
    connection.socket.write(encodeRawAnswer(refusal.status, encoded, new Date().toUTCString()));
    connection.close();
  }

  #serve(connection: Connection, arrival: Arrival): void {
    const { req, res, hosted } = arrival;
    const headers = req.rawHeaders;
    const check = checkRequestHead(
      {
        method: req.method ?? "",
        versionMajor: req.httpVersionMajor,
        versionMinor: req.httpVersionMinor,
        target: hosted?.target ?? req.url ?? "",
        headers,
      },
      this.limits.maxHeaderCount,
    );
    const responder = new NodeResponder(this, { connection, req, res, hasBody: !check.ok || check.hasBody, hosted });
    connection.tenant = responder;
    if (!check.ok) return this.#refuseHead(responder, check, req);
    const { path, query, contentLength, hasBody, expectsContinue } = check;
    const owesContinue = arrival.owesContinue && expectsContinue;
    const request = new NodeRequest(this, {
      connection,
      req,
      res,
      responder,
      path,
      query,
      contentLength,
      hasBody,
      owesContinue,
    });
    this.#identify({ request, responder, hosted });
  }

  #serveStream(req: Http2ServerRequest, arrival: Arrival): void {
    const { hosted } = arrival;
    // The two come as a pair.
    const res = arrival.res as unknown as Http2ServerResponse;
    const check = checkStreamHead(req, hosted?.target ?? req.url, this.limits.maxHeaderCount);
    const responder = new Http2Responder(res, {
      hasBody: !check.ok || check.hasBody,
      hosted,
      flushTimeoutMs: this.flushTimeoutMs,
    });
    if (!check.ok) return this.#refuseHead(responder, check, req);
    this.#identify({ request: new Http2Request(this, { req, responder, check }), responder, hosted });
  }

  /** Asks the host who is calling, where it wants to say so. */
  #identify(exchange: Exchange): void {
    const { hosted } = exchange;
    if (hosted === null) return this.#run(exchange, undefined);
    if (hosted.target === null)
      return this.#refuse(
        exchange,
        404,
        "route_not_found",
        "The path is not below the one that this gateway is mounted at.",
      );
    if (hosted.authenticate === null) return this.#run(exchange, undefined);
    let answer: PrincipalAnswer;
    try {
      answer = hosted.authenticate();
    } catch (cause) {
      return this.#failToIdentify(exchange, cause);
    }
    if (!(answer instanceof Promise)) return this.#run(exchange, { principal: answer });
    answer.then(
      (principal) => {
        // Nobody is there any more to be answered, and nothing was begun.
        if (!exchange.responder.isGone) this.#run(exchange, { principal });
      },
      (cause: unknown) => this.#failToIdentify(exchange, cause),
    );
  }

  #failToIdentify(exchange: Exchange, cause: unknown): void {
    this.#report("principal-threw", "The host's principal function threw.", cause);
    if (!exchange.responder.isGone) this.#refuse(exchange, 500, "internal", "The gateway failed.");
  }

  #run(exchange: Exchange, options: HandleOptions | undefined): void {
    const { request, responder } = exchange;
    try {
      this.#handle(request, responder, options);
    } catch (cause) {
      this.#report("handler-threw", "The engine threw.", cause);
      if (responder.isUnanswered) this.#refuse(exchange, 500, "internal", "The gateway failed.");
      else responder.abort();
    }
  }

  #refuse({ request, responder }: Exchange, status: number, code: RefusalCode, message: string): void {
    const { path, headers } = request;
    this.#answer(responder, { status, code, message, path, headers });
  }

  #refuseHead(responder: FrontEndResponder, check: Extract<HeadCheck, { readonly ok: false }>, req: MessageHead): void {
    this.#report("refused", check.message, null);
    const { status, code, message } = check;
    this.#answer(responder, { status, code, message, path: pathOf(req.url ?? ""), headers: req.rawHeaders });
  }

  #answer(responder: FrontEndResponder, refusal: Refusal): void {
    const encoded = this.#encode(refusal);
    if (encoded === null) return responder.abort();
    responder.replaceHead(refusal.status, encoded.headers);
    responder.end(encoded.body, true);
  }

  /** Null when the callback threw: a defect there costs its client the answer, not the process. */
  #encode(refusal: Refusal): EncodedRefusal | null {
    try {
      return this.#encodeRefusal(refusal);
    } catch (cause) {
      this.#report("handler-threw", "The encoding of a refusal threw.", cause);
      return null;
    }
  }

  #report(kind: ConnectionProblem["kind"], detail: string, cause: unknown): void {
    this.#onConnectionError({ kind, detail, cause });
  }
}

/** Timers of Node that do not keep the process alive. */
export function scheduleWithNode(delayMs: number, callback: () => void): { cancel(): void } {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return { cancel: () => clearTimeout(timer) };
}

function ignoreProblem(): void {
  // A host that gives no listener does not want to know; the client was answered all the same.
}

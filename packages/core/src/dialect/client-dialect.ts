/**
 * The client half of a dialect: which routes it serves, how its requests are read, and how answers and errors are written for
 * its clients. A client dialect is stateless; state lives in the objects it creates per exchange.
 */
import type { Document, NodeIndex } from "../json/index.ts";
import type { DialectId, NeutralError, NeutralRequest, NeutralResponse, Operation, StreamEvent } from "../ir/index.ts";
import type { HeaderList } from "./header-list.ts";
import type { LimitStanding } from "./limit-standing.ts";

/** A route that a client dialect serves. `{name}` in a segment captures; matching is on the raw, undecoded path. */
export interface ClientRoute {
  readonly method: "POST" | "GET";
  readonly path: string;
  readonly operation: Operation | "list-models" | "get-model";
}

/** A matched route: its operation and what its path captured (still percent-encoded). */
export interface RouteMatch {
  readonly operation: ClientRoute["operation"];
  readonly path: string;
  readonly query: string;
  readonly captures: Readonly<Record<string, string>>;
}

/** The few members that every request needs, read without building the neutral request. */
export interface RequestHead<Facts = unknown> {
  readonly model: string;
  /** The `model` member's value in the body, or ABSENT where the dialect names it elsewhere. */
  readonly modelNode: NodeIndex;
  readonly stream: boolean;
  /** What this dialect needs of the request to write answers, e.g. whether usage was asked for. Only its own room reads it. */
  readonly facts: Facts;
}

/** What a request says about its own size and sender. A member that is absent or no sensible value is left out. */
export interface RequestBounds {
  /** The most output tokens of each answer. */
  readonly maxOutputTokens?: number;
  /** Answers asked for. */
  readonly choices?: number;
  /** The client's own name for whom it serves. */
  readonly endUser?: string;
}

/** A credential that a client presented. Two that differ are a conflict. */
export type CredentialReading =
  | { readonly ok: true; readonly secret: string | null }
  | { readonly ok: false; readonly reason: "conflict" };

/** What an answer needs beside the neutral answer itself. Everything random or timed comes through it. */
export interface AnswerContext<Facts = unknown> {
  /** The gateway's id of this exchange. */
  readonly requestId: string;
  /** Gateway clock, seconds since 1970. */
  readonly createdSeconds: number;
  /** A fresh id: prefix + 24 base62 characters. */
  makeId(prefix: string): string;
  readonly facts: Facts;
  /** The upstream model id, for signature envelopes and where the upstream's answer names none. */
  readonly upstreamModel: string;
  /** What the provider encoder left for the way back (wrapped or flattened tool names), or null. */
  readonly toolMap: ToolMap | null;
  /** Options of the client dialect, from the configuration. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Counts things that are neither errors nor visible, e.g. `response_extra_omitted`. */
  count(name: string): void;
}

/** Tool names that were changed on the way to the provider, by the name the provider knows. */
export interface ToolMap {
  /** Free-text tools that went out as function tools. */
  readonly wrappedCustom: ReadonlySet<string>;
  readonly namespaces: ReadonlyMap<string, { readonly namespace: string; readonly name: string }>;
}

/** A complete answer's body, or why this dialect cannot represent it. */
export type EncodedAnswer =
  | { readonly ok: true; readonly body: Uint8Array }
  | { readonly ok: false; readonly error: NeutralError };

/** A plain error answer. Headers are those of the dialect (request id, retry hints), not transport headers. */
export interface EncodedError {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** Writes one answer stream for a client: events in, bytes out. Synchronous; bytes given to `write` are the receiver's own. */
export interface StreamEncoder {
  /** Encodes one event; references in it are not kept beyond the call. Returns an error when the stream cannot go on. */
  encode(event: StreamEvent): NeutralError | null;
  /** Writes this dialect's in-stream error. Nothing may follow. */
  fail(error: NeutralError): void;
}

/** Where an encoder puts bytes. They belong to the receiver; several calls may follow in one turn. */
export type ByteSink = (bytes: Uint8Array) => void;

/** One entry of a model list. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  readonly createdSeconds: number;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

/** A decoded request, or why it is not one. */
export type DecodedRequest =
  | { readonly ok: true; readonly request: NeutralRequest }
  | { readonly ok: false; readonly error: NeutralError };

/** The client half of a dialect. */
export interface ClientDialect<Facts = unknown> {
  readonly id: DialectId;
  readonly routes: readonly ClientRoute[];
  /** Whether a request to no known route belongs to this dialect's clients, by path and headers; for the 404 envelope and shared routes. */
  claims(path: string, headers: HeaderList): boolean;
  /** Reads the credential from headers and query; never logs or keeps it. */
  readCredential(headers: HeaderList, query: string): CredentialReading;
  /** Refuses requests by their headers alone, e.g. an unknown protocol version. */
  checkHeaders(headers: HeaderList): NeutralError | null;
  /** Reads model, stream flag and facts; refuses what is wrong about them with the member's path. */
  readHead(
    document: Document,
    route: RouteMatch,
  ): { readonly ok: true; readonly head: RequestHead<Facts> } | { readonly ok: false; readonly error: NeutralError };
  /** Decodes the whole request. References point into `document.bytes`. */
  decodeRequest(document: Document, head: RequestHead<Facts>, route: RouteMatch, headers: HeaderList): DecodedRequest;
  /** Bytes-based estimate of input tokens, media-aware; never a tokenizer. */
  estimateInputTokens(document: Document): number;
  /** Reads what reservations and accounts need, without decoding the rest. Never refuses. */
  readBounds?(document: Document): RequestBounds;

  encodeResponse(response: NeutralResponse, context: AnswerContext<Facts>): EncodedAnswer;
  createStreamEncoder(context: AnswerContext<Facts>, write: ByteSink): StreamEncoder;
  encodeError(
    error: NeutralError,
    context: { readonly requestId: string; readonly hasFallenBack: boolean },
  ): EncodedError;
  /** The in-stream error for a stream that was forwarded, not encoded. */
  encodeStreamError(error: NeutralError, context: { readonly requestId: string }): Uint8Array;
  encodeTokenCount(count: number): Uint8Array;
  encodeModelList(models: readonly ListedModel[], query: string): EncodedAnswer;
  encodeModel(model: ListedModel): Uint8Array;

  /** What the caller's limits leave, in this dialect's header fields; what it has no field for is left out. */
  encodeRateLimits(standings: readonly LimitStanding[], nowMs: number): HeaderList;
  /** Header list that names the exchange to this dialect's clients. */
  identify(requestId: string): HeaderList;
  readonly streamContentType: string;
  /** A keep-alive record that this dialect's clients skip. */
  readonly keepAlive: Uint8Array;
  /**
   * The record that ends a stream of this dialect. A forwarded stream that was complete without it (`StreamObserver.finish` gave
   * null and no record had `RecordFlag.end`) gets it from the gateway. Absent where the last event is itself the end.
   */
  readonly streamTerminator?: Uint8Array;
}

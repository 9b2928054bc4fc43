/**
 * The provider half of a dialect: how requests are forwarded or encoded for an upstream that speaks it, and how its answers,
 * streams and errors are read. The dry run is the real encoding: there is one function, and it has no side effects.
 */
import type { Document, Segments } from "../json/index.ts";
import type {
  DialectId,
  NeutralError,
  NeutralRequest,
  NeutralResponse,
  Operation,
  StreamEvent,
  Usage,
} from "../ir/index.ts";
import type { Capabilities } from "./capabilities.ts";
import type { RequestHead, ToolMap } from "./client-dialect.ts";
import type { HeaderList } from "./header-list.ts";
import type { Issue } from "./issue.ts";

/** Data that describes one vendor's variety of a dialect; its members are the dialect's own business. */
export type Profile = Readonly<Record<string, unknown>>;

/** The deployment that an encoder writes for. */
export interface EncodeTarget {
  readonly deploymentId: string;
  /** The provider kind's id; signature carriers compare origins, not kinds. */
  readonly kind: string;
  /** The upstream's model id. */
  readonly model: string;
  readonly capabilities: Capabilities;
  /** A profile that `ProviderDialect.compileProfile` returned. */
  readonly profile: Profile;
  readonly lossyAllow: ReadonlySet<string>;
  /** Options of the provider dialect, from the configuration (e.g. allowed betas). */
  readonly options: Readonly<Record<string, unknown>>;
  /** True when the request can only go to one credential of one deployment: upstream state may then be named. */
  readonly isOnlyAccount: boolean;
}

/** A request as bytes for an upstream. Segments reference the client's body; who sends them keeps that body alive. */
export interface EncodedRequest {
  readonly body: Segments;
  /** Path below the provider's base URL, e.g. `/chat/completions`, with its query if any. */
  readonly path: string;
  /** Dialect headers only: no host, credential, length or content headers. */
  readonly headers: HeaderList;
  readonly toolMap: ToolMap | null;
}

/** An encoding with what it adapted and dropped, or everything that stands against it. */
export type EncodeResult =
  | { readonly ok: true; readonly encoded: EncodedRequest; readonly issues: readonly Issue[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** What a decoder of answers needs to know of the attempt. */
export interface DecodeContext {
  readonly profile: Profile;
  readonly upstreamModel: string;
  /** Headers of the upstream's answer. */
  readonly headers: HeaderList;
  count(name: string): void;
}

/** A whole answer of an upstream, or the error that it turned out to be. */
export type DecodedResponse =
  | { readonly ok: true; readonly response: NeutralResponse }
  | { readonly ok: false; readonly error: NeutralError };

/** What the gateway wants to know of an answer that it forwards as it is. */
export type ObservedResponse =
  | { readonly ok: true; readonly usage: Usage | null; readonly stopWord: string | null }
  | { readonly ok: false; readonly error: NeutralError };

/** One framed record of an upstream stream. Valid only during the call; `bytes[dataStart, dataEnd)` is the payload. */
export interface StreamRecord {
  readonly bytes: Uint8Array;
  readonly dataStart: number;
  readonly dataEnd: number;
  /** The event name, or the empty string. */
  readonly event: string;
}

/** Turns records into neutral events. Synchronous. After an `error` or `end` event further records are ignored. */
export interface StreamDecoder {
  push(record: StreamRecord): void;
  /** The body ended, or the grace time for a late usage record ran out: emits `end`, or `error` when the stream is incomplete. */
  finish(): void;
  /** True once every candidate stopped and only a usage record may follow. */
  readonly isStopped: boolean;
}

/** What to do with a record of a forwarded stream; flags are or-ed. */
export const RecordFlag = {
  /** Give it to the client. */
  forward: 1,
  /** It carries content: the commit point. */
  content: 2,
  /** It is the upstream's error; see `StreamObserver.error`. */
  error: 4,
  /** The stream is complete; nothing that follows counts. */
  end: 8,
  /** It brings a part of the model's output (a text, a call, reasoning), by which streams without usage are estimated. */
  output: 16,
} as const;

/** Watches a stream that is forwarded as it is. */
export interface StreamObserver {
  /** Or-ed `RecordFlag`s. */
  observe(record: StreamRecord): number;
  /** The body ended: null when the stream was complete. */
  finish(): NeutralError | null;
  readonly usage: Usage | null;
  readonly stopWord: string | null;
  readonly error: NeutralError | null;
  readonly isStopped: boolean;
}

/** An upstream's error answer; `body` is cut at a bound. */
export interface UpstreamErrorAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

/** The provider half of a dialect. */
export interface ProviderDialect {
  readonly id: DialectId;
  readonly operations: readonly Operation[];
  readonly framing: "sse" | "ndjson";
  /** Signature origins that this dialect's providers made and can verify. */
  readonly signatureOrigins: readonly string[];
  /** Completes and checks a profile: a built-in name and overrides from the configuration. */
  compileProfile(
    name: string,
    overrides: Readonly<Record<string, unknown>>,
  ):
    | { readonly ok: true; readonly profile: Profile }
    | { readonly ok: false; readonly problems: readonly { readonly path: string; readonly message: string }[] };
  /** Whether answers of this profile are rewritten to the dialect's standard shape even for clients of the same dialect. */
  normalizesAnswers(profile: Profile): boolean;

  /** Same dialect: the client's bytes with the few edits that the dialect prescribes. */
  forwardRequest(
    document: Document,
    head: RequestHead,
    operation: Operation,
    headers: HeaderList,
    target: EncodeTarget,
  ): EncodeResult;
  /** Other dialect: encodes the neutral request. Also the dry run. */
  encodeRequest(request: NeutralRequest, target: EncodeTarget): EncodeResult;

  decodeResponse(document: Document, context: DecodeContext): DecodedResponse;
  observeResponse(document: Document, context: DecodeContext): ObservedResponse;
  /** Reads the usage member alone, out of an object that may hold nothing else. */
  readUsage(document: Document, context: DecodeContext): Usage | null;
  decodeTokenCount(
    document: Document,
  ): { readonly ok: true; readonly count: number } | { readonly ok: false; readonly error: NeutralError };
  createStreamDecoder(context: DecodeContext, emit: (event: StreamEvent) => void): StreamDecoder;
  /** `head` is the client's request head of the same dialect. */
  createStreamObserver(context: DecodeContext, head: RequestHead): StreamObserver;
  classifyError(answer: UpstreamErrorAnswer, context: DecodeContext): NeutralError;
}

/**
 * Everything the engine needs from outside: time, randomness, upstream sockets, a client's connection, admission, logs. The
 * engine itself opens nothing and reads nothing, so the whole of it runs in a simulation.
 */
import type { ServerSettings, UpstreamOrigin } from "../config/index.ts";
import type { HeaderList, LimitStanding } from "../dialect/index.ts";
import type { DialectId, NeutralError, Operation, Usage } from "../ir/index.ts";

/** A running timer. */
export interface Timer {
  cancel(): void;
}

/** Time. `nowMs` is wall-clock time; `monotonicMs` never goes back and has a fraction. */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  schedule(delayMs: number, callback: () => void): Timer;
}

/** Randomness. `next` is uniform in [0, 1); `id` is `length` base62 characters, unguessable in production. */
export interface Random {
  next(): number;
  id(length: number): string;
}

/** Hashing of secrets: lower-case hexadecimal SHA-256 of the UTF-8 bytes. */
export interface Hasher {
  sha256Hex(text: string): string;
}

/** Where the engine reports what an operator should see. Never receives a secret or body content. */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * A request body in one buffer that its front end gathered. Reference counted: it returns to its pool when the last holder
 * released it; released bytes may be overwritten at once.
 */
export interface BodyBuffer {
  readonly bytes: Uint8Array;
  retain(): void;
  release(): void;
}

/** Outcome of reading a request body. `too-large`, `timeout` and `incomplete` leave the connection unusable. */
export type BodyReading =
  | { readonly ok: true; readonly body: BodyBuffer }
  | { readonly ok: false; readonly reason: "too-large" | "timeout" | "incomplete" | "malformed" | "consumed" };

/** A client's request as a front end hands it over. */
export interface ClientRequest {
  readonly method: string;
  /** The raw request target's path, undecoded, without query. */
  readonly path: string;
  /** The raw query without `?`, or the empty string. */
  readonly query: string;
  readonly headers: HeaderList;
  /** Declared by `content-length`, or null. */
  readonly contentLength: number | null;
  /** Address of the connection's other end, which may be a proxy's; null where the front end knows none. */
  readonly remoteAddress: string | null;
  /** Reads the body once, bounded in bytes. Sends `100 Continue` first where the client waits for it. */
  readBody(maxBytes: number): Promise<BodyReading>;
}

/**
 * The way back to one client. A front end implements it; after `end` or `abort` nothing else may be called. Bytes given to
 * `write` and `end` belong to the responder and are not touched again by the engine.
 */
export interface Responder {
  /** Writes status and headers. Once, before any body byte. `hasLength` headers come complete; otherwise the front end frames. */
  head(status: number, headers: HeaderList): void;
  /** Returns false when the connection's own buffer is full; `onDrain` is then called once it is not. */
  write(bytes: Uint8Array): boolean;
  /** Ends the body. With `closeConnection` the connection is closed after it, with a bounded lingering close for unread input. */
  end(bytes: Uint8Array | null, closeConnection: boolean): void;
  /** Destroys the connection so that the client cannot take a broken answer for a whole one. */
  abort(): void;
  /** Set by the engine before it writes. */
  onDrain: (() => void) | null;
  /** Called once when the client's connection is gone before the answer ended. Set by the engine at the start. */
  onGone: (() => void) | null;
}

/** One upstream call. The client adds Host and Content-Length; `headers` holds everything else. */
export interface UpstreamRequest {
  readonly origin: UpstreamOrigin;
  readonly method: "POST" | "GET";
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: readonly Uint8Array[];
  readonly bodyLength: number;
  readonly connectTimeoutMs: number;
}

/** Why an upstream call failed in transport. `protocol` = the upstream broke HTTP. */
export interface UpstreamFailure {
  readonly kind: "connect" | "dns" | "tls" | "reset" | "protocol" | "connect-timeout";
  /** For the log: one sentence, no secret. */
  readonly detail: string;
  /** Whether any byte of an answer had arrived. */
  readonly hasResponse: boolean;
}

/**
 * Receives what happens to one upstream call. Exactly one of `onEnd` and `onFailure` comes last, unless the call was
 * cancelled: then nothing comes any more but `onReleased`. Chunks are valid only during the call.
 */
export interface UpstreamSink {
  /** The whole request was handed to the kernel. May come after the answer's head (an early answer), or never. */
  onSent(): void;
  onHead(status: number, headers: HeaderList): void;
  onData(chunk: Uint8Array): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
  /** The transport no longer references the request's body bytes: all write callbacks fired, or the socket closed. Exactly once. */
  onReleased(): void;
}

/** A running upstream call. */
export interface UpstreamCall {
  /** Stops reading from the upstream; data already read may still be delivered synchronously, none after that. */
  pause(): void;
  resume(): void;
  /** Destroys the connection. Idempotent. */
  cancel(): void;
}

/** Sends calls to upstreams. */
export interface UpstreamClient {
  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall;
  close(): Promise<void>;
}

/** Who is calling. */
export interface Principal {
  readonly id: string;
  readonly owner: string | null;
  readonly tags: readonly string[];
  /** Globs over public model names; `["*"]` = all. */
  readonly models: readonly string[];
  /** Diagnostic headers and deployment names in refusals. */
  readonly debug: boolean;
  /** Its word for end users and tags, in headers, counts. Default: it does not. */
  readonly isTrusted?: boolean;
}

/** Names of the settlement rules; one per way an attempt can end. */
export type SettlementRule =
  | "actual"
  | "estimated"
  | "after_disconnect"
  | "partial"
  | "failed_actual"
  | "failed_free"
  | "abandoned"
  | "shared"
  | "recovered";

/** How one attempt ended, for the account. */
export interface Settlement {
  readonly rule: SettlementRule;
  readonly deploymentId: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly upstreamRequestId: string | null;
  readonly usage: Usage | null;
  /** Content bytes given to the client, for estimates. */
  readonly deliveredBytes: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly providerDialect?: DialectId;
  /** Estimate of the output tokens that a stream has brought; null = the answer was no stream. */
  readonly contentTokens?: number | null;
}

/** A refusal by a limit or a budget. */
export interface AdmissionRefusal {
  readonly error: NeutralError;
}

/** What a reservation is computed from. The estimate costs a pass over the body, so it is made only when asked for. */
export interface HoldRequest {
  readonly model: string;
  estimateInputTokens(): number;
  /** Default: `generate`. Counting tokens costs nothing. */
  readonly operation?: Operation;
  /** Whom the client names as its own user. */
  readonly endUser?: string | null;
  /** Bytes of the request's body: no tokenizer makes more tokens of a text than it has bytes. */
  readonly bodyBytes?: number;
  /** The most output tokens the client asks for; absent = it sets no bound. */
  readonly maxOutputTokens?: number;
  /** Answers asked for. Default 1. */
  readonly choices?: number;
  /** Where the first attempt will go, so that one refusal speaks for all scopes before anything is counted. */
  readonly first?: { readonly deploymentId: string; readonly target: AttemptTarget };
}

/** Where an attempt goes, as far as its price and its largest size depend on it. */
export interface AttemptTarget {
  /** Id of the upstream account. */
  readonly provider?: string;
  readonly upstreamModel: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

/** A value at once, or later where a limit is counted outside this process. What is there at once costs no turn. */
export type MaybeAsync<Value> = Value | Promise<Value>;

/**
 * What admission hands to an exchange: `hold` at most once per plan, one `settle` per attempt, exactly one `close`. While a promise of
 * `hold` or `attempt` is pending only `releaseClient` is called.
 */
export interface Ticket {
  hold(request: HoldRequest): MaybeAsync<AdmissionRefusal | null>;
  /** Deployment-scope hold before an attempt; a refusal means the next candidate. */
  attempt(deploymentId: string, target?: AttemptTarget): MaybeAsync<AdmissionRefusal | null>;
  settle(settlement: Settlement): void;
  /**
   * What the last byte of an answer waits for once its attempt is settled; null = nothing. False: what was settled could not be kept,
   * and the answer must not end as a whole one. Never rejects.
   */
  readonly seal: (() => Promise<boolean>) | null;
  /**
   * What the caller's own limits leave, at most one row a dimension; empty where it has none. A gateway's own limits, those of the
   * whole and of a deployment, are nobody's business. May lag a little where limits are counted outside this process.
   */
  limitStandings?(): readonly LimitStanding[];
  /** The client has its answer or is gone: parallel slots return, while the account stays open for what the upstream still does. */
  releaseClient(): void;
  close(): void;
}

/** The exchange that a ticket is opened for. */
export interface AdmittedExchange {
  readonly requestId: string;
  readonly startedMs: number;
  readonly generation?: number;
  readonly clientDialect?: DialectId;
}

/** A ticket, or why there is none. */
export type AdmissionResult =
  | { readonly ok: true; readonly ticket: Ticket }
  | { readonly ok: false; readonly refusal: AdmissionRefusal };

/** Limits and accounts. `open` may refuse at once. */
export interface Admission {
  open(principal: Principal, exchange: AdmittedExchange): MaybeAsync<AdmissionResult>;
}

/** Finds who a credential belongs to; null = nobody. `embedding` hosts bring their own. */
export interface Authenticator {
  authenticate(secretSha256Hex: string, nowMs: number): Principal | null;
}

/** Slows down who guesses keys. Never asked about a request whose key is known. */
export interface AuthThrottle {
  /** An authentication failed. The wait in milliseconds that its client is told when there were too many from there, else null. */
  fail(request: ClientRequest, server: ServerSettings, nowMs: number): number | null;
}

/** All ports of one gateway. */
export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly hasher: Hasher;
  readonly logger: Logger;
  readonly upstream: UpstreamClient;
  readonly admission: Admission;
}

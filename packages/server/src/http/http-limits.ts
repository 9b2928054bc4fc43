// Every bound of the HTTP front end: one name, one default, one unit each.

/** Bounds of connections, heads, bodies and endings. All are positive; sizes are bytes, times milliseconds. */
export interface HttpLimits {
  /** Request line and fields together; one byte more is 431. */
  readonly maxHeadBytes: number;
  /** Fields of one head; one more is 431. */
  readonly maxHeaderCount: number;
  /** Time for a head, from its first byte, or from the connection's start for the first one. */
  readonly headTimeoutMs: number;
  /** Time for a whole body, from the moment it is read. */
  readonly bodyTimeoutMs: number;
  /** A body that brings fewer than `minBodyBytesPerWindow` bytes within this time has timed out. */
  readonly bodyWindowMs: number;
  readonly minBodyBytesPerWindow: number;
  /** How long an idle connection stays open; longer than the idle time of usual balancers, which then close first. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of an answer that has ended. Until then the engine's timers watch it. */
  readonly flushTimeoutMs: number;
  /** Lingering close: time and bytes for input that is read and dropped so that the client can read the answer (RFC 9112 §9.6). */
  readonly lingerMs: number;
  readonly lingerBytes: number;
  /** Pipelined requests that wait on one connection before its input is paused. */
  readonly maxWaitingRequests: number;
  /** Connections of one server; null = no bound of ours. */
  readonly maxConnections: number | null;
  /** Fill level at which a connection's buffers push back, each way. */
  readonly bufferBytes: number;
  /** How often slow heads are looked for. */
  readonly checkIntervalMs: number;
}

/** Defaults of `HttpLimits`. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = Object.freeze({
  maxHeadBytes: 32_768,
  maxHeaderCount: 200,
  headTimeoutMs: 20_000,
  bodyTimeoutMs: 60_000,
  bodyWindowMs: 15_000,
  minBodyBytesPerWindow: 1_024,
  keepAliveTimeoutMs: 75_000,
  flushTimeoutMs: 60_000,
  lingerMs: 1_000,
  lingerBytes: 65_536,
  maxWaitingRequests: 8,
  maxConnections: null,
  bufferBytes: 65_536,
  checkIntervalMs: 5_000,
});

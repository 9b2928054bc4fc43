/** The engine's own bounds: each has a name, a default and a test at it and one past it. Sizes in bytes, times in milliseconds. */

export interface EngineLimits {
  /** Largest request body. */
  readonly maxBodyBytes: number;
  /** A whole answer up to this size is held until it is complete. */
  readonly maxHeldResponseBytes: number;
  /** Largest answer that is translated. */
  readonly maxResponseBytes: number;
  /** Error bodies are read up to this size. */
  readonly maxErrorBytes: number;
  /** Largest record of a stream. */
  readonly maxRecordBytes: number;
  /** Bytes of a stream held before its first content. */
  readonly maxGateBytes: number;
  /** Bytes queued for a slow client before the upstream is paused. */
  readonly maxQueuedBytes: number;
  readonly keepAliveMs: number;
  /** How long a stopped stream may keep us waiting for its usage. */
  readonly usageGraceMs: number;
  /** How long a client may not read before it is cut. */
  readonly clientStallMs: number;
  /** How long a finished answer's connection may take to end. */
  readonly trailingMs: number;
  /** Longest `retry-after` we wait for ourselves. */
  readonly maxRetryAfterMs: number;
  /** Longest `retry-after` for which a deployment rests. */
  readonly maxCooldownMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** The bounds where nothing else is configured. */
export const DEFAULT_ENGINE_LIMITS: EngineLimits = {
  maxBodyBytes: 32 * MIB,
  maxHeldResponseBytes: MIB,
  maxResponseBytes: 32 * MIB,
  maxErrorBytes: 64 * KIB,
  maxRecordBytes: 16 * MIB,
  maxGateBytes: 4 * MIB,
  maxQueuedBytes: 256 * KIB,
  keepAliveMs: 15_000,
  usageGraceMs: 5_000,
  clientStallMs: 300_000,
  trailingMs: 1_000,
  maxRetryAfterMs: 20_000,
  maxCooldownMs: 300_000,
};

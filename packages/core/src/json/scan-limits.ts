// The bounds of a scan and their defaults: what keeps the work and the memory for one JSON text linear in its bytes.

/** Bounds of one scan; what is left out takes its default. */
export interface ScanLimits {
  /** Containers that may be open at once, the outermost being 1. Default 128. */
  readonly maxDepth?: number;
  /** Members one object may have. Default 100,000. */
  readonly maxMembers?: number;
  /** Values and member names in the whole text; a node takes 16 bytes of memory. Default 2,000,000. */
  readonly maxNodes?: number;
  /** What a repeated member name means: an error (default), or that its last value counts. */
  readonly duplicates?: "refuse" | "last-wins";
  /** Seeds the hash that finds repeated names in large objects; a host gives randomness here. */
  readonly hashSeed?: number;
}

/** {@link ScanLimits} with every field decided. */
export type ResolvedLimits = Required<ScanLimits>;

/** The bounds that apply where the caller gives none. */
export const DEFAULT_SCAN_LIMITS: ResolvedLimits = {
  maxDepth: 128,
  maxMembers: 100_000,
  maxNodes: 2_000_000,
  duplicates: "refuse",
  hashSeed: 0x2545_f491,
};

/** Fills in the defaults. */
export function resolveLimits(limits: ScanLimits | undefined): ResolvedLimits {
  return limits === undefined ? DEFAULT_SCAN_LIMITS : { ...DEFAULT_SCAN_LIMITS, ...limits };
}

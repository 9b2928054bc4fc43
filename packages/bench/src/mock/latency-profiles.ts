// The latency scripts of the mock.
import type { LatencyProfileId } from "../contract/cell.ts";

/** When the mock answers. For a plain answer only the first delay counts. */
export interface LatencyProfile {
  readonly id: LatencyProfileId;
  readonly firstMs: number;
  readonly gapMs: number;
}

/** Latency scripts by name. */
export const LATENCY_PROFILES: Readonly<Record<LatencyProfileId, LatencyProfile>> = {
  L0: { id: "L0", firstMs: 0, gapMs: 0 },
  L1500: { id: "L1500", firstMs: 1500, gapMs: 0 },
  LS: { id: "LS", firstMs: 200, gapMs: 20 },
};

/** Time from request to last byte that the script prescribes for an answer of `parts` parts, ms. */
export function scriptedMs(profile: LatencyProfile, parts: number): number {
  return profile.firstMs + profile.gapMs * Math.max(0, parts - 1);
}

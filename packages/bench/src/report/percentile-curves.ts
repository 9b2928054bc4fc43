// Percentile curves from the raw histograms, merged over the repetitions. A curve ends where it has no sample left to stand on.
import type { RawRecord } from "../contract/record.ts";
import { mergeEncoded } from "../histogram/histogram.ts";
import type { PercentileCurve } from "./comparison.ts";

/** Percentiles of a curve's points. */
const CURVE_PERCENTILES: readonly number[] = [
  0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.999,
];

/** Name of the curve of the direct runs. */
export const DIRECT_CURVE = "direct";

/** A curve over one side of the repetitions' raw histograms, or `undefined` without samples. `loadHistograms` must have been awaited. */
export function curveOf(
  target: string,
  raws: readonly RawRecord[],
  side: "gateway" | "direct",
): PercentileCurve | undefined {
  const encoded = raws.map((raw) => raw[side]?.latency).filter((each) => each !== undefined);
  if (encoded.length === 0) return undefined;
  const merged = mergeEncoded(encoded);
  const samples = merged.count;
  const points = CURVE_PERCENTILES.filter((percentile) => samples * (1 - percentile / 100) >= 1).map((percentile) => ({
    percentile,
    latencyUs: merged.valueAt(percentile),
  }));
  merged.destroy();
  return samples === 0 ? undefined : { target, samples, points };
}

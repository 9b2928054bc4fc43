// HDR histograms of durations in µs, 1 µs to 120 s at four significant digits, so that an overhead of 0.1 ms shows beside an
// answer of 1.5 s. Recording and merging lose nothing beyond that resolution: merged histograms equal one that saw all samples.
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  initWebAssembly,
  type Histogram as HdrHistogram,
} from "hdr-histogram-js";

import type { OverheadUs, PercentilesUs } from "../contract/record.ts";

/** Shortest and longest duration a histogram holds, µs; values outside are recorded at the bound. */
export const HISTOGRAM_RANGE_US: { readonly lowest: number; readonly highest: number } = {
  lowest: 1,
  highest: 120_000_000,
};

const SIGNIFICANT_DIGITS = 4;
const COUNTER_BITS = 64;

/** Loads the WebAssembly of the histograms; await it once before the first `createHistogram`. */
export async function loadHistograms(): Promise<void> {
  await initWebAssembly();
}

/** A histogram of durations. Its memory lies outside the garbage collector: call `destroy` when done. */
export class Histogram {
  readonly #hdr: HdrHistogram;

  constructor(hdr: HdrHistogram) {
    this.#hdr = hdr;
  }

  get count(): number {
    return this.#hdr.totalCount;
  }

  /** Records one duration in µs. */
  record(durationUs: number): void {
    const { lowest, highest } = HISTOGRAM_RANGE_US;
    this.#hdr.recordValue(Math.min(highest, Math.max(lowest, Math.round(durationUs))));
  }

  /** Adds all samples of another histogram. */
  merge(other: Histogram): void {
    this.#hdr.add(other.#hdr);
  }

  /** The duration in µs that `percentile` (0–100) of the samples do not exceed, at the histogram's resolution. */
  valueAt(percentile: number): number {
    return this.#hdr.getValueAtPercentile(percentile);
  }

  percentiles(): PercentilesUs {
    return {
      count: this.#hdr.totalCount,
      mean: this.#hdr.totalCount === 0 ? 0 : this.#hdr.mean,
      p50: this.valueAt(50),
      p90: this.valueAt(90),
      p99: this.valueAt(99),
      p999: this.valueAt(99.9),
      max: this.#hdr.maxValue,
    };
  }

  /** HDR V2 compressed, base64: the form that other HDR tools read. */
  encode(): string {
    return encodeIntoCompressedBase64(this.#hdr);
  }

  destroy(): void {
    this.#hdr.destroy();
  }
}

/** Creates an empty histogram. */
export function createHistogram(): Histogram {
  return new Histogram(
    build({
      lowestDiscernibleValue: HISTOGRAM_RANGE_US.lowest,
      highestTrackableValue: HISTOGRAM_RANGE_US.highest,
      numberOfSignificantValueDigits: SIGNIFICANT_DIGITS,
      bitBucketSize: COUNTER_BITS,
      useWebAssembly: true,
    }),
  );
}

/** Reads a histogram back from the form of `encode`. */
export function decodeHistogram(encoded: string): Histogram {
  return new Histogram(decodeFromCompressedBase64(encoded, COUNTER_BITS, true));
}

/** Merges encoded histograms into one encoded histogram. */
export function mergeEncoded(encoded: readonly string[]): Histogram {
  const merged = createHistogram();
  for (const each of encoded) {
    const part = decodeHistogram(each);
    merged.merge(part);
    part.destroy();
  }
  return merged;
}

/** Percentile by percentile difference; `undefined` when either side has no samples. */
export function subtractPercentiles(
  gateway: PercentilesUs | undefined,
  direct: PercentilesUs | undefined,
): OverheadUs | undefined {
  if (gateway === undefined || direct === undefined || gateway.count === 0 || direct.count === 0) return undefined;
  return {
    p50: gateway.p50 - direct.p50,
    p90: gateway.p90 - direct.p90,
    p99: gateway.p99 - direct.p99,
    p999: gateway.p999 - direct.p999,
  };
}

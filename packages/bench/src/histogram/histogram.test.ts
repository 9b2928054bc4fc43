// Histograms against a reference computation on the same samples.
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import {
  createHistogram,
  decodeHistogram,
  HISTOGRAM_RANGE_US,
  loadHistograms,
  mergeEncoded,
  subtractPercentiles,
} from "./histogram.ts";

beforeAll(loadHistograms);

/** Value that `percentile` of the samples do not exceed. */
function referencePercentile(samples: readonly number[], percentile: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length - 1e-6) - 1)] ?? 0;
}

const distributions = [
  { name: "uniform", samples: Array.from({ length: 10_000 }, (_, index) => index + 1) },
  { name: "constant", samples: Array.from({ length: 1000 }, () => 5000) },
  { name: "long tail", samples: Array.from({ length: 20_000 }, (_, index) => Math.round(100 / (1 - index / 20_001))) },
  { name: "two modes", samples: Array.from({ length: 5000 }, (_, index) => (index % 50 === 0 ? 1_000_000 : 700)) },
];

describe("percentiles", () => {
  it.each(distributions)("equal the reference within the resolution: $name", ({ samples }) => {
    const histogram = createHistogram();
    for (const sample of samples) histogram.record(sample);
    for (const percentile of [1, 50, 90, 99, 99.9, 100]) {
      const expected = referencePercentile(samples, percentile);
      expect(Math.abs(histogram.valueAt(percentile) - expected)).toBeLessThanOrEqual(Math.max(1, expected * 0.0001));
    }
    expect(histogram.count).toBe(samples.length);
    histogram.destroy();
  });

  it("equal the reference for any samples", () => {
    const samples = fc.array(fc.integer({ min: 1, max: HISTOGRAM_RANGE_US.highest }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(samples, fc.constantFrom(50, 90, 99, 99.9), (values, percentile) => {
        const histogram = createHistogram();
        for (const value of values) histogram.record(value);
        const expected = referencePercentile(values, percentile);
        const measured = histogram.valueAt(percentile);
        histogram.destroy();
        expect(Math.abs(measured - expected)).toBeLessThanOrEqual(Math.max(1, expected * 0.0001));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    { name: "below", value: 0.2, expected: 1 },
    { name: "negative", value: -3, expected: 1 },
    { name: "at the upper bound", value: 120_000_000, expected: 120_000_000 },
    { name: "above", value: 500_000_000, expected: 120_000_000 },
  ])("records a value $name the range at its bound", ({ value, expected }) => {
    const histogram = createHistogram();
    histogram.record(value);
    expect(Math.abs(histogram.valueAt(100) / expected - 1)).toBeLessThan(0.001);
    histogram.destroy();
  });
});

describe("merging", () => {
  it("equals one histogram that saw all samples, however they are dealt", () => {
    const part = fc.array(fc.integer({ min: 1, max: 10_000_000 }), { maxLength: 100 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const whole = createHistogram();
        const encoded = parts.map((samples) => {
          const histogram = createHistogram();
          for (const sample of samples) {
            histogram.record(sample);
            whole.record(sample);
          }
          const text = histogram.encode();
          histogram.destroy();
          return text;
        });
        const merged = mergeEncoded(encoded);
        expect(merged.encode()).toBe(whole.encode());
        merged.destroy();
        whole.destroy();
      }),
      { numRuns: 30 },
    );
  });

  it("keeps a count above 16 bits through an encoding", () => {
    const histogram = createHistogram();
    for (let sample = 0; sample < 70_000; sample += 1) histogram.record(777);
    const decoded = decodeHistogram(histogram.encode());
    expect(decoded.percentiles()).toEqual(histogram.percentiles());
    decoded.destroy();
    histogram.destroy();
  });
});

describe("subtraction", () => {
  const some = { count: 10, mean: 5, p50: 5, p90: 9, p99: 10, p999: 10, max: 10 };

  it("is percentile by percentile and may be negative", () => {
    expect(subtractPercentiles({ ...some, p50: 8, p99: 7 }, some)).toEqual({ p50: 3, p90: 0, p99: -3, p999: 0 });
  });

  it.each([
    { name: "gateway", gateway: { ...some, count: 0 }, direct: some },
    { name: "direct", gateway: some, direct: { ...some, count: 0 } },
  ])("has no result when the $name run has no samples", ({ gateway, direct }) => {
    expect(subtractPercentiles(gateway, direct)).toBeUndefined();
  });
});

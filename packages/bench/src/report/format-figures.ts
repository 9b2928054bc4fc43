// Figures as people read them: a fitting unit, three significant digits, and a dash for what was not measured.
import type { MetricName, PlannedCell, Spread } from "../contract/record.ts";
import type { Load } from "../contract/cell.ts";

/** What stands where nothing was measured. */
export const NOT_MEASURED = "–";

/** A duration in µs. */
export function formatUs(us: number): string {
  const size = Math.abs(us);
  if (size < 1000) return `${round(us)} µs`;
  return size < 1_000_000 ? `${round(us / 1000)} ms` : `${round(us / 1_000_000)} s`;
}

/** A size in bytes. */
export function formatBytes(bytes: number): string {
  return `${round(bytes / 2 ** 20)} MiB`;
}

/** A share, 0–1. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent !== 0 && percent < 0.1 ? percent.toFixed(3) : round(percent)} %`;
}

/** A rate or a count. */
export function formatCount(value: number): string {
  return round(value);
}

function round(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const FORMATS: Readonly<Record<MetricName, (value: number) => string>> = {
  overheadP50Us: formatUs,
  overheadP99Us: formatUs,
  overheadP999Us: formatUs,
  ttftOverheadP50Us: formatUs,
  ttftOverheadP99Us: formatUs,
  gapOverheadP50Us: formatUs,
  gapOverheadP99Us: formatUs,
  latencyP50Us: formatUs,
  latencyP99Us: formatUs,
  latencyP999Us: formatUs,
  directP50Us: formatUs,
  directP99Us: formatUs,
  offeredRps: formatCount,
  achievedRps: formatCount,
  errorFraction: formatShare,
  saturationRps: formatCount,
  cpuUsPerRequest: formatUs,
  minorFaultsPerRequest: formatCount,
  coreShare: formatShare,
  rssIdleBytes: formatBytes,
  rssPeakBytes: formatBytes,
};

/** Median with the extremes, where they differ in what is shown. */
export function formatSpread(metric: MetricName, spread: Spread | undefined): string {
  if (spread === undefined) return NOT_MEASURED;
  const format = FORMATS[metric];
  const [median, min, max] = [format(spread.median), format(spread.min), format(spread.max)];
  return min === max ? median : `${median} [${min} to ${max}]`;
}

/** A load in words. */
function formatLoad(load: Load): string {
  switch (load.kind) {
    case "rate":
      return `open loop, ${formatCount(load.rps)} requests/s`;
    case "ladder":
      return `ladder from ${formatCount(load.startRps)} requests/s`;
    case "closed":
      return `closed loop, ${load.connections} connections`;
    case "idle":
      return "no load";
  }
}

/** What a cell does, in one line. */
export function describeCell({ scenario, load, referenceLoad, latency, windows }: PlannedCell): string {
  const scaled = formatLoad(load) === formatLoad(referenceLoad) ? "" : ` (reference: ${formatLoad(referenceLoad)})`;
  const { warmUpSeconds, measureSeconds, repetitions } = windows;
  return `${scenario}, ${formatLoad(load)}${scaled}, mock ${latency}, ${warmUpSeconds} s + ${measureSeconds} s, ${repetitions} repetition${repetitions === 1 ? "" : "s"}`;
}

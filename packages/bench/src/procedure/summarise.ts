// Medians with the extremes over a cell's repetitions. A metric that no repetition measured stays absent.
import type {
  CellSummary,
  LoadRecord,
  MetricName,
  PercentilesUs,
  RepetitionRecord,
  Spread,
} from "../contract/record.ts";

/** Median, minimum and maximum; `undefined` for no values. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const [upper, lower] = [sorted[middle], sorted[middle - 1]];
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (upper === undefined || min === undefined || max === undefined) return undefined;
  return { median: sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2, min, max };
}

const METRICS: Readonly<Record<MetricName, (record: RepetitionRecord) => number | undefined>> = {
  overheadP50Us: (record) => record.overheadUs?.p50,
  overheadP99Us: (record) => record.overheadUs?.p99,
  overheadP999Us: (record) => record.overheadUs?.p999,
  ttftOverheadP50Us: (record) => record.ttftOverheadUs?.p50,
  ttftOverheadP99Us: (record) => record.ttftOverheadUs?.p99,
  gapOverheadP50Us: (record) => record.gapOverheadUs?.p50,
  gapOverheadP99Us: (record) => record.gapOverheadUs?.p99,
  latencyP50Us: (record) => filled(record.gateway)?.p50,
  latencyP99Us: (record) => filled(record.gateway)?.p99,
  latencyP999Us: (record) => filled(record.gateway)?.p999,
  directP50Us: (record) => filled(record.direct)?.p50,
  directP99Us: (record) => filled(record.direct)?.p99,
  offeredRps: (record) => record.gateway?.offeredRps,
  achievedRps: (record) => record.gateway?.achievedRps,
  errorFraction: (record) => record.gateway?.errorFraction,
  saturationRps: (record) => record.saturationRps,
  cpuUsPerRequest: (record) => record.usage?.cpuUsPerRequest,
  minorFaultsPerRequest: (record) => record.usage?.minorFaultsPerRequest,
  coreShare: (record) => record.usage?.coreShare,
  rssIdleBytes: (record) => record.usage?.rssIdleBytes,
  rssPeakBytes: (record) => record.usage?.rssPeakBytes,
};

/** Summary of one target in one cell; `records` are all its repetitions, in any order. */
export function summariseCell(target: string, cell: string, records: readonly RepetitionRecord[]): CellSummary {
  const measured = records.filter((record) => record.status === "measured");
  const metrics: Partial<Record<MetricName, Spread>> = {};
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const spread = spreadOf(measured.map(METRICS[name]).filter((value) => value !== undefined));
    if (spread !== undefined) metrics[name] = spread;
  }
  return {
    target,
    cell,
    status: measured.length === 0 ? "failed" : "measured",
    isValid: records.length > 0 && records.every((record) => record.isValid),
    reasons: records.flatMap((record) => record.reasons.map((reason) => `repetition ${record.repetition}: ${reason}`)),
    isSaturated: measured.some((record) => record.isSaturated),
    isRateAdapted: measured.some((record) => record.isRateAdapted),
    repetitions: records.length,
    metrics,
  };
}

/** Summary of a target that cannot take part in a cell. */
export function unavailableCell(target: string, cell: string, reason: string): CellSummary {
  return {
    target,
    cell,
    status: "n/a",
    isValid: false,
    reasons: [reason],
    isSaturated: false,
    isRateAdapted: false,
    repetitions: 0,
    metrics: {},
  };
}

/** Percentiles of an empty histogram are zeros that nobody measured. */
function filled(run: LoadRecord | undefined): PercentilesUs | undefined {
  return run === undefined || run.latencyUs.count === 0 ? undefined : run.latencyUs;
}

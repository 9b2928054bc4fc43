// The measured part of a repetition's record, and how a pair of runs becomes it.
import type { RawRecord, RepetitionRecord } from "../contract/record.ts";
import { subtractPercentiles } from "../histogram/histogram.ts";
import type { MeasuredRun } from "./load-runner.ts";

/** The gateway run and the direct run at the same pace. */
export interface RunPair {
  readonly gateway: MeasuredRun;
  readonly direct: MeasuredRun;
}

/** The measured part of a record. */
export type Measured = Omit<
  RepetitionRecord,
  "format" | "target" | "cell" | "repetition" | "startedAt" | "authentication" | "workers"
> & { readonly raw: Omit<RawRecord, "format"> };

/** What the two runs contribute to the record. */
export function recordsOf({
  gateway,
  direct,
}: RunPair): Pick<
  Measured,
  "gateway" | "direct" | "overheadUs" | "ttftOverheadUs" | "gapOverheadUs" | "usage" | "raw"
> {
  const ttftOverheadUs = subtractPercentiles(gateway.record.ttftUs, direct.record.ttftUs);
  const gapOverheadUs = subtractPercentiles(gateway.record.gapUs, direct.record.gapUs);
  return {
    gateway: gateway.record,
    direct: direct.record,
    overheadUs: subtractPercentiles(gateway.record.latencyUs, direct.record.latencyUs),
    ...(ttftOverheadUs === undefined ? {} : { ttftOverheadUs }),
    ...(gapOverheadUs === undefined ? {} : { gapOverheadUs }),
    usage: gateway.usage === undefined ? undefined : { ...gateway.usage, rssIdleBytes: undefined },
    raw: { gateway: gateway.raw, direct: direct.raw },
  };
}

/** A record in which nothing has been measured yet. */
export function emptyMeasurement(): Measured {
  return {
    status: "measured",
    isValid: true,
    reasons: [],
    isSaturated: false,
    isRateAdapted: false,
    attempts: 1,
    warmUp: undefined,
    gateway: undefined,
    direct: undefined,
    overheadUs: undefined,
    usage: undefined,
    raw: { gateway: undefined, direct: undefined },
  };
}

/** A repetition that could not be measured. */
export function failed(reason: string): Measured {
  return { ...emptyMeasurement(), status: "failed", isValid: false, reasons: [reason] };
}

// The shape of `comparison.json`, from which the Markdown and HTML reports are rendered: what one or several runs measured, side by
// side. As in the records, absent means "not measured".
import type {
  AuthenticationCheck,
  CellSummary,
  HostInventory,
  LadderStepRecord,
  PlannedCell,
  RunRecord,
  SelfTestRecord,
  TargetRecord,
  WorkerCheck,
} from "../contract/record.ts";
import type { InsideView, OverloadView } from "./extra-views.ts";

/** Version of `comparison.json`. */
export const COMPARISON_FORMAT = 1;

/** One run that the comparison consists of; several are shards. */
export interface ComparedRun {
  readonly runId: string;
  readonly benchVersion: string;
  readonly startedAt: string;
  readonly endedAt: string | undefined;
  readonly topology: { readonly id: string; readonly isReference: boolean; readonly description: string };
  readonly hosts: readonly HostInventory[];
  readonly instrumentScheduling: RunRecord["instrumentScheduling"];
  readonly selfTest: SelfTestRecord | undefined;
  readonly command: string;
  /** Which cells this run measured. */
  readonly cells: readonly string[];
}

/** A check with its outcome in words; a warning is printed where the target's figures are. */
export interface TrapFinding {
  readonly text: string;
  readonly isWarning: boolean;
}

/** A target with what the two traps found out about it. */
export interface ComparedTarget extends TargetRecord {
  /** Name in tables: product and profile. */
  readonly name: string;
  readonly authentication: TrapFinding;
  readonly workers: TrapFinding;
}

/** Points of a percentile curve, µs. */
export interface PercentileCurve {
  /** A target, or the direct run. */
  readonly target: string;
  readonly samples: number;
  readonly points: readonly { readonly percentile: number; readonly latencyUs: number }[];
}

/** One row of a cell. */
export interface ComparedRow extends CellSummary {
  /** Steps of a ladder, in the order they were tried; of the first repetition that has any. */
  readonly steps: readonly LadderStepRecord[];
  /** Most attempts that one repetition took until the instrument kept its own rules. */
  readonly attempts: number;
}

/** One cell with a row per target. */
export interface ComparedCell {
  readonly cell: PlannedCell;
  /** The run that measured it: cells of different runs ran on different machines. */
  readonly runId: string;
  readonly rows: readonly ComparedRow[];
  readonly curves: readonly PercentileCurve[];
}

/** Whether the figures may be published. */
export interface Verdict {
  readonly isPublishable: boolean;
  readonly reasons: readonly string[];
}

/** `comparison.json`. */
export interface Comparison {
  readonly format: typeof COMPARISON_FORMAT;
  readonly verdict: Verdict;
  readonly runs: readonly ComparedRun[];
  readonly targets: readonly ComparedTarget[];
  readonly cells: readonly ComparedCell[];
  readonly overload: OverloadView;
  readonly inside: InsideView;
}

/** Checks of a repetition that the findings are made from. */
export interface TrapEvidence {
  readonly authentication: AuthenticationCheck | undefined;
  readonly workers: WorkerCheck | undefined;
}

// Whether figures may leave the house. Every reason against it is printed at the top of every report.
import type { RunRecord } from "../contract/record.ts";
import type { ComparedCell, ComparedTarget, Verdict } from "./comparison.ts";

/** The verdict over everything a report shows. */
export function judge(
  runs: readonly RunRecord[],
  targets: readonly ComparedTarget[],
  cells: readonly ComparedCell[],
): Verdict {
  const reasons = [
    ...new Set(runs.flatMap((run) => [...run.notPublishable, ...runReasons(run)])),
    ...targetReasons(targets),
    ...voidRows(cells),
  ];
  return { isPublishable: reasons.length === 0, reasons };
}

function runReasons(run: RunRecord): string[] {
  const reasons: string[] = [];
  if (run.endedAt === undefined) reasons.push(`run ${run.runId} is not finished`);
  // Said by the run itself too; a report is not to depend on it.
  if (!run.topology.isReference) reasons.push(`topology ${run.topology.id} is not a reference topology`);
  if (run.selfTest === undefined) reasons.push(`run ${run.runId} has no self-test`);
  return reasons;
}

function targetReasons(targets: readonly ComparedTarget[]): string[] {
  return targets
    .filter((target) => target.availability === "available" && target.checksKey && target.authentication.isWarning)
    .map((target) => `${target.name}: ${target.authentication.text}`);
}

function voidRows(cells: readonly ComparedCell[]): string[] {
  const rows = cells.flatMap((each) => each.rows).filter((row) => row.status !== "n/a" && row.repetitions > 0);
  const bad = rows.filter((row) => !row.isValid).length;
  if (rows.length === 0) return ["nothing was measured"];
  return bad === 0 ? [] : [`${bad} of ${rows.length} rows are void or failed: their figures must not be quoted`];
}

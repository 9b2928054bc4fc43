// The order of a run: cell by cell, repetition by repetition, the targets in turn, so that drift of the machines reaches all alike.
import type { PlannedCell } from "../contract/record.ts";
import type { Target } from "../contract/target.ts";

/** A target that takes part, and how it is started. */
export interface Entrant {
  readonly target: Target;
  readonly executable: string;
}

/** One repetition of the rotation. */
export interface Turn extends Entrant {
  readonly cell: PlannedCell;
  /** Counts from 1. */
  readonly repetition: number;
}

/** All turns of a run in order. `takesPart` leaves out cells a target cannot serve. */
export function planRotation(
  cells: readonly PlannedCell[],
  entrants: readonly Entrant[],
  takesPart: (target: Target, cell: PlannedCell) => boolean,
): Turn[] {
  return cells.flatMap((cell) =>
    Array.from({ length: cell.windows.repetitions }, (_, index) => index + 1).flatMap((repetition) =>
      entrants.filter(({ target }) => takesPart(target, cell)).map((entrant) => ({ ...entrant, cell, repetition })),
    ),
  );
}

const START_SECONDS = 5;
const WARM_UP_SECONDS = 8;
const EXPECTED_STEPS = 9;

/** Expected length of a turn in seconds, for the remaining time only. */
export function estimateSeconds({ cell }: Pick<Turn, "cell">): number {
  const { warmUpSeconds, measureSeconds } = cell.windows;
  const pair = 2 * (warmUpSeconds + measureSeconds);
  switch (cell.load.kind) {
    case "idle":
      return START_SECONDS + measureSeconds;
    case "ladder":
      return START_SECONDS + WARM_UP_SECONDS + EXPECTED_STEPS * pair;
    case "rate":
    case "closed":
      return START_SECONDS + WARM_UP_SECONDS + pair;
  }
}

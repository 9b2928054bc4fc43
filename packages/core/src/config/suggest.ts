/** "Did you mean": the nearest known name by edit distance. Used on mistakes only, never on a request's path. */

const MAX_LENGTH = 64;

/** Optimal string alignment distance: insert, delete, replace, or swap two neighbours. */
function distance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      let best = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1])
        best = Math.min(best, cell(beforeLast, column - 2) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return cell(last, right.length);
}

const cell = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

const fold = (name: string): string => name.toLowerCase().replaceAll(/[_\s-]/g, "");

/**
 * The known name that a wrong one probably meant: at most one edit in three characters away, spelling of case, `_` and `-` apart.
 * The first of equally near ones wins; undefined when none is near.
 */
export function suggest(wrong: string, known: Iterable<string>): string | undefined {
  const folded = fold(wrong);
  if (folded.length > MAX_LENGTH) return undefined;
  let nearest: string | undefined;
  let nearestDistance = Math.max(1, Math.floor(folded.length / 3)) + 1;
  for (const name of known) {
    const candidate = fold(name);
    if (candidate.length > MAX_LENGTH) continue;
    const edits = distance(folded, candidate);
    if (edits < nearestDistance) {
      nearest = name;
      nearestDistance = edits;
    }
  }
  return nearest;
}

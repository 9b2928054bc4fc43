// Warm-up by request count until CPU per request is flat: compilers and pools of some stacks need thousands of requests, and a warm-up
// by time would give a slow target fewer of them. Pure decision; the procedure sends the rounds.

/** One round of the warm-up. */
export interface WarmUpRound {
  readonly requests: number;
  readonly cpuUsPerRequest: number | undefined;
  readonly rps: number;
}

/** When CPU per request counts as flat: the last round is at most this much cheaper than the one before. */
const FLAT_FRACTION = 0.1;

/** Bounds of a warm-up. */
export interface WarmUpBounds {
  readonly minRequests: number;
  readonly maxRounds: number;
}

/** Requests sent so far. */
export function warmUpRequests(rounds: readonly WarmUpRound[]): number {
  return rounds.reduce((sum, round) => sum + round.requests, 0);
}

/** Whether the last two rounds cost about the same. Getting dearer counts as flat: there is no more compiling to wait for. */
export function isFlat(rounds: readonly WarmUpRound[]): boolean {
  const [previous, last] = rounds.slice(-2).map((round) => round.cpuUsPerRequest);
  if (rounds.length < 2 || previous === undefined || last === undefined) return false;
  return last > previous * (1 - FLAT_FRACTION);
}

/** Whether another round is needed. Without any CPU figure (an attached process) the count alone decides. */
export function needsAnotherRound(rounds: readonly WarmUpRound[], bounds: WarmUpBounds): boolean {
  if (rounds.length >= bounds.maxRounds) return false;
  if (warmUpRequests(rounds) < bounds.minRequests) return true;
  return rounds.at(-1)?.cpuUsPerRequest !== undefined && !isFlat(rounds);
}

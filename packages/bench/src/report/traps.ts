// The two traps that made other comparisons worthless, checked on every repetition and printed: whether a key was really checked, and
// how many workers really ran.
import type { AuthenticationCheck, TargetRecord, WorkerCheck } from "../contract/record.ts";
import type { TrapEvidence, TrapFinding } from "./comparison.ts";

/** What the probes say about a target's authentication over all its repetitions. */
export function findAuthentication(
  target: Pick<TargetRecord, "checksKey">,
  evidence: readonly TrapEvidence[],
): TrapFinding {
  // A target that does not serve the good key either has shown nothing about keys.
  const checks = evidence
    .map(({ authentication }) => authentication)
    .filter((check) => check !== undefined)
    .filter(({ goodKeyStatus }) => goodKeyStatus === 200);
  const open = checks.find(({ isEnforced }) => !isEnforced);
  const [first] = checks;
  if (first === undefined)
    return { text: "not shown: no probe with the good key was served", isWarning: target.checksKey };
  if (open === undefined)
    return { text: `a key is checked on every request (${describeAnswers(first)})`, isWarning: false };
  if (target.checksKey) {
    return {
      text: `the key is NOT enforced although its configuration asks for it (${describeAnswers(open)})`,
      isWarning: true,
    };
  }
  return { text: `answers without a key, so it does less work (${describeAnswers(open)})`, isWarning: true };
}

function describeAnswers({ goodKeyStatus, noKeyStatus, unknownKeyStatus }: AuthenticationCheck): string {
  const status = (value: number | undefined): string => (value === undefined ? "no answer" : String(value));
  return `good key ${status(goodKeyStatus)}, no key ${status(noKeyStatus)}, unknown key ${status(unknownKeyStatus)}`;
}

/** What was asked for and seen of a target's workers; the repetition with the fewest processes counts. */
export function findWorkers(evidence: readonly TrapEvidence[]): TrapFinding {
  const checks = evidence.map(({ workers }) => workers).filter((check) => check !== undefined);
  const fewest = checks.toSorted((left, right) => left.processes - right.processes)[0];
  return fewest === undefined ? { text: "not seen", isWarning: false } : describeWorkers(fewest);
}

function describeWorkers({ cores, configured, processes, threads }: WorkerCheck): TrapFinding {
  const seen = `${count(processes, "process", "processes")} and ${count(threads, "thread", "threads")} seen on ${count(cores, "core", "cores")}`;
  if (configured === undefined) return { text: `workers left to its default: ${seen}`, isWarning: false };
  if (configured > Math.max(processes, threads)) {
    return { text: `${count(configured, "worker", "workers")} configured but only ${seen}`, isWarning: true };
  }
  if (configured < cores) {
    return {
      text: `${count(configured, "worker", "workers")} for ${count(cores, "core", "cores")}: it cannot use them all; ${seen}`,
      isWarning: true,
    };
  }
  return { text: `${count(configured, "worker", "workers")}; ${seen}`, isWarning: false };
}

function count(value: number, one: string, many: string): string {
  return `${value} ${value === 1 ? one : many}`;
}

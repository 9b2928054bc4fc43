// Parses `/proc/<pid>/stat` (proc(5)): times in clock ticks. Pure; the reading lives beside it.

/** The fields of a process that the bench uses. */
export interface ProcessStat {
  readonly pid: number;
  readonly parentPid: number;
  readonly minorFaults: number;
  /** User and system time of the process itself. */
  readonly cpuTicks: number;
  /** User and system time of its children that have ended and been waited for. */
  readonly endedChildrenTicks: number;
  readonly endedChildrenFaults: number;
  readonly threads: number;
}

/** Clock ticks per second (`sysconf(_SC_CLK_TCK)`), fixed at 100 for user space on Linux. */
export const TICKS_PER_SECOND = 100;

/** Parses a line; `undefined` when it is not one. The command name may contain spaces and parentheses. */
export function parseProcessStat(line: string): ProcessStat | undefined {
  const nameEnd = line.lastIndexOf(")");
  const pid = Number.parseInt(line, 10);
  if (nameEnd < 0 || Number.isNaN(pid)) return undefined;
  // Field 3 of proc(5), the state, is index 0 here.
  const fields = line
    .slice(nameEnd + 2)
    .trim()
    .split(" ");
  const field = (number: number): number => Number(fields[number - 3] ?? Number.NaN);
  const stat: ProcessStat = {
    pid,
    parentPid: field(4),
    minorFaults: field(10),
    endedChildrenFaults: field(11),
    cpuTicks: field(14) + field(15),
    endedChildrenTicks: field(16) + field(17),
    threads: field(20),
  };
  return Number.isNaN(stat.threads) ? undefined : stat;
}

/** All processes below and including `rootPid`. */
export function processTree(stats: readonly ProcessStat[], rootPid: number): ProcessStat[] {
  const children = groupByParent(stats);
  const tree = stats.filter(({ pid }) => pid === rootPid);
  for (let index = 0; index < tree.length; index += 1) {
    const parent = tree[index];
    if (parent !== undefined) tree.push(...(children.get(parent.pid) ?? []));
  }
  return tree;
}

function groupByParent(stats: readonly ProcessStat[]): Map<number, ProcessStat[]> {
  const children = new Map<number, ProcessStat[]>();
  for (const stat of stats) {
    const siblings = children.get(stat.parentPid);
    if (siblings === undefined) children.set(stat.parentPid, [stat]);
    else siblings.push(stat);
  }
  return children;
}

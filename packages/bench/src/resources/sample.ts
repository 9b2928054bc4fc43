// Samples the resources of a process tree, or of a control group (Linux). CPU time of processes has the kernel's resolution of one
// clock tick, 10 ms; a window of several seconds makes that a fraction of a percent.
import { readdirSync, readFileSync } from "node:fs";

import { parseProcessStat, processTree, TICKS_PER_SECOND, type ProcessStat } from "./process-stat.ts";

/** Resources at one moment; times and faults are totals since the start. */
export interface ResourceSample {
  readonly source: "process-tree" | "cgroup";
  readonly cpuSeconds: number;
  readonly minorFaults: number;
  readonly rssBytes: number;
  readonly processes: number;
  readonly threads: number;
}

/** Samples the process `rootPid` and everything below it; `undefined` when it is gone. */
export function sampleProcessTree(rootPid: number): ResourceSample | undefined {
  const tree = processTree(readAllStats(), rootPid);
  if (tree.length === 0) return undefined;
  const sum = (pick: (stat: ProcessStat) => number): number => tree.reduce((total, stat) => total + pick(stat), 0);
  return {
    source: "process-tree",
    cpuSeconds: sum((stat) => stat.cpuTicks + stat.endedChildrenTicks) / TICKS_PER_SECOND,
    minorFaults: sum((stat) => stat.minorFaults + stat.endedChildrenFaults),
    rssBytes: sum((stat) => residentBytes(stat.pid)),
    processes: tree.length,
    threads: sum((stat) => stat.threads),
  };
}

/** Samples a version 2 control group by its directory, for targets that run in a container. */
export function sampleCgroup(directory: string): ResourceSample | undefined {
  const cpu = readFile(`${directory}/cpu.stat`);
  const memory = readFile(`${directory}/memory.current`);
  const processes = readFile(`${directory}/cgroup.procs`);
  if (cpu === undefined || memory === undefined) return undefined;
  const faults = /^pgfault (\d+)/m.exec(readFile(`${directory}/memory.stat`) ?? "")?.[1];
  const threads = readFile(`${directory}/cgroup.threads`);
  return {
    source: "cgroup",
    cpuSeconds: Number(/^usage_usec (\d+)/m.exec(cpu)?.[1] ?? 0) / 1_000_000,
    minorFaults: Number(faults ?? 0),
    rssBytes: Number(memory),
    processes: countLines(processes),
    threads: countLines(threads),
  };
}

/** From `status`, which is in KiB: `stat` counts pages, whose size differs between machines. */
function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFile(`/proc/${pid}/status`) ?? "")?.[1] ?? 0) * 1024;
}

function readAllStats(): ProcessStat[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => parseProcessStat(readFile(`/proc/${name}/stat`) ?? ""))
    .filter((stat) => stat !== undefined);
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Processes end between listing and reading; controllers may be off.
    return undefined;
  }
}

function countLines(text: string | undefined): number {
  return text === undefined ? 0 : text.split("\n").filter((line) => line !== "").length;
}

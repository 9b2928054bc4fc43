// CPU time of another process: user and system time of all its threads, from /proc (Linux).
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).trim());

/** CPU seconds that a process has used so far. */
export function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Fields after the last parenthesis: state is the third of proc(5), utime the 14th, stime the 15th.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory of a process in MiB. */
export function residentMiB(pid) {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return line === null ? 0 : Number(line[1]) / 1024;
}

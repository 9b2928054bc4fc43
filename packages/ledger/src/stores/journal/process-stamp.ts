/**
 * Names a process so that others can tell whether it lives: by machine, id and start time, since ids are used again, and are the same in
 * every container. A stamp fits into a file's name.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { kill, pid, platform } from "node:process";

/** `machine.pid.start`, of letters and digits. Two processes of one machine can see each other's ids. */
export interface ProcessStamp {
  readonly machine: string;
  readonly pid: number;
  /** When it began, in any notation that does not change while it lives; empty = the machine does not tell. */
  readonly start: string;
}

/** The processes of this machine. */
export interface Processes {
  readonly own: ProcessStamp;
  /** Whether the process lives; null = it is of another machine or container, so nobody here can tell. */
  isAlive(stamp: ProcessStamp): boolean | null;
}

/** How often a process shows that it lives, for those that cannot see it. */
export const HEARTBEAT_MS = 3_000;
/** After so long without a sign a process that cannot be seen counts as dead. */
export const STALE_MS = 15_000;

const STAMP = /^([A-Za-z0-9]+)\.(\d{1,10})\.([A-Za-z0-9]*)$/;
const MACHINE_LENGTH = 10;

export function formatStamp({ machine, pid: id, start }: ProcessStamp): string {
  return `${machine}.${id}.${start}`;
}

/** Null where a text is no stamp. */
export function parseStamp(text: string): ProcessStamp | null {
  const [, machine, id, start] = STAMP.exec(text) ?? [];
  return machine === undefined || id === undefined || start === undefined ? null : { machine, pid: Number(id), start };
}

/** How a system tells of its processes. */
export interface ProcessTable {
  /** What all processes that see the same ids have in common, and others have not. */
  machine(): string;
  /** Null = no such process. */
  startOf(id: number): string | null;
}

/** The processes that this one sees. */
export function readProcesses(table: ProcessTable = systemTable()): Processes {
  const machine = createHash("sha256").update(table.machine()).digest("hex").slice(0, MACHINE_LENGTH);
  const own: ProcessStamp = { machine, pid, start: table.startOf(pid) ?? "" };
  return {
    own,
    isAlive: (stamp) => {
      if (stamp.machine !== machine) return null;
      const start = table.startOf(stamp.pid);
      return start !== null && (start === stamp.start || start === "" || stamp.start === "");
    },
  };
}

function systemTable(): ProcessTable {
  return platform === "linux" ? LINUX_TABLE : POSIX_TABLE;
}

/** proc(5): the id of this boot, the namespace of process ids, and fields 3 (state) and 22 (start time) of `stat`. */
export const LINUX_TABLE: ProcessTable = {
  machine: () => `${readOrNull("/proc/sys/kernel/random/boot_id") ?? hostname()} ${readlinkSync("/proc/self/ns/pid")}`,
  startOf: (id) => {
    const stat = readOrNull(`/proc/${id}/stat`);
    if (stat === null) return null;
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return isGone(fields[0]) ? null : (fields[19] ?? "");
  },
};

/** ps(1), whose start times have seconds. */
export const POSIX_TABLE: ProcessTable = {
  machine: () => hostname(),
  startOf: (id) => {
    if (!isThere(id)) return null;
    try {
      const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(id)], {
        encoding: "latin1",
        env: { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin" },
        stdio: ["ignore", "pipe", "ignore"],
      });
      const [state, ...start] = line.trim().split(/\s+/);
      return isGone(state) ? null : start.join("").replace(/[^A-Za-z0-9]/g, "");
    } catch {
      // No ps, or it sees no such process: then the id has to do.
      return isThere(id) ? "" : null;
    }
  },
};

/** A zombie holds nothing any more. */
function isGone(state: string | undefined): boolean {
  return state === undefined || state.startsWith("Z") || state.startsWith("X");
}

function isThere(id: number): boolean {
  try {
    kill(id, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // There is no such process, or nothing of it may be seen.
    return null;
  }
}

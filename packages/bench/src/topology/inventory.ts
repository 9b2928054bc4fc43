// Reads what a run must record about the host it runs on. A value that cannot be read is absent.
import { readFileSync } from "node:fs";
import { cpus, hostname, loadavg, release, totalmem } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

import type { HostInventory } from "../contract/record.ts";

const STEAL_SAMPLE_MS = 1000;
/** Position of "steal" among the counters of the `cpu` line (proc(5)). */
const STEAL_COLUMN = 7;

/** Takes the inventory of this host; takes a second, to sample the steal time. */
export async function takeInventory(role: HostInventory["role"]): Promise<HostInventory> {
  const before = readCpuCounters();
  await pause(STEAL_SAMPLE_MS);
  const processors = cpus();
  return {
    role,
    hostname: hostname(),
    cpuModel: processors[0]?.model ?? "unknown",
    cpus: processors.length,
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
    openFilesLimit: readOpenFilesLimit(),
    somaxconn: readNumber("/proc/sys/net/core/somaxconn"),
    localPortRange: readText("/proc/sys/net/ipv4/ip_local_port_range")?.replace(/\s+/, "-"),
    tcpTwReuse: readNumber("/proc/sys/net/ipv4/tcp_tw_reuse"),
    governor: readText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    stealFraction: stealBetween(before, readCpuCounters()),
    loadAverage: loadavg()[0] ?? 0,
  };
}

/** Share of time stolen between two readings of the `cpu` counters. */
export function stealBetween(
  before: readonly number[] | undefined,
  after: readonly number[] | undefined,
): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  // Guest time, the last two columns, is already part of user time.
  const total = (counters: readonly number[]): number =>
    counters.slice(0, STEAL_COLUMN + 1).reduce((sum, each) => sum + each, 0);
  const elapsed = total(after) - total(before);
  return elapsed <= 0 ? undefined : ((after[STEAL_COLUMN] ?? 0) - (before[STEAL_COLUMN] ?? 0)) / elapsed;
}

function readCpuCounters(): number[] | undefined {
  return readText("/proc/stat")?.split("\n", 1)[0]?.trim().split(/\s+/).slice(1).map(Number);
}

function readOpenFilesLimit(): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(readText("/proc/self/limits") ?? "")?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function readNumber(path: string): number | undefined {
  const text = readText(path);
  return text === undefined ? undefined : Number(text);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not every kernel and container shows every setting: it is then recorded as unknown.
    return undefined;
  }
}

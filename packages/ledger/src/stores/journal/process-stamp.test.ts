import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

import { describe, expect, it } from "vitest";

import {
  formatStamp,
  LINUX_TABLE,
  parseStamp,
  POSIX_TABLE,
  readProcesses,
  type ProcessTable,
} from "./process-stamp.ts";

const tables = [
  { name: "/proc", table: LINUX_TABLE, isHere: existsSync("/proc/self/stat") },
  { name: "ps", table: POSIX_TABLE, isHere: existsSync("/bin/ps") || existsSync("/usr/bin/ps") },
];

describe("processes", () => {
  it.each(tables)(
    "by $name: a child lives until it is killed, and is none of another start time",
    async ({ table, isHere }) => {
      if (!isHere) return;
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
      await once(child, "spawn");
      const processes = readProcesses(table);
      const stamp = { ...processes.own, pid: child.pid as number, start: table.startOf(child.pid as number) ?? "none" };
      expect(processes.isAlive(processes.own)).toBe(true);
      expect(processes.isAlive(stamp)).toBe(true);
      expect(stamp.start).not.toBe("");
      expect(processes.isAlive({ ...stamp, start: "1" })).toBe(false);
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(processes.isAlive(stamp)).toBe(false);
    },
  );

  it("of another machine are unknown", () => {
    const processes = readProcesses();
    expect(processes.isAlive({ ...processes.own, machine: "elsewhere" })).toBeNull();
  });

  const table = (start: string | null): ProcessTable => ({ machine: () => "m", startOf: () => start });
  const rows = [
    { name: "of the same start", now: "7", before: "7", expected: true },
    { name: "of another start", now: "8", before: "7", expected: false },
    { name: "that is gone", now: null, before: "7", expected: false },
    { name: "whose start is not told now", now: "", before: "7", expected: true },
    { name: "whose start was not told then", now: "7", before: "", expected: true },
  ];
  it.each(rows)("say that one $name lives: $expected", ({ now, before, expected }) => {
    const processes = readProcesses(table(now));
    expect(processes.isAlive({ ...processes.own, start: before })).toBe(expected);
  });

  it("have stamps that can be read back", () => {
    const { own } = readProcesses();
    expect(parseStamp(formatStamp(own))).toEqual(own);
    for (const text of ["", "a.b.c", "a.1", "a-b.1.2", "a.1.2.3", "a.12345678901.2"])
      expect(parseStamp(text)).toBeNull();
  });
});

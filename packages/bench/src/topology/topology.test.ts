// Scaling, cores and host readings, as pure functions.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { CELLS } from "../matrix/cells.ts";
import { findGenerators } from "../resources/neighbours.ts";
import { parseProcessStat, processTree } from "../resources/process-stat.ts";
import { assignCores, shareCores } from "./assign-cores.ts";
import { stealBetween } from "./inventory.ts";
import { roundDown, scaleCell } from "./scale-cells.ts";
import { findTopology, TOPOLOGIES } from "./topologies.ts";

const laptop = findTopology("laptop");
const reference = findTopology("ref-4");

describe("topologies", () => {
  it("are named as they are called, and only the reference may be published", () => {
    for (const [id, topology] of Object.entries(TOPOLOGIES)) expect(topology.id).toBe(id);
    expect(Object.values(TOPOLOGIES).filter(({ isReference }) => isReference)).toEqual([reference]);
    expect(() => findTopology("moon")).toThrow("there is no topology moon");
  });

  it("leave the matrix as it is on the reference", () => {
    for (const cell of CELLS) expect(scaleCell(cell, reference, 123)).toEqual({ ...cell, referenceLoad: cell.load });
  });

  it("keep every scaled rate within what generator and mock can offer", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 200_000 }), fc.constantFrom(...CELLS), (capacityRps, cell) => {
        const { load, referenceLoad, windows } = scaleCell(cell, laptop, capacityRps);
        const rps = load.kind === "rate" ? load.rps : 1;
        const referenceRps = referenceLoad.kind === "rate" ? referenceLoad.rps : 1;
        expect(rps).toBeLessThanOrEqual(Math.min(capacityRps * 0.4, referenceRps));
        expect(rps).toBeGreaterThan(0);
        expect(windows.measureSeconds).toBeLessThanOrEqual(5);
      }),
    );
  });

  it("keep the proportions of the cells while there is room", () => {
    const rate = (id: string): number => {
      const cell = CELLS.find((each) => each.id === id);
      const load = cell === undefined ? undefined : scaleCell(cell, laptop, 9000).load;
      return load?.kind === "rate" ? load.rps : 0;
    };
    expect([rate("H1"), rate("C1"), rate("C2"), rate("C21.401")]).toEqual([900, 1800, 180, 3600]);
  });

  it.each([
    { value: 9, expected: 9 },
    { value: 12.9, expected: 12 },
    { value: 99, expected: 99 },
    { value: 129, expected: 120 },
    { value: 98_765, expected: 98_000 },
  ])("round $value down to $expected", ({ value, expected }) => {
    expect(roundDown(value)).toBe(expected);
  });
});

describe("core assignment", () => {
  it("never lets the gateway share a core, and uses only given cores", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 127 }), { minLength: 1, maxLength: 64 }), (cpus) => {
        const { gateway, generator, mock } = assignCores(cpus);
        for (const cpu of [...generator, ...mock]) expect(gateway).not.toContain(cpu);
        for (const cpu of [...gateway, ...generator, ...mock]) expect(cpus).toContain(cpu);
        expect(shareCores({ gateway, generator, mock })).toBe(cpus.length < 3);
        expect(Math.min(gateway.length, generator.length, mock.length) > 0).toBe(cpus.length >= 2);
      }),
    );
  });

  it("gives one of two cores to the gateway and says that the other is shared", () => {
    expect(assignCores([4, 9])).toEqual({ gateway: [4], generator: [9], mock: [9] });
    expect(shareCores(assignCores([4, 9]))).toBe(true);
    expect(shareCores(assignCores([0]))).toBe(true);
  });
});

describe("host readings", () => {
  it("generators of other runs: by the entry they run, not by a word in a command", () => {
    const lines = new Map([
      [7, "node\0--single-threaded\0/opt/bench/dist/generator/process-entry.js\u00001\0"],
      [8, "node\0/opt/bench/dist/mock/process-entry.js\0"],
      [9, "grep\0generator/process-entry.js .\0"],
    ]);
    expect(findGenerators(lines)).toEqual([7]);
  });

  it.each([
    {
      name: "nothing stolen",
      before: [1, 0, 1, 8, 0, 0, 0, 0, 0, 0],
      after: [2, 0, 2, 17, 0, 0, 0, 0, 0, 0],
      expected: 0,
    },
    {
      name: "a tenth stolen, guest time not counted twice",
      before: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      after: [5, 0, 0, 4, 0, 0, 0, 1, 5, 0],
      expected: 0.1,
    },
    { name: "no time passed", before: [1, 1], after: [1, 1], expected: undefined },
    { name: "unreadable", before: undefined, after: [1], expected: undefined },
  ])("steal: $name", ({ before, after, expected }) => {
    expect(stealBetween(before, after)).toBe(expected);
  });

  const line = (pid: number, parent: number, name = "node"): string =>
    `${pid} (${name}) S ${parent} ${pid} ${pid} 0 -1 4194560 1500 7 3 0 120 30 5 2 20 0 11 0 123456 1000000 2500 18446744073709551615`;

  it("process lines: fields by number, whatever the name holds", () => {
    expect(parseProcessStat(line(42, 7, "a) b (c"))).toEqual({
      pid: 42,
      parentPid: 7,
      minorFaults: 1500,
      endedChildrenFaults: 7,
      cpuTicks: 150,
      endedChildrenTicks: 7,
      threads: 11,
    });
    expect(parseProcessStat("")).toBeUndefined();
    expect(parseProcessStat("42 (short) S 1")).toBeUndefined();
  });

  it("process trees: the root with all descendants and nobody else", () => {
    const parents = [
      [1, 0],
      [10, 1],
      [11, 10],
      [12, 11],
      [20, 1],
      [13, 10],
    ] as const;
    const stats = parents
      .map(([pid, parent]) => parseProcessStat(line(pid, parent)))
      .filter((stat) => stat !== undefined);
    expect(
      processTree(stats, 10)
        .map(({ pid }) => pid)
        .toSorted((left, right) => left - right),
    ).toEqual([10, 11, 12, 13]);
    expect(processTree(stats, 99)).toEqual([]);
  });
});

// Scales the reference matrix to a topology: rates by the self-test's capacity, windows by the topology's caps.
import type { Cell, Load, Windows } from "../contract/cell.ts";
import type { PlannedCell } from "../contract/record.ts";
import type { Topology } from "./topologies.ts";

/** Rate of the headline cell, to which all others are in proportion. */
const HEADLINE_RPS = 5000;

const MIN_RPS = 10;

/** The cell as it will run on the topology. */
export function scaleCell(cell: Cell, topology: Topology, capacityRps: number): PlannedCell {
  if (cell.load.kind === "rate" && cell.load.isUnscaled === true) return { ...cell, referenceLoad: cell.load };
  return {
    ...cell,
    referenceLoad: cell.load,
    load: scaleLoad(cell.load, topology, capacityRps),
    windows: capWindows(cell.windows, topology.windows),
  };
}

function scaleLoad(load: Load, { rates, ladder }: Topology, capacityRps: number): Load {
  if (load.kind === "ladder" && ladder.kind === "bisect") {
    return { ...load, startRps: ladder.startRps };
  }
  if (load.kind !== "rate" || rates.kind === "reference") return load;
  const headlineRps = Math.min(HEADLINE_RPS, capacityRps * rates.headlineFraction);
  const rps = Math.min(load.rps, (load.rps * headlineRps) / HEADLINE_RPS, capacityRps * rates.ceilingFraction);
  return { kind: "rate", rps: roundDown(Math.max(MIN_RPS, rps)) };
}

/** Two significant digits, downwards: a rate people can quote. */
export function roundDown(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.floor(value / unit) * unit;
}

function capWindows(windows: Windows, caps: Partial<Windows>): Windows {
  const cap = (value: number, limit: number | undefined): number => Math.min(value, limit ?? value);
  return {
    warmUpSeconds: cap(windows.warmUpSeconds, caps.warmUpSeconds),
    measureSeconds: cap(windows.measureSeconds, caps.measureSeconds),
    repetitions: cap(windows.repetitions, caps.repetitions),
  };
}

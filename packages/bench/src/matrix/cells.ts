// The cells of the reference matrix, in run order, at the loads and windows of the published methodology. Topologies scale them.
import type { Cell, LatencyProfileId, Load, ScenarioId, Windows } from "../contract/cell.ts";

const HEADLINE: Windows = { warmUpSeconds: 10, measureSeconds: 30, repetitions: 5 };
const USUAL: Windows = { warmUpSeconds: 5, measureSeconds: 15, repetitions: 3 };
const STEP: Windows = { warmUpSeconds: 5, measureSeconds: 7, repetitions: 1 };
const LADDER: Load = { kind: "ladder", startRps: 500, coarseRps: 2500, fineRps: 500 };

/** Every cell of the comparison. */
export const CELLS: readonly Cell[] = [
  cell("H1", "simple chat, the headline", "S1", rate(5000), HEADLINE),
  cell("C1", "simple chat", "S1", rate(10_000), USUAL),
  cell("C2", "simple chat, light", "S1", rate(1000), USUAL),
  cell("C4", "Anthropic Messages", "S4", rate(5000), USUAL),
  cell("C5", "large bodies", "S2", rate(1000), USUAL),
  cell("C8", "streaming, time to first token", "S3", rate(1000), USUAL, "LS"),
  cell("C11", "saturation, simple chat", "S1", LADDER, STEP),
  cell("C13", "saturation, mixed traffic", "M1", LADDER, STEP),
  cell("C16", "idle memory", "S1", { kind: "idle" }, USUAL),
  cell("C17", "many requests in flight", "S1", rate(5000), USUAL, "L1500"),
  cell("C20", "simple chat behind a slow upstream", "S1", rate(5000), HEADLINE, "L1500"),
  cell("C21.401", "rejection of an unknown key", "S8", rate(20_000), USUAL),
  cell("C21.404", "rejection of an unknown model", "S8-404", rate(20_000), USUAL),
  cell("C32.c64", "closed loop, 64 clients", "S1", { kind: "closed", connections: 64 }, USUAL),
  cell("X1", "Anthropic client, OpenAI upstream", "X1", rate(1000), USUAL),
];

/** Cells beside the comparison, which run only when they are named: they feed views that rank nobody. */
const EXTRA_CELLS: readonly Cell[] = [
  cell(
    "overload",
    "5,000 requests/s, whatever a target can hold",
    "S1",
    { kind: "rate", rps: 5000, isUnscaled: true },
    { warmUpSeconds: 5, measureSeconds: 60, repetitions: 1 },
  ),
];

/**
 * Cells by identifier, in the order of the matrix; `C32` stands for `C32.c64` and `C21` for both of its cells.
 *
 * @throws Error naming the first identifier that no cell has.
 */
export function selectCells(ids: readonly string[]): readonly Cell[] {
  if (ids.length === 0) return CELLS;
  const all = [...CELLS, ...EXTRA_CELLS];
  for (const id of ids) {
    if (!all.some((each) => isCalled(each, id))) {
      throw new Error(`there is no cell ${id}; cells are ${all.map((each) => each.id).join(", ")}`);
    }
  }
  return all.filter((each) => ids.some((id) => isCalled(each, id)));
}

function isCalled(each: Cell, id: string): boolean {
  return each.id === id || each.id.startsWith(`${id}.`);
}

function rate(rps: number): Load {
  return { kind: "rate", rps };
}

function cell(
  id: string,
  title: string,
  scenario: ScenarioId,
  load: Load,
  windows: Windows,
  latency: LatencyProfileId = "L0",
): Cell {
  return { id, title, scenario, load, latency, windows };
}

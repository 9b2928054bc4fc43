// `dragoman-bench run`: a comparison into a run directory.
import { join } from "node:path";
import { parseArgs } from "node:util";

import type { Command } from "../contract/command.ts";
import { selectCells } from "../matrix/cells.ts";
import { packageVersion } from "../package-entry.ts";
import { startInstrument } from "../procedure/instrument.ts";
import { runComparison } from "../procedure/run-comparison.ts";
import { selectTargets } from "../procedure/select-targets.ts";
import { renderReports } from "../report/render-reports.ts";
import { RunStore } from "../store/run-store.ts";
import { findTopology } from "../topology/topologies.ts";
import { readAgent, readCount, readList, readTargetOptions, usageErrorOf } from "./arguments.ts";
import { withClosing } from "./with-closing.ts";

const DEFAULT_SEED = 20_260_101;

const OPTIONS = {
  topology: { type: "string", default: "laptop" },
  cells: { type: "string" },
  targets: { type: "string" },
  out: { type: "string" },
  repetitions: { type: "string" },
  seed: { type: "string" },
  set: { type: "string", multiple: true },
  "mock-agent": { type: "string" },
  "gateway-agent": { type: "string" },
} as const;

/** The command `run`. */
export const runCommand: Command = {
  name: "run",
  summary: "compare targets over cells of the matrix",
  usage:
    "run [--topology laptop|hosts|ref-4] [--cells H1,C8] [--targets ID,…] [--out DIR] [--repetitions N] [--seed N]\n" +
    "    [--set TARGET.OPTION=VALUE]… [--mock-agent HOST:PORT] [--gateway-agent HOST:PORT]",
  run: async (args, output) => {
    const plan = readPlan(args);
    return withClosing(await startInstrument({ ...plan, environment: process.env }), async (instrument) => {
      const store = new RunStore(plan.out);
      const task = { ...plan, command: ["dragoman-bench", "run", ...args].join(" "), benchVersion: packageVersion() };
      await runComparison(instrument, task, { store, output });
      output.print(store.directory);
      // Also of a run in which nothing could be measured: the report then says that.
      const { verdict } = await renderReports(store.directory);
      for (const reason of verdict.reasons) output.note(`not publishable: ${reason}`);
      const cells = store.readSummary()?.cells ?? [];
      return cells.some((cell) => cell.status === "failed") ? 1 : 0;
    });
  },
};

function readPlan(args: readonly string[]): {
  readonly topology: ReturnType<typeof findTopology>;
  readonly cells: ReturnType<typeof selectCells>;
  readonly targets: ReturnType<typeof selectTargets>;
  readonly options: ReturnType<typeof readTargetOptions>;
  readonly repetitions: number | undefined;
  readonly seed: number;
  readonly out: string;
  readonly mockAgent: ReturnType<typeof readAgent>;
  readonly gatewayAgent: ReturnType<typeof readAgent>;
} {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false });
    const options = readTargetOptions(values.set ?? []);
    const token = process.env["DRAGOMAN_BENCH_TOKEN"];
    const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    return {
      topology: findTopology(values.topology),
      cells: selectCells(readList(values.cells)),
      targets: selectTargets(readList(values.targets), options),
      options,
      repetitions: readCount("repetitions", values.repetitions),
      seed: readCount("seed", values.seed) ?? DEFAULT_SEED,
      out: values.out ?? join("bench-results", stamp),
      mockAgent: readAgent(values["mock-agent"], token),
      gatewayAgent: readAgent(values["gateway-agent"], token),
    };
  } catch (error) {
    throw usageErrorOf(error);
  }
}

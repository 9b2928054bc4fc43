// `dragoman-bench self-test`: checks the instrument on this machine and says what it can offer.
import { parseArgs } from "node:util";

import type { Command } from "../contract/command.ts";
import { startInstrument } from "../procedure/instrument.ts";
import { runSelfTest } from "../self-test/self-test.ts";
import { findTopology } from "../topology/topologies.ts";
import { readAgent, usageErrorOf } from "./arguments.ts";
import { withClosing } from "./with-closing.ts";

const OPTIONS = {
  topology: { type: "string", default: "laptop" },
  "mock-agent": { type: "string" },
  "gateway-agent": { type: "string" },
} as const;

/** The command `self-test`. */
export const selfTestCommand: Command = {
  name: "self-test",
  summary: "check generator and mock on this machine",
  usage: "self-test [--topology laptop|hosts|ref-4] [--mock-agent HOST:PORT] [--gateway-agent HOST:PORT]",
  run: async (args, output) => {
    const plan = readPlan(args);
    return withClosing(await startInstrument({ ...plan, environment: process.env }), async (instrument) => {
      const { mock, mockClient, runner, areCoresShared } = instrument;
      const { topology } = plan;
      const result = await runSelfTest({
        topology,
        mock,
        mockClient,
        runner,
        areCoresShared,
        seed: 1,
        note: (line) => output.note(line),
      });
      for (const check of result.checks)
        output.print(`${check.passed ? "ok    " : "FAILED"} ${check.name}: ${check.detail}`);
      return result.passed ? 0 : 1;
    });
  },
};

function readPlan(args: readonly string[]): {
  readonly topology: ReturnType<typeof findTopology>;
  readonly mockAgent: ReturnType<typeof readAgent>;
  readonly gatewayAgent: ReturnType<typeof readAgent>;
} {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false });
    const token = process.env["DRAGOMAN_BENCH_TOKEN"];
    return {
      topology: findTopology(values.topology),
      mockAgent: readAgent(values["mock-agent"], token),
      gatewayAgent: readAgent(values["gateway-agent"], token),
    };
  } catch (error) {
    throw usageErrorOf(error);
  }
}

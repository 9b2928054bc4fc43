// `dragoman-bench conform`: the checks against a running gateway whose upstream is the address this command listens on.
import type { Socket } from "node:net";
import { parseArgs } from "node:util";

import { readAddress, readTargetOptions, usageErrorOf } from "../commands/arguments.ts";
import type { Command, CommandOutput } from "../contract/command.ts";
import type { TargetTraffic } from "../contract/target.ts";
import { listen } from "../door/listen.ts";
import { createMock } from "../mock/start-mock.ts";
import { findTarget } from "../procedure/select-targets.ts";
import type { Destination } from "./exchange.ts";
import { runConform, type ConformResult } from "./run-conform.ts";

interface Plan {
  readonly gateway: Destination;
  readonly upstream: Destination;
  readonly traffic: TargetTraffic;
}

/** The command `conform`. */
export const conformCommand: Command = {
  name: "conform",
  summary: "black-box checks of a running gateway that has HOST:PORT configured as its OpenAI and Anthropic upstream",
  usage:
    "conform URL --upstream-listen HOST:PORT [--as TARGET]\n" +
    "    [--set external.key=KEY] [--set external.model=NAME] [--set external.claude=NAME]",
  run: async (args, output) => {
    const plan = readPlan(args);
    const mock = createMock();
    const sockets = new Set<Socket>();
    mock.server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    try {
      await listen(mock.server, plan.upstream);
      const task = {
        gateway: plan.gateway,
        traffic: plan.traffic,
        upstream: mock.control,
        upstreamAddress: plan.upstream,
      };
      const results = await runConform(task, (result) =>
        output.progress(`${result.check} ${result.dialect}: ${result.outcome.verdict}`),
      );
      printTable(results, output);
      return results.some(({ outcome }) => outcome.verdict === "fail") ? 1 : 0;
    } finally {
      mock.server.close();
      // Gateways keep their connections for the next request.
      for (const socket of sockets) socket.destroy();
      mock.close();
    }
  },
};

/** Prints the results and the count of each verdict. */
export function printTable(results: readonly ConformResult[], output: Pick<CommandOutput, "print">): void {
  const rows = results.map(({ title, dialect, outcome }) => [
    outcome.verdict === "fail" ? "FAIL" : outcome.verdict,
    dialect,
    title,
    outcome.detail,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) output.print(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  const count = (verdict: string): number => results.filter(({ outcome }) => outcome.verdict === verdict).length;
  output.print(`${count("pass")} passed, ${count("fail")} failed, ${count("n/a")} not applicable`);
}

function readPlan(args: readonly string[]): Plan {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        "upstream-listen": { type: "string" },
        as: { type: "string", default: "external" },
        set: { type: "string", multiple: true },
      },
      allowPositionals: true,
    });
    const [url] = positionals;
    const upstream = readAddress(values["upstream-listen"] ?? "");
    if (url === undefined || positionals.length > 1) throw new Error("give the URL of one gateway");
    if (upstream === undefined) throw new Error("--upstream-listen wants HOST:PORT");
    const { protocol, hostname, port: gatewayPort } = new URL(url);
    if (protocol !== "http:") throw new Error("only http: gateways can be checked");
    const target = findTarget(values.as, readTargetOptions(values.set ?? []));
    if (target === undefined) throw new Error(`there is no target ${values.as}`);
    return {
      gateway: { host: hostname, port: Number(gatewayPort === "" ? 80 : gatewayPort) },
      upstream,
      traffic: target.traffic,
    };
  } catch (error) {
    throw usageErrorOf(error);
  }
}

// `dragoman-bench agent`: offers this machine as a host for the mock or the gateway of a bench that runs elsewhere.
import { parseArgs } from "node:util";

import type { Command } from "../contract/command.ts";
import { listen } from "../door/listen.ts";
import { createAgentServer } from "../host/agent-server.ts";
import { createLocalHost } from "../procedure/instrument.ts";
import { readAddress, UsageError, usageErrorOf } from "./arguments.ts";

const MIN_TOKEN_LENGTH = 16;

const OPTIONS = {
  listen: { type: "string", default: "127.0.0.1:9400" },
  /** Address under which what the agent starts is reached by the other machines. */
  address: { type: "string" },
} as const;

/** The command `agent`. Runs until it is asked to stop. */
export const agentCommand: Command = {
  name: "agent",
  summary: "offer this machine to a bench on another one",
  usage: "agent [--listen HOST:PORT] [--address ADDRESS]   (token in DRAGOMAN_BENCH_TOKEN)",
  run: async (args, output) => {
    const { host, port, address, token } = readPlan(args);
    const local = createLocalHost(process.env, address);
    const server = createAgentServer(local, token);
    await listen(server, { host, port });
    const bound = server.address();
    output.print(`listening on ${host}:${typeof bound === "object" && bound !== null ? bound.port : port}`);
    await new Promise<void>((resolve) => {
      process.once("SIGINT", () => resolve()).once("SIGTERM", () => resolve());
    });
    await local.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    return 0;
  },
};

function readPlan(args: readonly string[]): {
  readonly host: string;
  readonly port: number;
  readonly address: string;
  readonly token: string;
} {
  const token = process.env["DRAGOMAN_BENCH_TOKEN"] ?? "";
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new UsageError(`set DRAGOMAN_BENCH_TOKEN to a secret of at least ${MIN_TOKEN_LENGTH} characters`);
  }
  let values: { readonly listen: string; readonly address?: string | undefined };
  try {
    ({ values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false }));
  } catch (error) {
    throw usageErrorOf(error);
  }
  const bound = readAddress(values.listen);
  if (bound === undefined) throw new UsageError(`--listen wants HOST:PORT, not ${values.listen}`);
  return { ...bound, address: values.address ?? bound.host, token };
}

// `dragoman-bench inside`: adds the inside view to a run directory, on this host.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { readCount, readList, readTargetOptions, usageErrorOf } from "../commands/arguments.ts";
import { withClosing } from "../commands/with-closing.ts";
import type { Command, CommandOutput } from "../contract/command.ts";
import type { Target, TargetOptions } from "../contract/target.ts";
import { loadHistograms } from "../histogram/histogram.ts";
import type { Host, StartedMock } from "../host/host.ts";
import { ANYWHERE } from "../host/pinning.ts";
import { createLocalHost } from "../procedure/instrument.ts";
import { selectTargets } from "../procedure/select-targets.ts";
import type { InsideRow } from "../report/extra-views.ts";
import { INSIDE_FILE, renderReports } from "../report/render-reports.ts";
import { measureInside } from "./measure-inside.ts";

interface Plan {
  readonly directory: string;
  readonly targets: readonly Target[];
  readonly options: TargetOptions;
  readonly requests: number;
}

const DEFAULT_REQUESTS = 2000;

/** The command `inside`. */
export const insideCommand: Command = {
  name: "inside",
  summary: "add to a run's report what the targets themselves say in server-timing",
  usage: "inside RUN_DIRECTORY [--targets ID,…] [--requests N] [--set TARGET.OPTION=VALUE]…",
  run: async (args, output) => {
    const plan = readPlan(args);
    await loadHistograms();
    return withClosing(createLocalHost(process.env), async (host) => {
      const mock = await host.startMock(1, ANYWHERE);
      const rows: InsideRow[] = [];
      for (const target of plan.targets) rows.push(...(await measureTarget(target, plan, { host, mock, output })));
      writeFileSync(join(plan.directory, INSIDE_FILE), `${JSON.stringify(rows, null, 2)}\n`);
      await renderReports(plan.directory);
      output.print(join(plan.directory, INSIDE_FILE));
      return 0;
    });
  },
};

async function measureTarget(
  target: Target,
  { options, requests }: Plan,
  { host, mock, output }: { readonly host: Host; readonly mock: StartedMock; readonly output: CommandOutput },
): Promise<InsideRow[]> {
  const located = await host.locate(target.id, options);
  if (!located.found) {
    output.note(`${target.id} is n/a: ${located.reason}`);
    return [];
  }
  output.progress(`${target.id}: ${requests} requests`);
  const { executable } = located;
  const cpus = await host.cpus();
  const upstream = { host: mock.host, port: mock.port };
  const launch = {
    target: target.id,
    // For targets that tell the time only when asked to.
    options: { ...options, [`${target.id}.inside`]: "on" },
    executable,
    mockHost: mock.host,
    mockPort: mock.port,
    cpus: [],
    cores: cpus.length,
  };
  const started = await host.startTarget(launch);
  try {
    const gateway = { host: started.host, port: started.port };
    return await measureInside({
      target,
      gateway,
      upstream,
      warmUpRequests: Math.min(requests, target.warmUpRequests),
      requests,
    });
  } finally {
    await host.stop(started.handle);
  }
}

function readPlan(args: readonly string[]): Plan {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { targets: { type: "string" }, requests: { type: "string" }, set: { type: "string", multiple: true } },
      allowPositionals: true,
    });
    const [directory] = positionals;
    if (directory === undefined || positionals.length > 1) throw new Error("give one run directory");
    const options = readTargetOptions(values.set ?? []);
    return {
      directory,
      options,
      targets: selectTargets(readList(values.targets), options),
      requests: readCount("requests", values.requests) ?? DEFAULT_REQUESTS,
    };
  } catch (error) {
    throw usageErrorOf(error);
  }
}

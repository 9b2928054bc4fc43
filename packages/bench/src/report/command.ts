// `dragoman-bench report`: the reports of one run directory, or of several shards as one comparison.
import { join } from "node:path";
import { parseArgs } from "node:util";

import { usageErrorOf } from "../commands/arguments.ts";
import type { Command } from "../contract/command.ts";
import { renderShards } from "./render-reports.ts";

/** The command `report`. */
export const reportCommand: Command = {
  name: "report",
  summary: "render comparison.md, .html and .json; several run directories are merged as shards",
  usage: "report RUN_DIRECTORY… [--out DIRECTORY]",
  run: async (args, output) => {
    const { directories, out } = readArguments(args);
    const { verdict } = await renderShards(directories, out);
    for (const name of ["comparison.md", "comparison.html", "comparison.json"]) output.print(join(out, name));
    for (const reason of verdict.reasons) output.note(`not publishable: ${reason}`);
    return 0;
  },
};

function readArguments(args: readonly string[]): { readonly directories: readonly string[]; readonly out: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { out: { type: "string" } },
      allowPositionals: true,
    });
    const [first] = positionals;
    const out = values.out ?? first;
    if (first === undefined || out === undefined) throw new Error("give at least one run directory");
    if (positionals.length > 1 && values.out === undefined) throw new Error("several run directories need --out");
    return { directories: positionals, out };
  } catch (error) {
    throw usageErrorOf(error);
  }
}

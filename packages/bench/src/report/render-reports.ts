// Writes `comparison.json`, `comparison.md` and `comparison.html` for one run directory or several shards.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { loadHistograms } from "../histogram/histogram.ts";
import { RunStore } from "../store/run-store.ts";
import { buildComparison, loadRun } from "./build-comparison.ts";
import type { Comparison } from "./comparison.ts";
import type { InsideRow } from "./extra-views.ts";
import { renderHtml } from "./render-html.ts";
import { renderMarkdown } from "./render-markdown.ts";

/** File of a run directory that holds the inside view's rows. */
export const INSIDE_FILE = "inside.json";

/** Renders the reports of a run into its own directory. */
export async function renderReports(runDirectory: string): Promise<Comparison> {
  return renderShards([runDirectory], runDirectory);
}

/**
 * Renders one report over several run directories into `out`.
 *
 * @throws Error when a directory holds no run, or the runs cannot be merged.
 */
export async function renderShards(runDirectories: readonly string[], out: string): Promise<Comparison> {
  await loadHistograms();
  const comparison = buildComparison(
    runDirectories.map((directory) => loadRun(new RunStore(directory), readInside(directory))),
  );
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "comparison.json"), `${JSON.stringify(comparison, null, 2)}\n`);
  writeFileSync(join(out, "comparison.md"), renderMarkdown(comparison));
  writeFileSync(join(out, "comparison.html"), renderHtml(comparison));
  return comparison;
}

/** Written by this package's `inside` command. */
function readInside(directory: string): readonly InsideRow[] {
  const file = join(directory, INSIDE_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as readonly InsideRow[]) : [];
}

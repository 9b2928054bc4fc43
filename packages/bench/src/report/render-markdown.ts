// `comparison.md`: the verdict, who took part, a table per cell, the two extra views, and what it all does not say.
import { tabulateCell } from "./cell-table.ts";
import type { ComparedCell, Comparison } from "./comparison.ts";
import { describeCell } from "./format-figures.ts";
import {
  insideTable,
  overloadTable,
  READING_NOTES,
  runLines,
  targetNotes,
  targetTable,
  type PlainTable,
} from "./report-parts.ts";

/** Renders the Markdown report. */
export function renderMarkdown(comparison: Comparison): string {
  const { verdict, runs, targets, cells, overload, inside } = comparison;
  return [
    "# Comparison of gateways",
    verdict.isPublishable ? "**Publishable.**" : `**Not publishable:**\n\n${renderList(verdict.reasons)}`,
    "## Targets",
    renderTable(targetTable(targets)),
    renderList(targetNotes(targets)),
    "## Cells",
    ...cells.map((each) => renderCell(each, comparison)),
    "## View: overload",
    renderView(overloadTable(overload, targets), "No target was offered a rate it could not hold.", overload.leavesOut),
    "## View: inside",
    renderView(insideTable(inside, targets), "Not measured in this run.", inside.leavesOut),
    "## How to read this",
    renderList(READING_NOTES),
    "## Runs",
    ...runs.map((run) => `### ${run.runId}\n\n${renderList(runLines(run))}`),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function renderCell(compared: ComparedCell, { runs, targets }: Comparison): string {
  const { cell, runId } = compared;
  const { header, rows, notes } = tabulateCell(compared, targets);
  return [
    `### ${cell.id}: ${cell.title}`,
    `${describeCell(cell)}${runs.length > 1 ? `, run ${runId}` : ""}`,
    renderTable({ header, rows: rows.map(({ cells }) => cells) }),
    renderList(notes),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function renderView(table: PlainTable, empty: string, leavesOut: string): string {
  return `${table.rows.length === 0 ? empty : renderTable(table)}\n\nWhat this view leaves out: ${leavesOut}`;
}

function renderTable({ header, rows }: PlainTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

function renderList(items: readonly string[]): string {
  return items.map((item) => `- ${escapeCell(item)}`).join("\n");
}

/** A cell may not end its row, nor its column. */
function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}

// `comparison.html`: one file without scripts or outside references, charts as inline SVG. It says the same as the Markdown report.
import type { MetricName } from "../contract/record.ts";
import { renderBarChart, type BarChart } from "./bar-chart.ts";
import { columnsOf, tabulateCell } from "./cell-table.ts";
import type { ComparedCell, ComparedTarget, Comparison } from "./comparison.ts";
import { renderCurveChart } from "./curve-chart.ts";
import { describeCell, formatBytes, formatCount, formatUs } from "./format-figures.ts";
import { HTML_STYLE } from "./html-style.ts";
import {
  READING_NOTES,
  overloadTable,
  insideTable,
  runLines,
  targetNotes,
  targetTable,
  type PlainTable,
} from "./report-parts.ts";
import { DIRECT_CURVE } from "./percentile-curves.ts";
import { escapeText } from "./svg-scale.ts";

interface ChartPlan {
  readonly title: string;
  readonly quantity: BarChart["quantity"];
  readonly series: readonly { readonly name: string; readonly metric: MetricName }[];
  readonly format: (value: number) => string;
  /** Latencies of saturated targets measure the queue, which would set the scale for all others. */
  readonly isLatency: boolean;
}

const CHARTS: readonly ChartPlan[] = [
  {
    title: "Overhead",
    quantity: "duration-us",
    series: [
      { name: "p50", metric: "overheadP50Us" },
      { name: "p99", metric: "overheadP99Us" },
    ],
    format: formatUs,
    isLatency: true,
  },
  {
    title: "Latency of the refusal",
    quantity: "duration-us",
    series: [
      { name: "p50", metric: "latencyP50Us" },
      { name: "p99", metric: "latencyP99Us" },
    ],
    format: formatUs,
    isLatency: true,
  },
  {
    title: "Overhead to the first token",
    quantity: "duration-us",
    series: [
      { name: "p50", metric: "ttftOverheadP50Us" },
      { name: "p99", metric: "ttftOverheadP99Us" },
    ],
    format: formatUs,
    isLatency: true,
  },
  {
    title: "CPU per request",
    quantity: "duration-us",
    series: [{ name: "CPU", metric: "cpuUsPerRequest" }],
    format: formatUs,
    isLatency: false,
  },
  {
    title: "Resident memory",
    quantity: "bytes",
    series: [
      { name: "idle", metric: "rssIdleBytes" },
      { name: "peak", metric: "rssPeakBytes" },
    ],
    format: formatBytes,
    isLatency: false,
  },
  {
    title: "Throughput",
    quantity: "rate",
    series: [{ name: "achieved", metric: "achievedRps" }],
    format: formatCount,
    isLatency: false,
  },
  {
    title: "Saturation",
    quantity: "rate",
    series: [{ name: "held", metric: "saturationRps" }],
    format: formatCount,
    isLatency: false,
  },
];

/** Renders the HTML report. */
export function renderHtml(comparison: Comparison): string {
  const { verdict, runs, targets, cells, overload, inside } = comparison;
  const body = [
    "<h1>Comparison of gateways</h1>",
    `<div class="verdict${verdict.isPublishable ? " good" : ""}"><strong>${verdict.isPublishable ? "Publishable" : "Not publishable"}</strong>${renderList(verdict.reasons)}</div>`,
    "<h2>Targets</h2>",
    renderTable(targetTable(targets)),
    renderNotes(targetNotes(targets)),
    "<h2>Cells</h2>",
    ...cells.map((each) => renderCell(each, targets, runs.length > 1)),
    "<h2>View: overload</h2>",
    renderView(overloadTable(overload, targets), "No target was offered a rate it could not hold.", overload.leavesOut),
    "<h2>View: inside</h2>",
    renderView(insideTable(inside, targets), "Not measured in this run.", inside.leavesOut),
    "<h2>How to read this</h2>",
    renderList(READING_NOTES),
    "<h2>Runs</h2>",
    ...runs.map((run) => `<h3>${escapeText(run.runId)}</h3>${renderNotes(runLines(run))}`),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Comparison of gateways</title>
<style>${HTML_STYLE}</style>
</head>
<body>
${body.join("\n")}
</body>
</html>
`;
}

function renderCell(compared: ComparedCell, targets: readonly ComparedTarget[], isSharded: boolean): string {
  const { cell, runId } = compared;
  const shard = isSharded ? `, run ${runId}` : "";
  const { header, rows, notes } = tabulateCell(compared, targets);
  return [
    `<h3>${escapeText(`${cell.id}: ${cell.title}`)}</h3>`,
    `<p class="soft">${escapeText(describeCell(cell))}${escapeText(shard)}</p>`,
    `<div class="charts">${renderCharts(compared, targets)}</div>`,
    renderTable({ header, rows: rows.map(({ cells }) => cells), doubtful: rows.map(({ isDoubtful }) => isDoubtful) }),
    renderNotes(notes),
  ].join("\n");
}

function renderCharts(compared: ComparedCell, targets: readonly ComparedTarget[]): string {
  const { cell, rows, curves } = compared;
  const shown = new Set(columnsOf(compared).map(({ metric }) => metric));
  const nameOf = (id: string): string => shortName(id, targets);
  const bars = CHARTS.filter(({ series }) => series.every(({ metric }) => shown.has(metric))).map((plan) => {
    const measured = rows.filter(
      ({ status, isSaturated }) => status === "measured" && !(plan.isLatency && isSaturated),
    );
    return renderBarChart({
      title: `${cell.id}: ${plan.title}`,
      quantity: plan.quantity,
      series: plan.series.map(({ name }) => name),
      groups: measured.map((row) => ({
        label: `${nameOf(row.target)}${row.isSaturated ? " †" : ""}${row.isRateAdapted ? " ‡" : ""}`,
        values: plan.series.map(({ metric }) => row.metrics[metric]?.median),
        isDoubtful: !row.isValid || row.isSaturated || row.isRateAdapted,
      })),
      format: plan.format,
    });
  });
  const named = curves.map((curve) => ({
    ...curve,
    name: curve.target === DIRECT_CURVE ? "direct to the mock" : nameOf(curve.target),
  }));
  return [...bars, renderCurveChart(`${cell.id}: latency by percentile, from the scheduled send time`, named)].join(
    "\n",
  );
}

/** The product's name alone where only one of its profiles takes part: chart labels are short. */
function shortName(id: string, targets: readonly ComparedTarget[]): string {
  const target = targets.find((each) => each.id === id);
  if (target === undefined) return id;
  return targets.filter(({ label }) => label === target.label).length === 1 ? target.label : target.name;
}

function renderView(table: PlainTable, empty: string, leavesOut: string): string {
  const content = table.rows.length === 0 ? `<p>${escapeText(empty)}</p>` : renderTable(table);
  return `${content}<p class="notes">What this view leaves out: ${escapeText(leavesOut)}</p>`;
}

function renderTable({ header, rows, doubtful }: PlainTable & { readonly doubtful?: readonly boolean[] }): string {
  const head = header.map((each) => `<th>${escapeText(each)}</th>`).join("");
  const body = rows.map(
    (cells, index) =>
      `<tr${doubtful?.[index] === true ? ' class="doubtful"' : ""}>${cells.map((each) => `<td>${escapeText(each)}</td>`).join("")}</tr>`,
  );
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

function renderList(items: readonly string[]): string {
  return items.length === 0 ? "" : `<ul>${items.map((item) => `<li>${escapeText(item)}</li>`).join("")}</ul>`;
}

function renderNotes(items: readonly string[]): string {
  return `<div class="notes">${renderList(items)}</div>`;
}

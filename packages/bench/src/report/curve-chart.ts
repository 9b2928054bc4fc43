// Percentile curves as inline SVG: latency over percentile, both axes logarithmic in what is left (each nine is as wide as the last).
import type { PercentileCurve } from "./comparison.ts";
import { DIRECT_CURVE } from "./percentile-curves.ts";
import { escapeText, formatTick, scaleFor } from "./svg-scale.ts";

/** A curve with the name of its legend. */
export interface NamedCurve extends PercentileCurve {
  readonly name: string;
}

const WIDTH = 1160;
const LEFT = 72;
const RIGHT = 20;
const TOP = 30;
const PLOT_HEIGHT = 260;
const PLOT_WIDTH = WIDTH - LEFT - RIGHT;
const BOTTOM = TOP + PLOT_HEIGHT;
const LEGEND_COLUMNS = 4;
const LEGEND_ROW = 18;
const PERCENTILE_TICKS = [0, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999];

/** Renders the curves; an empty string when there is none. */
export function renderCurveChart(title: string, curves: readonly NamedCurve[]): string {
  const drawn = curves.filter(({ points }) => points.length > 1);
  const latencies = drawn.flatMap(({ points }) => points.map(({ latencyUs }) => latencyUs));
  if (latencies.length === 0) return "";
  const scale = scaleFor("duration-us", latencies, true);
  const { unit } = scale;
  const furthest = Math.max(...drawn.flatMap(({ points }) => points.map(({ percentile }) => nines(percentile))));
  const x = (percentile: number): number => LEFT + (nines(percentile) / furthest) * PLOT_WIDTH;
  const y = (latencyUs: number): number => BOTTOM - scale.position(latencyUs) * PLOT_HEIGHT;
  const horizontal = scale.ticks.map(
    (tick) =>
      `<line class="grid" x1="${LEFT}" y1="${at(y(tick))}" x2="${LEFT + PLOT_WIDTH}" y2="${at(y(tick))}"/>` +
      `<text class="tick" x="${LEFT - 6}" y="${at(y(tick) + 4)}" text-anchor="end">${formatTick(tick, unit)}</text>`,
  );
  const vertical = PERCENTILE_TICKS.filter((percentile) => nines(percentile) <= furthest).map(
    (percentile) =>
      `<line class="grid" x1="${at(x(percentile))}" y1="${TOP}" x2="${at(x(percentile))}" y2="${BOTTOM}"/>` +
      `<text class="tick" x="${at(x(percentile))}" y="${BOTTOM + 16}" text-anchor="middle">${percentile}</text>`,
  );
  const lines = drawn.map(({ name, target, points }, index) => {
    const path = points.map(({ percentile, latencyUs }) => `${at(x(percentile))},${at(y(latencyUs))}`).join(" ");
    return `<polyline class="${classOf(target, index)}" points="${path}"><title>${escapeText(name)}</title></polyline>`;
  });
  const legendTop = BOTTOM + 58;
  const legend = drawn.map(({ name, target }, index) => {
    const left = LEFT + (index % LEGEND_COLUMNS) * (PLOT_WIDTH / LEGEND_COLUMNS);
    const top = legendTop + Math.floor(index / LEGEND_COLUMNS) * LEGEND_ROW;
    return `<line class="${classOf(target, index)}" x1="${at(left)}" y1="${top}" x2="${at(left + 26)}" y2="${top}"/><text class="tick" x="${at(left + 32)}" y="${top + 4}">${escapeText(name)}</text>`;
  });
  const height = legendTop + Math.ceil(drawn.length / LEGEND_COLUMNS) * LEGEND_ROW;
  const middle = TOP + PLOT_HEIGHT / 2;
  return (
    `<svg class="chart wide" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeText(title)}">` +
    `<text class="title" x="0" y="16">${escapeText(title)}</text>${horizontal.join("")}${vertical.join("")}${lines.join("")}` +
    `<text class="axis" x="${LEFT + PLOT_WIDTH / 2}" y="${BOTTOM + 34}" text-anchor="middle">percentile of requests, %</text>` +
    `<text class="axis" transform="translate(14 ${middle}) rotate(-90)" text-anchor="middle">latency, ${unit.name}, logarithmic</text>${legend.join("")}</svg>`
  );
}

/** How many nines: 0 for 0 %, 1 for 90 %, 2 for 99 %. */
function nines(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

function classOf(target: string, index: number): string {
  return target === DIRECT_CURVE ? "curve direct" : `curve line-${index % 10}`;
}

function at(position: number): string {
  return position.toFixed(1);
}

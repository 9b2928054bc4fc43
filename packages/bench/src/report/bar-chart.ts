// Horizontal bars as inline SVG: one group per target, one bar per series, the value written at its end, an axis with its unit.
import { escapeText, formatTick, scaleFor, type Quantity } from "./svg-scale.ts";

/** One group of bars. */
export interface BarGroup {
  readonly label: string;
  /** One value per series; `undefined` was not measured. */
  readonly values: readonly (number | undefined)[];
  /** Shown paler: void, or saturated. */
  readonly isDoubtful: boolean;
}

/** A chart. */
export interface BarChart {
  readonly title: string;
  readonly quantity: Quantity;
  readonly series: readonly string[];
  readonly groups: readonly BarGroup[];
  readonly format: (value: number) => string;
}

const WIDTH = 560;
const LABEL_WIDTH = 200;
const VALUE_WIDTH = 84;
const PLOT_WIDTH = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
const BAR_HEIGHT = 14;
const GROUP_GAP = 12;
const TOP = 52;
const AXIS_HEIGHT = 40;
/** Longer labels are cut; the whole name is in the tooltip and the tables. */
const LABEL_CHARACTERS = 30;

/** Renders a chart; an empty string when nothing was measured. */
export function renderBarChart({ title, quantity, series, groups, format }: BarChart): string {
  const measured = groups.filter(({ values }) => values.some((value) => value !== undefined));
  const values = measured.flatMap((group) => group.values.filter((value) => value !== undefined));
  if (values.length === 0) return "";
  const scale = scaleFor(quantity, values);
  const { unit } = scale;
  const groupHeight = series.length * (BAR_HEIGHT + 2) + GROUP_GAP;
  const bottom = TOP + measured.length * groupHeight;
  const x = (value: number): number => LABEL_WIDTH + scale.position(value) * PLOT_WIDTH;
  const ticks = scale.ticks.map(
    (tick) =>
      `<line class="grid" x1="${at(x(tick))}" y1="${TOP - 6}" x2="${at(x(tick))}" y2="${bottom}"/>` +
      `<text class="tick" x="${at(x(tick))}" y="${bottom + 14}" text-anchor="middle">${formatTick(tick, unit)}</text>`,
  );
  const bars = measured.map(({ label, values: own, isDoubtful }, index) => {
    const y = TOP + index * groupHeight;
    const middle = y + (series.length * (BAR_HEIGHT + 2)) / 2 + 2;
    const drawn = own.map((value, order) => {
      const top = y + order * (BAR_HEIGHT + 2);
      if (value === undefined) return `<text class="value" x="${LABEL_WIDTH + 4}" y="${top + 11}">not measured</text>`;
      const width = Math.max(1, x(value) - LABEL_WIDTH);
      return (
        `<rect class="series-${order}${isDoubtful ? " doubtful" : ""}" x="${LABEL_WIDTH}" y="${top}" width="${at(width)}" height="${BAR_HEIGHT}" rx="2"/>` +
        `<text class="value" x="${at(LABEL_WIDTH + width + 4)}" y="${top + 11}">${escapeText(format(value))}</text>`
      );
    });
    const short = label.length > LABEL_CHARACTERS ? `${label.slice(0, LABEL_CHARACTERS - 1)}…` : label;
    return `<g><title>${escapeText(label)}</title><text class="label" x="${LABEL_WIDTH - 8}" y="${at(middle)}" text-anchor="end">${escapeText(short)}</text>${drawn.join("")}</g>`;
  });
  const legend = series.length < 2 ? "" : renderLegend(series);
  const axis = `${unit.name}${scale.isLogarithmic ? ", logarithmic" : ""}`;
  return (
    `<svg class="chart" viewBox="0 0 ${WIDTH} ${bottom + AXIS_HEIGHT}" role="img" aria-label="${escapeText(`${title}, ${axis}`)}">` +
    `<text class="title" x="0" y="16">${escapeText(title)}</text>${legend}${ticks.join("")}${bars.join("")}` +
    `<text class="axis" x="${LABEL_WIDTH + PLOT_WIDTH / 2}" y="${bottom + 32}" text-anchor="middle">${escapeText(axis)}</text></svg>`
  );
}

function renderLegend(series: readonly string[]): string {
  return series
    .map((name, index) => {
      const x = LABEL_WIDTH + index * 110;
      return `<rect class="series-${index}" x="${x}" y="26" width="10" height="10" rx="2"/><text class="tick" x="${x + 15}" y="35">${escapeText(name)}</text>`;
    })
    .join("");
}

function at(position: number): string {
  return position.toFixed(1);
}

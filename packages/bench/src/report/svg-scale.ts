// Scales of the charts: values to positions, with round ticks and one unit for the whole axis.
import { formatCount } from "./format-figures.ts";

/** What an axis measures. */
export type Quantity = "duration-us" | "bytes" | "rate";

/** A unit that fits all values of an axis. */
export interface AxisUnit {
  readonly name: string;
  readonly divisor: number;
}

/** An axis. */
export interface Scale {
  readonly unit: AxisUnit;
  readonly isLogarithmic: boolean;
  /** 0 to 1 along the axis; values outside are held at its ends. */
  readonly position: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Beyond this ratio between the largest and smallest value a linear axis hides the small ones. */
const LOGARITHMIC_RATIO = 40;
const TICKS = 5;
/** Below a thousandth of its unit nothing was measured that a bar could show. */
const SMALLEST = 0.001;

/** The unit for values around `typical`. */
function unitFor(quantity: Quantity, typical: number): AxisUnit {
  if (quantity === "bytes") return { name: "MiB", divisor: 2 ** 20 };
  if (quantity === "rate") return { name: "requests/s", divisor: 1 };
  if (typical < 1000) return { name: "µs", divisor: 1 };
  return typical < 1_000_000 ? { name: "ms", divisor: 1000 } : { name: "s", divisor: 1_000_000 };
}

/** A scale over positive values, logarithmic where they lie far apart, with ticks that are round in the unit. */
export function scaleFor(quantity: Quantity, values: readonly number[], isLogarithmic?: boolean): Scale {
  const positive = values.filter((value) => value >= SMALLEST);
  const [smallest, largest] = positive.length === 0 ? [1, 1] : [Math.min(...positive), Math.max(...positive)];
  if (isLogarithmic ?? largest / smallest > LOGARITHMIC_RATIO) {
    // The middle of a logarithmic axis, so that neither end needs many zeros.
    const unit = unitFor(quantity, Math.sqrt(smallest * largest));
    return inUnit(unit, logarithmic(smallest / unit.divisor, largest / unit.divisor));
  }
  const unit = unitFor(quantity, largest);
  return inUnit(unit, linear(largest / unit.divisor));
}

function inUnit(unit: AxisUnit, { isLogarithmic, position, ticks }: Omit<Scale, "unit">): Scale {
  return {
    unit,
    isLogarithmic,
    position: (value) => position(value / unit.divisor),
    ticks: ticks.map((tick) => tick * unit.divisor),
  };
}

function linear(largest: number): Omit<Scale, "unit"> {
  const step = niceStep(largest / TICKS);
  const top = Math.ceil(largest / step) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  return { isLogarithmic: false, position: (value) => clamp(value / top), ticks };
}

function logarithmic(smallest: number, largest: number): Omit<Scale, "unit"> {
  const bottom = Math.floor(Math.log10(smallest));
  const top = Math.max(bottom + 1, Math.ceil(Math.log10(largest)));
  const ticks = Array.from({ length: top - bottom + 1 }, (_, index) => 10 ** (bottom + index));
  return {
    isLogarithmic: true,
    position: (value) => (value <= 0 ? 0 : clamp((Math.log10(value) - bottom) / (top - bottom))),
    ticks,
  };
}

/** 1, 2 or 5 times a power of ten, at least `raw`. */
function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) ?? 10) * power;
}

function clamp(position: number): number {
  return Math.min(1, Math.max(0, position));
}

/** A tick's label in the axis' unit, without digits that all ticks share as zero. */
export function formatTick(value: number, { divisor }: AxisUnit): string {
  const scaled = value / divisor;
  if (scaled === 0) return "0";
  return scaled >= 1 ? formatCount(scaled).replace(/\.0+$/, "") : String(Number(scaled.toPrecision(2)));
}

/** Text for use inside of SVG and HTML. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/**
 * Amounts of money: whole nano-USD (10^-9 USD) in a double. Invariants: an amount is an integer from 0 to `MAX_NANO_USD`, where
 * doubles are exact; sums stop at that bound instead of losing digits, and a limit beyond it is refused when it is read.
 */

/** An amount in nano-USD: a whole number from 0 to `MAX_NANO_USD`. */
export type NanoUsd = number;

/** Nano-USD in one USD. */
export const NANO_PER_USD = 1_000_000_000;

/** Largest amount: 9,007,199.254740991 USD, the last whole number that a double holds exactly. Totals beyond it are `bigint`. */
export const MAX_NANO_USD: NanoUsd = Number.MAX_SAFE_INTEGER;

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Reads a decimal number as a whole count of its 10^-digits parts, without binary rounding: `scaleDecimal(0.1, 9)` is
 * 100,000,000. Null when it is negative, no number, finer than `digits` decimals, or beyond 2^53 − 1 parts.
 */
export function scaleDecimal(value: number | string, digits: number): number | null {
  const match = DECIMAL.exec(typeof value === "number" ? String(value) : value.trim());
  if (match === null) return null;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const shift = digits - fraction.length + Number(exponent);
  const significant = `${whole}${fraction}`.replace(/^0+/, "");
  if (significant === "") return 0;
  if (significant.length + shift > 16) return null;
  const scaled = shift >= 0 ? significant + "0".repeat(shift) : cutZeros(significant, -shift);
  if (scaled === null) return null;
  const amount = Number(scaled);
  return amount <= Number.MAX_SAFE_INTEGER ? amount : null;
}

/** Drops `count` zeros from the end; null when a digit other than zero would go. */
function cutZeros(digits: string, count: number): string | null {
  const kept = digits.length - count;
  if (kept <= 0 || !/^0*$/.test(digits.slice(kept))) return null;
  return digits.slice(0, kept);
}

/** Converts USD to nano-USD exactly; null when the amount is negative, finer than a nano-USD or beyond the bound. */
export function nanoUsdOf(usd: number | string): NanoUsd | null {
  return scaleDecimal(usd, 9);
}

/** Adds two amounts; a sum beyond the bound stops there. */
export function addNanoUsd(one: NanoUsd, other: NanoUsd): NanoUsd {
  const sum = one + other;
  return sum < MAX_NANO_USD ? sum : MAX_NANO_USD;
}

/** Writes an amount as USD with exactly the decimals it has, e.g. `0.054399`; what adjusts another may be negative. */
export function formatUsd(amount: NanoUsd | bigint): string {
  if (amount < 0) return `-${formatUsd(-amount)}`;
  const digits = amount.toString().padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${fraction}`;
}

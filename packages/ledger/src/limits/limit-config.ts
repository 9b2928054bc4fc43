/**
 * The compiled form of the one shape of a limit. A limit counts one thing per window (`{ usd: 20, per: "day" }`) or calls that
 * run at once (`{ parallel: 8 }`). Compiled limits are whole numbers within the exact integers of a double.
 */
import { pointer, type ConfigProblem, type LimitConfig } from "@dragoman/core";

import { formatUsd, nanoUsdOf } from "../money/index.ts";
import type { CalendarUnit } from "./calendar.ts";

/** What a limit counts. */
export type Dimension = "requests" | "inputTokens" | "outputTokens" | "tokens" | "nanoUsd";

/** The window of a limit. */
export type WindowSpec =
  | { readonly kind: "calendar"; readonly unit: CalendarUnit }
  | { readonly kind: "sliding"; readonly lengthMs: number };

/** A compiled limit per window. */
export interface Limit {
  readonly dimension: Dimension;
  readonly amount: number;
  readonly per: string;
  readonly window: WindowSpec;
  /** Ascending. */
  readonly alertAt: readonly number[];
}

/** All limits of one scope. Accounts know a changed set by its identity. */
export interface LimitSet {
  readonly limits: readonly Limit[];
  /** The lowest, or null = as many as come. */
  readonly parallel: number | null;
}

/** A compiled set, or what is wrong and where: paths are JSON Pointers from the list. */
export type LimitReading =
  | { readonly ok: true; readonly limits: LimitSet }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** A scope without limits. */
export const NO_LIMITS: LimitSet = { limits: [], parallel: null };

const COUNTED = ["requests", "inputTokens", "outputTokens", "tokens", "usd", "parallel"] as const;
const CALENDAR_UNITS: readonly string[] = ["minute", "hour", "day", "week", "month"] satisfies CalendarUnit[];
const MS_OF_UNIT: ReadonlyMap<string, number> = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** Longest sliding window. */
const MAX_SLIDING_MS = 3_600_000;

/** Most limits of one scope; each is looked at for every call. */
export const MAX_LIMITS = 32;

type Report = (path: string, expected: string) => void;

/** Compiles the limits of one scope. */
export function compileLimits(configs: readonly LimitConfig[]): LimitReading {
  const problems: ConfigProblem[] = [];
  const limits: Limit[] = [];
  let parallel: number | null = null;
  if (configs.length > MAX_LIMITS) problems.push({ path: "", message: `must hold at most ${MAX_LIMITS} limits` });
  const known = new Set<string>();
  for (const [index, config] of configs.entries()) {
    const report: Report = (path, expected) =>
      void problems.push({ path: pointer("", index) + path, message: `must ${expected}` });
    const [name, ...others] = COUNTED.filter((each) => config[each] !== undefined);
    if (name === undefined || others.length > 0) report("", `have exactly one of ${COUNTED.join(", ")}`);
    else if (name === "parallel") parallel = lower(parallel, readParallel(config, report));
    else {
      const limit = readLimit(config, name, report);
      const thing = `${name} per ${limit.per}`;
      if (known.has(thing)) report("", `be the only limit of ${thing}`);
      known.add(thing);
      limits.push(limit);
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, limits: { limits, parallel } };
}

const lower = (one: number | null, other: number): number => (one === null ? other : Math.min(one, other));

function readParallel({ parallel = 0, per, alertAt }: LimitConfig, report: Report): number {
  if (!Number.isSafeInteger(parallel) || parallel < 1) report("/parallel", "be a whole number above 0");
  if (per !== undefined || alertAt !== undefined) report("", "have neither per nor alertAt beside parallel");
  return parallel;
}

function readLimit(config: LimitConfig, name: Exclude<(typeof COUNTED)[number], "parallel">, report: Report): Limit {
  const value = config[name] ?? 0;
  const amount = name === "usd" ? nanoUsdOf(value) : value;
  if (amount === null) report("/usd", "be USD from 0 to 9007199 with at most nine decimals");
  else if (!Number.isSafeInteger(amount) || amount < 0) report(pointer("", name), "be a whole number, 0 or more");
  const alertAt = (config.alertAt ?? []).toSorted((one, other) => one - other);
  if (alertAt.some((share) => !(share > 0 && share <= 1))) report("/alertAt", "hold shares above 0 and at most 1");
  const window = readWindow(config.per ?? "");
  if (window === null) report("/per", `be ${CALENDAR_UNITS.join(", ")}, or a duration such as 10m up to an hour`);
  return {
    dimension: name === "usd" ? "nanoUsd" : name,
    amount: amount ?? 0,
    per: config.per ?? "",
    window: window ?? { kind: "calendar", unit: "day" },
    alertAt,
  };
}

function readWindow(per: string): WindowSpec | null {
  if (CALENDAR_UNITS.includes(per)) return { kind: "calendar", unit: per as CalendarUnit };
  const match = /^([1-9]\d{0,6})([smh])$/.exec(per);
  const lengthMs =
    match === null ? Number.POSITIVE_INFINITY : Number(match[1]) * (MS_OF_UNIT.get(match[2] ?? "") as number);
  return lengthMs <= MAX_SLIDING_MS ? { kind: "sliding", lengthMs } : null;
}

const UNIT_NAMES: Readonly<Record<Dimension, string>> = {
  requests: "requests",
  inputTokens: "input tokens",
  outputTokens: "output tokens",
  tokens: "tokens",
  nanoUsd: "USD",
};

/** A limit in words: `20 USD per day`. */
export function describeLimit({ dimension, amount, per }: Limit): string {
  return `${dimension === "nanoUsd" ? formatUsd(amount) : amount} ${UNIT_NAMES[dimension]} per ${per}`;
}

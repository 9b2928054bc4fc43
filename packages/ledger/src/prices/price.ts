/** Compiles price rows to whole-number rates, and says what is wrong with a row that cannot be. */
import { pointer, type ConfigProblem, type PriceRates, type PriceRow } from "@dragoman/core";

import { nanoUsdOf, rateOf, type NanoUsd, type Rate } from "../money/index.ts";

/** Rates of one length of prompt, in pico-USD per token. */
export interface RateCard {
  /** Holds for calls with more input than this. */
  readonly aboveInputTokens: number;
  readonly input: Rate;
  readonly cacheRead: Rate;
  /** By time to live in seconds, shortest first; never empty. */
  readonly cacheWrites: readonly { readonly seconds: number; readonly rate: Rate }[];
  readonly inputAudio: Rate;
  readonly inputImage: Rate;
  readonly output: Rate;
  readonly reasoning: Rate;
  readonly outputAudio: Rate;
}

/** A compiled row. */
export interface Price {
  /** Names the row in ledger entries: `<table>:<model>@<day from which it holds, else day it was read>`, or without a day. */
  readonly id: string;
  /** A model id, or a beginning followed by `*`. */
  readonly model: string;
  /** Milliseconds since 1970 from which it holds; 0 = always. */
  readonly fromMs: number;
  /** Null where the row does not say. */
  readonly source: string | null;
  readonly day: string | null;
  /** Shortest prompts first; the first card is for calls of any length. */
  readonly cards: readonly RateCard[];
  readonly perRequestNanoUsd: NanoUsd;
  readonly serverTools: ReadonlyMap<string, NanoUsd>;
}

/** A compiled price, or what is wrong with the row and where: paths are JSON Pointers from the row. */
export type PriceReading =
  | { readonly ok: true; readonly price: Price }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

const OPTIONAL_RATES = ["cacheRead", "cacheWrite", "inputAudio", "inputImage", "reasoning", "outputAudio"] as const;

/** Compiles one row of the table called `table`. */
export function compilePrice(row: PriceRow, table: string): PriceReading {
  const reader = new RowReader();
  const fromMs = row.from === undefined ? 0 : reader.day(row.from, "/from");
  if (row.day !== undefined) reader.day(row.day, "/day");
  if (!/^[^*\s]+\*?$|^\*$/.test(row.model)) reader.report("/model", "be a model id, or a beginning followed by *");
  if (row.source === "") reader.report("/source", "be the page that states the price");
  const cards = [reader.card(row, "", 0)];
  for (const [index, tier] of (row.tiers ?? []).entries()) {
    const path = pointer("/tiers", index);
    const last = cards.at(-1)?.aboveInputTokens ?? 0;
    if (!Number.isSafeInteger(tier.aboveInputTokens) || tier.aboveInputTokens <= last)
      reader.report(`${path}/aboveInputTokens`, `be a whole number above ${last}`);
    for (const name of OPTIONAL_RATES)
      if (row[name] !== undefined && tier[name] === undefined)
        reader.report(path, `have the member "${name}", since the row has it`);
    cards.push(reader.card(tier, path, tier.aboveInputTokens));
  }
  const serverTools = new Map<string, NanoUsd>();
  for (const [name, usd] of Object.entries(row.serverTools ?? {}))
    serverTools.set(name, reader.amount(usd, pointer("/serverTools", name)));
  const perRequestNanoUsd = reader.amount(row.perRequest ?? 0, "/perRequest");
  if (reader.problems.length > 0) return { ok: false, problems: reader.problems };
  const date = row.from ?? row.day;
  return {
    ok: true,
    price: {
      id: `${table}:${row.model}${date === undefined ? "" : `@${date}`}`,
      model: row.model,
      fromMs,
      source: row.source ?? null,
      day: row.day ?? null,
      cards,
      perRequestNanoUsd,
      serverTools,
    },
  };
}

/** Compiles the rows of one table. Rows with problems are left out; paths of problems are JSON Pointers from the list. */
export function compilePrices(
  rows: readonly PriceRow[],
  table: string,
): { readonly prices: readonly Price[]; readonly problems: readonly ConfigProblem[] } {
  const prices: Price[] = [];
  const problems: ConfigProblem[] = [];
  const known = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const path = pointer("", index);
    const reading = compilePrice(row, table);
    if (!reading.ok) {
      problems.push(...reading.problems.map((problem) => ({ ...problem, path: path + problem.path })));
      continue;
    }
    const { id, model, fromMs } = reading.price;
    // Ids name rows in entries, so they are apart even where two rows hold from different days.
    const names = [id, `${model} from ${fromMs}`];
    if (names.some((name) => known.has(name)))
      problems.push({ path, message: `is the second price of ${model} that holds from the same day` });
    for (const name of names) known.add(name);
    prices.push(reading.price);
  }
  return { prices, problems };
}

class RowReader {
  readonly problems: ConfigProblem[] = [];

  report(path: string, expected: string): void {
    this.problems.push({ path, message: `must ${expected}` });
  }

  day(text: string, path: string): number {
    const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return ms;
    this.report(path, "be a day that exists, as YYYY-MM-DD");
    return 0;
  }

  rate(usd: number, path: string): Rate {
    const rate = rateOf(usd);
    if (rate !== null) return rate;
    this.report(path, "be USD per million tokens from 0 to 9000 with at most six decimals");
    return 0;
  }

  amount(usd: number, path: string): NanoUsd {
    const amount = nanoUsdOf(usd);
    if (amount !== null) return amount;
    this.report(path, "be USD with at most nine decimals");
    return 0;
  }

  card(rates: PriceRates, path: string, aboveInputTokens: number): RateCard {
    const input = this.rate(rates.input, `${path}/input`);
    const output = this.rate(rates.output, `${path}/output`);
    const other = (
      name: "cacheRead" | "inputAudio" | "inputImage" | "reasoning" | "outputAudio",
      fallback: Rate,
    ): Rate => {
      const usd = rates[name];
      return usd === undefined ? fallback : this.rate(usd, `${path}/${name}`);
    };
    return {
      aboveInputTokens,
      input,
      cacheRead: other("cacheRead", input),
      cacheWrites: this.cacheWrites(rates.cacheWrite, `${path}/cacheWrite`, input),
      inputAudio: other("inputAudio", input),
      inputImage: other("inputImage", input),
      output,
      reasoning: other("reasoning", output),
      outputAudio: other("outputAudio", output),
    };
  }

  cacheWrites(writes: PriceRates["cacheWrite"], path: string, input: Rate): RateCard["cacheWrites"] {
    if (writes === undefined) return [{ seconds: 0, rate: input }];
    if (typeof writes === "number") return [{ seconds: 0, rate: this.rate(writes, path) }];
    const byTtl = Object.entries(writes).map(([ttl, usd]) => ({
      seconds: Number(ttl),
      rate: this.rate(usd, pointer(path, ttl)),
    }));
    if (byTtl.length === 0 || byTtl.some(({ seconds }) => !Number.isSafeInteger(seconds) || seconds <= 0))
      this.report(path, "hold rates by time to live in whole seconds");
    return byTtl.toSorted((one, other) => one.seconds - other.seconds);
  }
}
